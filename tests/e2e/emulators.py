#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""emulators.py LIBAPS: block formats, compared with the results of two emulators
in PyTorch for the same values. TAP, with a table of the differences.

This program has its own version of the emulators, in numpy's FP32, written
from their code:

  _quantize_mx in mx/mx_ops.py and _quantize_elemwise_core in
  mx/elemwise_ops.py of https://github.com/microsoft/microxcaling (7bc4195),
  without its CUDA kernels

  _float_to_bfp in bfp/bfp_ops.py of
  https://github.com/parsa-epfl/HBFPEmulator (b5cdb1d), rounding 'determ'

Values are equal unless a cause of a difference is listed. Then they differ as
libaps(3) says.
"""

import ctypes
import sys

import numpy as np

F32 = np.float32
FLOAT_MAX = np.finfo(F32).max


def power(e):
    """2^e in FP32, for integers: INF above, 0 below, NaN for NaN."""
    e = np.asarray(e, np.float64)
    whole = np.nan_to_num(np.clip(e, -400, 400)).astype(int)
    return np.where(np.isnan(e), np.nan, np.ldexp(1.0, whole)).astype(F32)


def log2(x):
    """Returns log2 as PyTorch computes it: rounded to FP32."""
    return np.log2(x.astype(np.float64)).astype(F32)


def exponent(x):
    """Returns e of 2^(e-1) <= x < 2^e, exact; meaningless for 0, INF and NaN."""
    return np.frexp(x)[1].astype(F32)


def greatest_of(blocks):
    return np.abs(blocks).max(axis=1, keepdims=True)


# --- the emulators ------------------------------------------------------------
#
# Each takes the exponent of a block's greatest magnitude from a function: its
# own, or the exact one.

class Mx:
    """A format of e and m bits; emax: exponent of the greatest value."""

    def __init__(self, e, m, emax, greatest):
        self.m, self.emax, self.greatest = m, emax, F32(greatest)
        self.least = 2 - 2 ** (e - 1) if e else None

    @staticmethod
    def floor_log2(top):
        return np.floor(log2(top))

    @staticmethod
    def exact(top):
        return exponent(top) - 1

    def shared(self, top, rule):
        """Returns the exponents of the scales of blocks with these maxima."""
        e = rule(np.where(top == 0, F32(2.0 ** -126), top)) - self.emax
        e = np.where(e > 127, F32(np.nan), np.maximum(e, -127))
        return np.where(np.isfinite(top), e, F32(np.nan))

    def scaled(self, blocks, e):
        """Returns scaled values, and the steps to which they are rounded."""
        v = blocks / power(e)
        if self.least is None:
            return v, power(np.full_like(v, -self.m))
        own = np.floor(log2(np.where(v == 0, F32(1), np.abs(v))))
        return v, power(np.maximum(own, self.least) - self.m)

    def quantize(self, blocks, ties, rule):
        e = self.shared(greatest_of(blocks), rule)
        v, step = self.scaled(blocks, e)
        k = np.abs(v) / step
        rounded = np.floor(k + F32(0.5))
        if ties == "even":
            rounded -= (k - F32(0.5)) % 2 == 0
        y = np.where(v == 0, F32(0), np.sign(v) * rounded) * step
        return np.clip(y, -self.greatest, self.greatest) * power(e)


class Hbfp:
    """m bits of magnitude; epsilon is added to a block's maximum."""

    def __init__(self, m, epsilon):
        self.m, self.epsilon = m, F32(epsilon)

    def ceil_log2(self, top):
        return np.ceil(log2(top + self.epsilon))

    @staticmethod
    def exact(top):
        e = np.where(top == 0, F32(-125), np.maximum(exponent(top), -125))
        return np.where(np.isfinite(top), e, F32(np.nan))

    def quantize(self, blocks, rule):
        e = rule(greatest_of(blocks))
        interval = power(e - self.m)
        greatest = power(e) - interval
        y = np.rint(blocks / interval) * interval
        return np.minimum(np.maximum(y, -greatest), greatest)


# --- causes of differences ----------------------------------------------------
#
# A cause: its name, the values that it may change, those that it does change,
# and whether the exact exponent removes it.

def mx_causes(f, blocks, ties):
    top = greatest_of(blocks)
    e = f.shared(top, f.exact)
    theirs = f.shared(top, f.floor_log2)
    wrong = np.isfinite(top) & (e != theirs)
    whole = np.ones_like(blocks, bool)
    greatest = np.abs(blocks) == top
    near = wrong & ~np.isnan(theirs) & (np.frexp(top)[0] > 1 - 2.0 ** -18)
    yield "log2 of a maximum below 2^k is k", whole & near, greatest & near, \
        True
    if f.emax == 0:
        nan = wrong & np.isnan(theirs)
        yield "log2 of a maximum is 128: NaN", whole & nan, whole & nan, True
    v, step = f.scaled(blocks, e)
    k = np.abs(v) / step
    if ties == "nearest":
        away = (k % 2 == 0.5) & (np.abs(v) < f.greatest)
        yield "half away", away, away & ~wrong, False
    up = k == F32(0.5 - 2.0 ** -25)
    yield "0.5 - 2^-25 + 0.5 is 1", up, up & ~wrong, False


