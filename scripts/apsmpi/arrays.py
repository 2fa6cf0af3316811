# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of floats from NumPy, PyTorch, DLPack and the buffer protocol, without a
copy."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .gpu import GpuArray

Array = Any  # numpy.ndarray, torch.Tensor, or an object that shares its memory


def is_tensor(x: Any) -> bool:
    """True if x is a tensor of PyTorch, which need not be installed."""
    return hasattr(x, "data_ptr") and any(
        kind.__module__.split(".")[0] == "torch" for kind in type(x).__mro__)


def _array_of(x: Any, name: str, gpu: bool) -> Any:
    if isinstance(x, np.ndarray):
        return x
    if is_tensor(x):
        if gpu and x.device.type == "cuda" and str(x.dtype) == "torch.float32":
            return GpuArray(x)
        if str(x.dtype) == "torch.bfloat16":
            raise TypeError("%s has the type torch.bfloat16; pass %s.float()"
                            % (name, name))
        if x.device.type != "cpu":
            raise TypeError("%s is on the device '%s'; pass %s.cpu(): %s" % (
                name, x.device, name, "libaps-cuda takes float32 on GPUs of CUDA"
                if gpu else "this function reads host memory"))
        return x.detach().numpy()
    if hasattr(x, "__dlpack__"):
        return np.from_dlpack(x)
    try:
        return np.asarray(memoryview(x))
    except TypeError:
        raise TypeError("%s is %s; pass an array of numpy.float32, a tensor of "
                        "torch.float32, or an object with a buffer or DLPack"
                        % (name, type(x).__name__)) from None


def floats(x: Any, name: str = "x", writable: bool = False, gpu: bool = False,
           strided: bool = False, types: tuple[Any, ...] = (np.float32,)) -> Any:
    """The numpy.float32 array that shares the memory of x; with `gpu`, for a tensor on
    a GPU a GpuArray. strided: it need not be contiguous. types: those it may have."""
    array = _array_of(x, name, gpu)
    if not isinstance(array, GpuArray) and array.dtype not in types:
        raise TypeError("%s has the type %s, and must have float32; convert it by "
                        "%s.astype(numpy.float32) or %s.float()"
                        % (name, array.dtype, name, name))
    if array.size == 0:
        raise ValueError("%s is empty; pass at least one value" % name)
    if not array.flags.c_contiguous and not strided:
        raise ValueError("%s is not contiguous; pass %s" % (
            name, "a contiguous array" if writable else
            "numpy.ascontiguousarray(%s) or %s.contiguous()" % (name, name)))
    if not array.flags.aligned:
        raise ValueError("%s is not aligned to 4 bytes; pass a copy of it" % name)
    if writable and not array.flags.writeable:
        raise ValueError("%s is read-only; pass a copy of it as the output" % name)
    if writable and getattr(x, "requires_grad", False):
        raise ValueError("%s requires gradients, which do not follow a write; pass "
                         "%s.detach()" % (name, name))
    return array


def overlap(one: Any, other: Any) -> bool:
    """True if two contiguous arrays share bytes."""
    begin, end = one.ctypes.data, one.ctypes.data + 4 * one.size
    return bool(other.ctypes.data < end and begin < other.ctypes.data + 4 * other.size)


def result_for(x: Any, out: Any, shape: tuple[int, ...], inputs: Sequence[Any],
               in_place: bool = False) -> tuple[Any, Any]:
    """(array to write, what the caller gets): `out`, or a new array of x's kind. `out`
    shares no memory with the inputs; with `in_place` it may be one of them."""
    on_gpu = is_tensor(x) and x.device.type == "cuda"
    if out is not None:
        array = floats(out, "out", writable=True, gpu=on_gpu)
        if isinstance(array, GpuArray) != on_gpu or (
                on_gpu and out.device != x.device):
            raise TypeError("out is not on the device of the input, '%s'"
                            % getattr(x, "device", "cpu"))
        if array.shape != shape:
            raise ValueError("out has the shape %s, and must have %s"
                             % (array.shape, shape))
        for one in inputs:
            same = in_place and one.ctypes.data == array.ctypes.data
            if overlap(one, array) and not same:
                raise ValueError("out shares memory with an input; pass another array")
        return array, out
    if on_gpu:
        new = x.new_empty(shape)
        return GpuArray(new), new
    array = np.empty(shape, np.float32)
    if is_tensor(x):
        import torch
        return array, torch.from_numpy(array)
    return array, array
