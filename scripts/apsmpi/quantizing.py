# SPDX-License-Identifier: BSD-3-Clause
"""Rounds arrays to a format."""

from __future__ import annotations

from ctypes import byref, c_int
from typing import Any, Optional, Union

from . import gpu
from .arrays import Array, floats, result_for
from .formats import Format, format_of
from .gpu import GpuArray
from .library import LIB, ROUNDINGS, ApsError, CastOptions, whole

Scale = Union[None, int, str]


def exponent_of(format: Format, scale: Scale, x: Any, ranks: int) -> int:
    """The scale exponent of an array: a number, or that of `aps` or `aps-tight`."""
    exponent = c_int()
    if isinstance(scale, str) and scale not in ("none", "aps", "aps-tight"):
        raise ApsError("scale %r is not a scale of one array; pass 'none', 'aps', "
                       "'aps-tight', an exponent, or use a Scaler" % scale)
    if scale is not None and not isinstance(scale, str):
        number = whole("scale", scale, -2 ** 31)
        if number != 0 and format.block > 1:
            raise ApsError("scale is %d, and format %s scales its blocks itself; pass "
                           "None" % (number, format.name))
        return number
    if scale is None or scale == "none" or format.block > 1:
        return 0
    if isinstance(x, GpuArray):
        x = x.greatest()            # aps and aps-tight depend on nothing else
    if scale == "aps":
        LIB.aps_max_exponent(x.ctypes.data, x.size, max(whole("ranks", ranks), 1),
                             byref(exponent))
        return int(LIB.aps_scale_exponent(format.pointer, exponent))
    LIB.aps_scale_exponent_tight(format.pointer, x.ctypes.data, x.size, byref(exponent))
    return exponent.value


def rounding_of(name: str) -> int:
    """The number of a rounding in libaps."""
    if name not in ROUNDINGS:
        raise ApsError("rounding %r is not one of %s" % (name, ", ".join(ROUNDINGS)))
    return ROUNDINGS[name]


def quantize(x: Array, format: Union[str, Format], scale: Scale = None,
             rounding: str = "nearest", *, out: Optional[Array] = None, seed: int = 0,
             layer: int = 0, step: int = 0, stage: int = 0, rank: int = 0,
             ranks: int = 0, offset: int = 0) -> Any:
    """x rounded to the format, as an array of x's kind.

    >>> import numpy as np
    >>> quantize(np.float32([3.3, 0.01, 1000]), "e4m3")
    array([3.25      , 0.00976562,        inf], dtype=float32)
    >>> quantize(np.float32([3.3, 0.01, 1000]), "e4m3", scale="aps")
    array([3.2500e+00, 1.5625e-02, 1.0240e+03], dtype=float32)

    scale: None, "aps" (the paper's, for a sum of `ranks` arrays), "aps-tight", or the
    exponent of a power of two. Formats in blocks scale themselves.

    rounding: nearest, stochastic, toward-zero, cpd or correlated. seed, layer, step,
    stage, rank, ranks and offset are the key of random bits (libaps(3)). The same key
    gives the same bits, so pass another step in each call.

    out: the array to write, which may be x; PyTorch does not notice that its values
    change. Gradients do not pass through the result; use a Quantizer for that. A tensor
    on a GPU is rounded there, on the current stream.
    """
    number = rounding_of(rounding)
    kind = format_of(format)
    array = floats(x, gpu=True)
    to, result = result_for(x, out, array.shape, [array], in_place=True)
    options = CastOptions(seed=seed, offset=offset, layer=layer, step=step,
                          rounding=number, stage=stage, rank=rank,
                          ranks=ranks,
                          scale_exponent=exponent_of(kind, scale, array, ranks))
    arguments = (kind.pointer, array.ctypes.data, array.size, byref(options),
                 to.ctypes.data)
    if isinstance(array, GpuArray):
        gpu.call("aps_cuda_cast_array", array, *arguments)
    else:
        LIB.aps_cast_array(*arguments)
    return result
