# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of PyTorch on a GPU, by libaps-cuda."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import c_int, c_size_t, c_void_p
from types import SimpleNamespace
from typing import Any

import numpy as np

from .library import LIB, ApsError, CastOptions, ErrorStruct, GemmArguments, raising

FUNCTIONS = {"aps_cuda_cast_array": [c_void_p, c_void_p, c_size_t,
                                     ctypes.POINTER(CastOptions), c_void_p, c_void_p],
             "aps_cuda_gemm": [ctypes.POINTER(GemmArguments), c_void_p]}


class GpuArray:
    """A tensor on a GPU, with the attributes of a NumPy array that calls need."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.shape = tensor, tuple(tensor.shape)
        self.ndim, self.size = len(self.shape), tensor.numel()
        self.ctypes = SimpleNamespace(data=tensor.data_ptr())
        self.flags = SimpleNamespace(c_contiguous=tensor.is_contiguous(), aligned=True,
                                     writeable=True)

    def greatest(self) -> Any:
        """The greatest finite magnitude, as an array of NumPy with one value."""
        found = self.tensor.detach().abs().nan_to_num(nan=0, posinf=0)
        return np.array([found.max().item()], np.float32)


@functools.lru_cache(maxsize=None)
def library() -> dict[str, Any]:
    """The functions of libaps-cuda, which lies beside libaps, by name."""
    place = os.environ.get("LIBAPS_CUDA") or os.path.join(
        os.path.dirname(LIB.loaded._name), "libaps-cuda.so.0")
    try:
        loaded = ctypes.CDLL(place, use_errno=True)
    except OSError as error:
        raise ApsError("a tensor is on a GPU, and libaps-cuda cannot be loaded (%s); "
                       "pass x.cpu(), or install apsmpi with CUDA and set LIBAPS_CUDA "
                       "to its libaps-cuda.so" % error) from None
    functions = {}
    for name, arguments in FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = c_int
        function.argtypes = [*arguments, ctypes.POINTER(ErrorStruct)]
        functions[name] = raising(function)
    return functions


def call(name: str, array: GpuArray, *arguments: Any) -> None:
    """Starts a function of libaps-cuda on PyTorch's stream of the array's GPU."""
    import torch
    with torch.cuda.device(array.tensor.device):
        library()[name](*arguments, torch.cuda.current_stream().cuda_stream)
