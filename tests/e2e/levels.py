# SPDX-License-Identifier: BSD-3-Clause
"""Independent readers and writers of the formats whose blocks have a scale in
FP32: qsgdS/B (Alistarh et al. 2017, Eq. 4, with 2-norm or maximum),
intB/BUCKET and sign/B, by aps.h."""

import math

from fp32 import (CORRELATED, FLOAT_MAX, NEAREST, STOCHASTIC, TOWARD_ZERO,
                  bits_of, f32, from_bits, rounded)

NAN_BITS = 0x7FC00000


def total(values):
    """Sums in FP64 and 16 lanes, which are added 8, 4, 2 and 1 apart."""
    lanes = [0.0] * 16
    for i, v in enumerate(values):
        lanes[i % 16] += v
    for apart in (8, 4, 2, 1):
        for i in range(apart):
            lanes[i] += lanes[i + apart]
    return lanes[0]


class Level:
    """A sign and a level of 0 to s."""

    def __init__(self, s):
        self.s = s
        self.bits = math.ceil(math.log2(s + 1))
        self.width = 1 + self.bits

    def encode(self, y, kind, word, negative):
        return min(rounded(y, kind, word), self.s) | negative << self.bits

    def decode(self, code):
        level = code & ((1 << self.bits) - 1)
        fraction = f32(level * f32(1 / self.s))
        return -fraction if code >> self.bits else fraction


class Plus:
    """One bit, set if the value is negative."""

    width = 1

    def encode(self, y, kind, word, negative):
        return int(negative and y > 0)

    def decode(self, code):
        return -1.0 if code else 1.0


class Scaled:
    """A block has a scale in FP32, the magnitude of the element 1."""

    piece, scale_bytes = 0, 4

    def begin(self, x):
        return b"", None

    def choose(self, block, _):
        if not all(math.isfinite(x) for x in block):
            return NAN_BITS, None
        w = self.measure(block)
        return bits_of(w), None if w == 0 else self.division(w)

    def read(self, code, _):
        w = from_bits(code)
        if not math.isfinite(w):
            return None
        return (lambda v: 0.0) if w == 0 else lambda v: w * v


class Levels(Scaled):
    def __init__(self, name, s, block, kinds):
        self.name, self.block, self.kinds = name, block, kinds
        self.element, self.l2 = Level(s), name.endswith("-l2")

    def measure(self, block):
        if self.l2:
            return min(f32(math.sqrt(total(x * x for x in block))), FLOAT_MAX)
        return max(abs(x) for x in block)

    def division(self, w):
        power = 2.0 ** 64 if w < 2.0 ** -64 else 2.0 ** -64 if w >= 2.0 ** 64 \
            else 1.0
        inverse = f32(self.element.s / (w * power))
        return lambda x: f32(f32(x * power) * inverse)


class Sign(Scaled):
    kinds = (NEAREST,)
    element = Plus()

    def __init__(self, block):
        self.name, self.block = f"sign/{block}", block

    def measure(self, block):
        return f32(total(abs(x) for x in block) / len(block))

    def division(self, _):
        return lambda x: x


def qsgd(s, block, norm=""):
    return Levels(f"qsgd{s}/{block}{norm}", s, block, (STOCHASTIC, CORRELATED))


def integers(bits, block):
    return Levels(f"int{bits}/{block}", 2 ** (bits - 1) - 1, block,
                  (NEAREST, STOCHASTIC, TOWARD_ZERO, CORRELATED))


FORMATS = [qsgd(s, block) for s, block in (
    (1, 128), (7, 512), (127, 512), (3, 64), (5, 20), (16, 512), (255, 4096),
    (1, 2), (32767, 64), (127, 4096), (7, 1088), (2, 3), (41, 32))]
FORMATS += [qsgd(s, block, "-l2") for s, block in (
    (1, 128), (7, 512), (127, 512), (15, 1024), (3, 4096), (4, 7))]
FORMATS += [integers(bits, block) for bits, block in (
    (8, 512), (4, 512), (2, 128), (8, 64), (4, 64), (6, 32), (3, 7), (16, 64),
    (16, 2), (12, 4096), (8, 4096), (5, 576))]
FORMATS += [Sign(block) for block in (
    64, 128, 512, 1024, 4096, 32, 576, 2, 7, 20, 1088)]