def hbfp_causes(f, blocks):
    top = greatest_of(blocks)
    e, theirs = f.exact(top), f.ceil_log2(top)
    whole = np.ones_like(blocks, bool)
    greatest = np.abs(blocks) == top
    normal = np.isfinite(top) & (top >= 2.0 ** -126)
    fraction = np.frexp(top)[0]
    least = normal & (theirs < e) & (fraction == 0.5)
    yield "maximum 2^k", whole & least, greatest & least, True
    near = normal & (theirs < e) & ~least & (fraction < 0.5 + 2.0 ** -19)
    yield "log2 of a maximum above 2^k is k", whole & near, greatest & near, \
        True
    k = np.rint(np.abs(blocks) / power(e - f.m))
    infinite = (e == 128) & (k == 2 ** f.m)
    yield "INF of a finite value", infinite, infinite & (theirs == 128), False
    if f.epsilon:
        coarse = (top > 0) & (theirs > e) & (top < 0.125)
        # less than half their step, more than half of this one
        lost = (np.abs(blocks) < power(theirs - f.m - 1)) \
            & (np.abs(blocks) > power(e - f.m - 1))
        yield "epsilon", whole & coarse, lost & coarse, True
        return
    yield "zeros: NaN", whole & (top == 0), whole & (top == 0), True
    tiny = (top > 0) & (top < 2.0 ** -126)
    yield "maximum below 2^-126", whole & tiny, ~whole, True


def mx_zeros(f, blocks):
    """Only one of the two gives -0, if both give zero: int8 has no -0, and
    microxcaling has +0 if a value, or its quotient by the scale, is 0."""
    v, _ = f.scaled(blocks, f.shared(greatest_of(blocks), f.floor_log2))
    if f.least is None:
        return np.signbit(blocks) & (v != 0)
    return np.signbit(blocks) & (v == 0) & (greatest_of(blocks) > 0)


def hbfp_zeros(f, blocks):
    """HBFPEmulator keeps -0 in blocks of zeros."""
    return np.signbit(blocks) & (greatest_of(blocks) == 0)


# --- inputs -------------------------------------------------------------------

def under(x, ulps):
    """Returns the float `ulps` floats nearer to 0 than x (or, below 0, farther)."""
    bits = np.asarray(x, F32).view(np.int32)
    return (bits - np.asarray(ulps, np.int32)).view(F32)


def signs(rng, x):
    return np.where(rng.random(x.shape) < 0.5, F32(-1), F32(1)) * x


def below_maxima(rng, maxima, block):
    """Makes a block for each maximum, with other values of all sizes below it."""
    maxima = np.asarray(maxima, F32)
    x = rng.random((maxima.size, block)) ** rng.choice([1, 4], (maxima.size, 1))
    x = (x * maxima[:, None].astype(np.float64) * (1 - 2.0 ** -10)).astype(F32)
    x[np.arange(maxima.size), rng.integers(0, block, maxima.size)] = maxima
    return signs(rng, x)


