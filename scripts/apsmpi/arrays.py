# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of floats from NumPy, PyTorch, DLPack and the buffer protocol, without a
copy."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # numpy.ndarray, torch.Tensor, or an object that shares its memory


def is_tensor(x: Any) -> bool:
    """True if x is a tensor of PyTorch, which need not be installed."""
    return type(x).__module__.split(".")[0] == "torch" and hasattr(x, "data_ptr")


def _numpy_of(x: Any, name: str) -> Any:
    if isinstance(x, np.ndarray):
        return x
    if is_tensor(x):
        if x.device.type != "cpu":
            raise TypeError("%s is on the device '%s'; pass %s.cpu(): this package "
                            "reads host memory" % (name, x.device, name))
        if str(x.dtype) == "torch.bfloat16":
            raise TypeError("%s has the type torch.bfloat16; pass %s.float()"
                            % (name, name))
        return x.detach().numpy()
    if hasattr(x, "__dlpack__"):
        return np.from_dlpack(x)
    try:
        return np.asarray(memoryview(x))
    except TypeError:
        raise TypeError("%s is %s; pass an array of numpy.float32, a tensor of "
                        "torch.float32, or an object with a buffer or DLPack"
                        % (name, type(x).__name__)) from None


def floats(x: Any, name: str = "x", writable: bool = False) -> Any:
    """The numpy.float32 array that shares the memory of x."""
    array = _numpy_of(x, name)
    if array.dtype != np.float32:
        raise TypeError("%s has the type %s, and must have float32; convert it by "
                        "%s.astype(numpy.float32) or %s.float()"
                        % (name, array.dtype, name, name))
    if array.size == 0:
        raise ValueError("%s is empty; pass at least one value" % name)
    if not array.flags.c_contiguous:
        raise ValueError("%s is not contiguous; pass numpy.ascontiguousarray(%s) or "
                         "%s.contiguous()" % (name, name, name))
    if writable and not array.flags.writeable:
        raise ValueError("%s is read-only; pass a copy of it as the output" % name)
    return array


def result_for(x: Any, out: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """(array to write, what the caller gets): `out`, or a new array of x's kind."""
    if out is not None:
        array = floats(out, "out", writable=True)
        if array.shape != shape:
            raise ValueError("out has the shape %s, and must have %s"
                             % (array.shape, shape))
        return array, out
    array = np.empty(shape, np.float32)
    if is_tensor(x):
        import torch
        return array, torch.from_numpy(array)
    return array, array
