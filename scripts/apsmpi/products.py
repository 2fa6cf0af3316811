# SPDX-License-Identifier: BSD-3-Clause
"""Matrix products in a format."""

from __future__ import annotations

from ctypes import byref, pointer
from typing import Any, Optional, Union

from . import gpu
from .arrays import Array, floats, result_for
from .formats import Format, format_of
from .gpu import GpuArray
from .library import LIB, ROUNDINGS, ApsError, CastOptions, GemmArguments


def gemm(a: Array, b: Array, format: Union[str, Format] = "fp32",
         accumulate: Union[None, str, Format] = None, kahan: bool = False, *,
         chunk: int = 0, format_b: Union[None, str, Format] = None,
         transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1,
         beta: float = 0, rounding: str = "nearest", seed: int = 0, step: int = 0,
         rank: int = 0, out: Optional[Array] = None) -> Any:
    """The product of two matrices. Inputs and products are rounded to `format`, partial
    sums to `accumulate`, which is fp32 for a format in blocks and else `format`.

    >>> import numpy as np
    >>> gemm(np.float32([[1, 2]]), np.float32([[3], [4.1]]), "e4m3", "e5m10")
    array([[11.]], dtype=float32)

    kahan: sums have Kahan's compensation. chunk: terms of a chunk of the sum. format_b:
    the format of b, with blocks as long as those of `format`. beta: `out` becomes
    alpha * product + beta * out.

    rounding: of a and b, nearest or stochastic. The random bits depend on seed, step and
    rank: pass another step in each call.

    No gradient passes through the result. Tensors on a GPU are multiplied there, on the
    current stream, but neither in formats in blocks nor with stochastic rounding.
    """
    kind = format_of(format)
    sums = format_of(accumulate or ("fp32" if kind.block > 1 else kind))
    second = format_of(format_b) if format_b else None
    x, y = floats(a, "a", gpu=True), floats(b, "b", gpu=True)
    on_gpu = isinstance(x, GpuArray)
    if on_gpu != isinstance(y, GpuArray) or on_gpu and a.device != b.device:
        raise TypeError("a and b are on different devices; move one to the other's")
    for name, array in (("a", x), ("b", y)):
        if array.ndim != 2:
            raise ValueError("%s has %d dimensions; pass a matrix" % (name, array.ndim))
    m, k = x.shape[::-1] if transpose_a else x.shape
    inner, n = y.shape[::-1] if transpose_b else y.shape
    if k != inner:
        raise ValueError("a has %d columns and b has %d rows; both must be equal"
                         % (k, inner))
    if beta != 0 and out is None:
        raise ValueError("beta is %g, but there is no out; pass out" % beta)
    to, result = result_for(a, out, (m, n), [x, y])
    arguments = GemmArguments(
        format=kind.pointer, accumulator=sums.pointer, kahan=kahan,
        transpose_a=transpose_a, transpose_b=transpose_b, m=m, n=n, k=k, alpha=alpha,
        a=x.ctypes.data, lda=x.shape[1], b=y.ctypes.data, ldb=y.shape[1], beta=beta,
        c=to.ctypes.data, ldc=n, chunk=chunk,
        format_b=second.pointer if second else None)
    if rounding not in ("nearest", "stochastic"):
        raise ApsError("rounding %r is not one of nearest, stochastic" % rounding)
    if rounding != "nearest":
        cast = CastOptions(seed=seed, step=step, rank=rank,
                           rounding=ROUNDINGS[rounding])
        arguments.cast = pointer(cast)
    if on_gpu:
        gpu.call("aps_cuda_gemm", x, byref(arguments))
    else:
        LIB.aps_gemm(byref(arguments))
    return result
