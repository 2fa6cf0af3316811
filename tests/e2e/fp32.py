# SPDX-License-Identifier: BSD-3-Clause
"""FP32 in Python's doubles, and roundings to integers, for the independent
readers of formats."""

import math
import struct

NEAREST, STOCHASTIC, TOWARD_ZERO, CORRELATED = 0, 1, 2, 4
FLOAT_MAX = struct.unpack("<f", struct.pack("<I", 0x7F7FFFFF))[0]


def f32(x):
    """Returns x rounded to FP32."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def rounded(steps, kind, word):
    """Rounds a magnitude in steps of the format, a double, to an integer."""
    if kind == TOWARD_ZERO:
        return math.floor(steps)
    if kind in (STOCHASTIC, CORRELATED):
        return (math.floor(math.ldexp(steps, 32)) + word) >> 32
    low = math.floor(steps)
    rest = steps - low
    return low + (rest > 0.5 or (rest == 0.5 and low % 2 == 1))