def inputs(rng, block):
    """Returns blocks of each kind: {name: blocks}."""
    count = -(-100000 // block)
    powers = power(np.arange(-149, 128))
    normal = powers[23:]
    near = [under(normal, j) for j in (1, 2, 3, 8, 30, 100, -1, -2, -3, -30)]
    tied = rng.integers(0, 512, (400, block)) / 2.0 ** rng.integers(
        1, 12, (400, 1))
    tied[:, 0] = 1.75
    tied = np.minimum(tied, 1.75) * 2.0 ** rng.integers(-100, 100, (400, 1))
    beside = under(np.maximum(tied, 2.0 ** -120),
                   rng.choice([1, 0, -1], tied.shape))
    halves = power(-rng.integers(1, 35, (100, block)))
    halves = under(halves, rng.choice([1, 0, -1], halves.shape))
    halves[:, 0] = 1.5
    zeros = rng.choice([0.0, -0.0], (40, block)).astype(F32)
    some = rng.standard_normal((40, block)).astype(F32)
    some[rng.random(some.shape) < 0.3] = -0.0
    special = rng.standard_normal((60, block)).astype(F32)
    special[np.arange(60), rng.integers(0, block, 60)] = np.repeat(
        np.array([np.inf, -np.inf, np.nan], F32), 20)
    top = [*under(FLOAT_MAX, [0, 1, 99]), 1.5 * 2.0 ** 127]
    scale = 2.0 ** rng.integers(-100, 100, (count, 1))
    return {
        "random": (rng.standard_normal((count, block)) * scale).astype(F32),
        "gradients": (rng.standard_normal((count, block))
                      * 10.0 ** rng.uniform(-9, -1, (count, 1))).astype(F32),
        "powers of two": np.concatenate([
            signs(rng, rng.choice(powers, (200, block))),
            below_maxima(rng, powers, block)]),
        "next to powers of two": below_maxima(rng, np.concatenate(near), block),
        "ties": signs(rng, tied.astype(F32)),
        "next to ties": signs(rng, np.concatenate([beside, halves])),
        "subnormals": signs(rng, rng.integers(
            0, 2 ** rng.integers(1, 24, (200, 1)), (200, block),
            np.int32).view(F32)),
        "zeros": np.concatenate([zeros, some]),
        "INF and NaN": special,
        "greatest floats": below_maxima(rng, top * 5, block),
    }


# --- comparison ---------------------------------------------------------------

count = failures = 0


def ok(passed, text):
    global count, failures
    count += 1
    failures += not passed
    print("ok" if passed else "not ok", count, "-", text, flush=True)


def cast(aps, name, blocks):
    x = np.ascontiguousarray(blocks, F32)
    y = np.empty_like(x)
    floats = ctypes.POINTER(ctypes.c_float)
    given = ctypes.c_void_p(aps.aps_format_get(name.encode(), None))
    if aps.aps_cast_array(given, x.ctypes.data_as(floats),
                          ctypes.c_size_t(x.size), None,
                          y.ctypes.data_as(floats), None):
        raise RuntimeError("aps_cast_array fails for " + name)
    return y


def unequal(a, b):
    return (a != b) & ~(np.isnan(a) & np.isnan(b))


def compare(title, ours, theirs, corrected, causes, zeros):
    differ, left = unequal(ours, theirs), unequal(ours, theirs)
    remain = unequal(ours, corrected)
    parts = []
    for cause, may, must, by_exponent in causes:
        ok(differ[may].any() and differ[must].all(), f"{title}: {cause}")
        parts.append(f"{np.count_nonzero(left & may)} {cause}")
        left &= ~may
        if not by_exponent:
            remain &= ~may
    ok(not left.any(), f"{title}: all other values are equal")
    ok(not remain.any(), "... and with the exact exponent all values are")
    sign = (ours == 0) & (theirs == 0)
    ok((np.signbit(ours) != np.signbit(theirs))[sign].tolist()
       == zeros[sign].tolist(), "... and signs of zeros are as expected")
    print(f"# {title}: {np.count_nonzero(~differ)} equal;", "; ".join(parts))


MX = {
    "mx-e5m2": Mx(5, 2, 15, 57344), "mx-e4m3fn": Mx(4, 3, 8, 448),
    "mx-e3m2fn": Mx(3, 2, 4, 28), "mx-e2m3fn": Mx(2, 3, 2, 7.5),
    "mx-e2m1fn": Mx(2, 1, 2, 6), "mx-int8": Mx(0, 6, 0, 127 / 64),
}
BFP = {"bfp7/64": (7, 64), "bfp3/64": (3, 64), "bfp7/576": (7, 576)}


def main():
    try:
        aps = ctypes.CDLL(sys.argv[1])
    except OSError as error:
        print(f"1..0 # SKIP libaps does not load: {error}")
        return 0
    aps.aps_format_get.restype = ctypes.c_void_p
    np.seterr(all="ignore")
    rng = np.random.default_rng(15)
    blocks = np.concatenate(list(inputs(rng, 32).values()))
    for name, f in MX.items():
        for ties in "even", "nearest":
            compare(f"{name}, microxcaling, round='{ties}'",
                    cast(aps, name, blocks),
                    f.quantize(blocks, ties, f.floor_log2),
                    f.quantize(blocks, ties, f.exact),
                    mx_causes(f, blocks, ties), mx_zeros(f, blocks))
    for name, (m, block) in BFP.items():
        blocks = np.concatenate(list(inputs(rng, block).values()))
        for epsilon in 1e-8, 0:
            f = Hbfp(m, epsilon)
            compare(f"{name}, HBFPEmulator, epsilon={epsilon}",
                    cast(aps, name, blocks), f.quantize(blocks, f.ceil_log2),
                    f.quantize(blocks, f.exact), hbfp_causes(f, blocks),
                    hbfp_zeros(f, blocks))
    print(f"1..{count}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
