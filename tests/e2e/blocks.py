#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""blocks.py LIBAPS: an independent reader and writer of block formats and of
integers, in Python's own numbers, compared byte for byte with libaps.
levels.py has the formats whose blocks have a scale in FP32.

It knows the formats from their specifications (MX 1.0, 5.4 and 6.3; aps.h for
NVFP4 and bfpM/B) and shares no code with the library. Values are doubles or
integers: all steps are exact except where a format says that FP32 rounds. TAP.
"""

import ctypes
import math
import random
import struct
import sys

sys.dont_write_bytecode = True

from fp32 import (CORRELATED, FLOAT_MAX, NEAREST, STOCHASTIC, TOWARD_ZERO,
                  bits_of, f32, rounded)
import levels

ROUNDINGS = NEAREST, STOCHASTIC, TOWARD_ZERO, CORRELATED
SEED, STEP, LAYER, RANK, RANKS = 99, 7, 5, 3, 6


# --- elements ------------------------------------------------------------------

class Float:
    """A float of e bits of exponent and m of mantissa, with this largest value."""

    def __init__(self, e, m, largest, inf=None, nan=()):
        self.e, self.m, self.largest = e, m, largest
        self.width = 1 + e + m
        self.bias = 2 ** (e - 1) - 1
        self.inf, self.nan = inf, nan

    def encode(self, y, kind, word, negative):
        exponent = math.frexp(y)[1] - 1 if y else -9999
        step = max(exponent, 1 - self.bias) - self.m
        k = rounded(math.ldexp(y, -step), kind, word)
        value = min(math.ldexp(k, step), self.largest)
        if value < math.ldexp(1, 1 - self.bias):
            code = int(math.ldexp(value, self.bias - 1 + self.m))
        else:
            exponent = math.frexp(value)[1] - 1
            code = ((exponent + self.bias) << self.m) + int(
                math.ldexp(value, self.m - exponent)) - (1 << self.m)
        return code | negative << (self.width - 1)

    def decode(self, code):
        sign = -1.0 if code >> (self.width - 1) else 1.0
        code &= (1 << (self.width - 1)) - 1
        field, mantissa = code >> self.m, code & ((1 << self.m) - 1)
        if code == self.inf:
            return sign * math.inf
        if code in self.nan:
            return math.nan
        if field == 0:
            return sign * math.ldexp(mantissa, 1 - self.bias - self.m)
        return sign * math.ldexp((1 << self.m) + mantissa,
                                 field - self.bias - self.m)


class Magnitude:
    """A sign and m bits, in steps of 2^-point."""

    def __init__(self, m, point):
        self.m, self.point, self.width = m, point, 1 + m

    def encode(self, y, kind, word, negative):
        k = rounded(math.ldexp(y, self.point), kind, word)
        return min(k, 2 ** self.m - 1) | negative << self.m

    def decode(self, code):
        k = math.ldexp(code & ((1 << self.m) - 1), -self.point)
        return -k if code >> self.m else k


class Complement:
    """`width` bits in two's complement, in steps of 2^-point."""

    def __init__(self, width, point, lowest):
        self.width, self.point, self.lowest = width, point, lowest

    def encode(self, y, kind, word, negative):
        k = rounded(math.ldexp(y, self.point), kind, word)
        k = min(k, -self.lowest if negative else 2 ** (self.width - 1) - 1)
        return (-k if negative else k) % (1 << self.width)

    def decode(self, code):
        if code >> (self.width - 1):
            code -= 1 << self.width
        return math.ldexp(code, -self.point)


E5M2 = Float(5, 2, 57344.0, inf=0x7C, nan=(0x7D, 0x7E, 0x7F))
E4M3FN = Float(4, 3, 448.0, nan=(0x7F,))
E3M2FN = Float(3, 2, 28.0)
E2M3FN = Float(2, 3, 7.5)
E2M1FN = Float(2, 1, 6.0)
INT8 = Complement(8, 6, -127)


# --- blocks --------------------------------------------------------------------

class Blocks:
    """Base of block formats. A format has `block` values in a block, `piece`
    bytes before all blocks, and the scale `nan` for blocks of NaN."""
    piece, nan = 0, 255
    scale_bytes, kinds = 1, ROUNDINGS

    def begin(self, x):
        """Returns the bytes before all blocks, and the data for choose and read."""
        return b"", None

    def choose(self, block, g):
        """Returns the scale's code, and the factor of the values, or None: zeros."""
        if not all(math.isfinite(x) for x in block):
            return self.nan, None
        greatest = max(abs(x) for x in block)
        return self.choose_for(greatest, g) if greatest else (0, None)


class Mx(Blocks):
    block = 32

    def __init__(self, name, element, emax):
        self.name, self.element, self.emax = name, element, emax

    def choose_for(self, greatest, _):
        s = max(math.frexp(greatest)[1] - 1 - self.emax + 127, 0)
        return s, lambda x: math.ldexp(x, 127 - s)

    def read(self, code, _):
        return None if code == 255 else lambda v: math.ldexp(v, code - 127)


class Bfp(Blocks):
    def __init__(self, m, block):
        self.name, self.block = f"bfp{m}/{block}", block
        self.element = Magnitude(m, m)

    def choose_for(self, greatest, _):
        e = max(math.frexp(greatest)[1], -125)
        return e + 126, lambda x: math.ldexp(x, -e)

    def read(self, code, _):
        if code == 255:
            return None
        if code == 0:
            return lambda v: 0.0
        return lambda v: math.ldexp(v, code - 126)


class Nvfp4(Blocks):
    name, block, piece, nan, element = "nvfp4", 16, 4, 0x7F, E2M1FN

    def begin(self, x):
        g = f32(max((abs(v) for v in x if math.isfinite(v)), default=0) / 2688)
        return struct.pack("<f", g), g

    def choose_for(self, greatest, g):
        if g == 0:
            return 0, None
        s = E4M3FN.encode(f32(f32(greatest / 6) / g), NEAREST, 0, 0)
        c = f32(E4M3FN.decode(s) * g)
        if c == 0:
            return 0, None
        inverse = min(f32(1 / c), FLOAT_MAX)
        return s, lambda x: f32(x * inverse)

    def read(self, code, g):
        if code & 0x7F == 0x7F:
            return None
        c = f32(E4M3FN.decode(code) * g)
        return lambda v: v * c


def code_bytes(codes, width):
    word = sum(code << i * width for i, code in enumerate(codes))
    return word.to_bytes((len(codes) * width + 7) // 8, "little")


def write(f, x, kind, words):
    piece, g = f.begin(x)
    wire = bytearray(piece)
    for i in range(0, len(x), f.block):
        block = x[i:i + f.block]
        scale, scaled = f.choose(block, g)
        codes = [0] * len(block) if not scaled else [
            f.element.encode(abs(scaled(v)), kind, words[i + j],
                             math.copysign(1, v) < 0)
            for j, v in enumerate(block)]
        wire += scale.to_bytes(f.scale_bytes, "little")
        wire += code_bytes(codes, f.element.width)
    return bytes(wire)


def read(f, wire, n):
    """Returns bit patterns of the n values; None for any NaN."""
    g = struct.unpack("<f", wire[:4])[0] if f.piece else None
    at, x = f.piece, []
    for i in range(0, n, f.block):
        count = min(f.block, n - i)
        size = (count * f.element.width + 7) // 8
        scale = int.from_bytes(wire[at:at + f.scale_bytes], "little")
        at += f.scale_bytes
        word = int.from_bytes(wire[at:at + size], "little")
        scaled = f.read(scale, g)
        for j in range(count):
            code = word >> j * f.element.width & ((1 << f.element.width) - 1)
            v = scaled(f.element.decode(code)) if scaled else math.nan
            x.append(None if math.isnan(v) else bits_of(f32(v)))
        at += size
    return x


# --- random bits: Philox4x32-10 with the key of aps.h --------------------------

M64 = 2 ** 64 - 1


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & M64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def philox(key, counter):
    a, b, c, d = counter
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (q >> 32 ^ b ^ k0, q & 0xFFFFFFFF, p >> 32 ^ d ^ k1,
                      p & 0xFFFFFFFF)
        k0, k1 = (k0 + 0x9E3779B9) % 2 ** 32, (k1 + 0xBB67AE85) % 2 ** 32
    return a, b, c, d


def words_of(rank, first, n):
    """Returns word i % 4 of group i / 4 for the elements from `first` on."""
    key = mix(mix(SEED) ^ rank)
    words = []
    for group in range(first // 4, (first + n) // 4 + 1):
        words += philox(key, (group % 2 ** 32, group >> 32, LAYER, STEP))
    return words[first % 4:first % 4 + n]


def draws(kind, first, x):
    """Returns the words by which the magnitudes of x are rounded."""
    own = words_of(RANK, first, len(x))
    if kind != CORRELATED:
        return own
    everyone = 2 ** 32 - 1
    place = RANK
    turns = words_of(everyone, 2 ** 64, RANKS)
    for k in range(RANKS - 1, 0, -1):
        other = turns[k] * (k + 1) >> 32
        place = other if place == k else k if place == other else place
    words = []
    for v, g, w in zip(x, own, words_of(everyone, first, len(x))):
        part = (place + (w * RANKS >> 32)) % RANKS
        word = ((part << 32) + g) // RANKS
        words.append(2 ** 32 - 1 - word if math.copysign(1, v) < 0 else word)
    return words


# --- libaps --------------------------------------------------------------------

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("seed", ctypes.c_uint64),
                ("offset", ctypes.c_uint64), ("layer", ctypes.c_uint32),
                ("step", ctypes.c_uint32), ("rounding", ctypes.c_int),
                ("scale_exponent", ctypes.c_int32), ("stage", ctypes.c_uint32),
                ("rank", ctypes.c_uint32), ("ranks", ctypes.c_uint64)]


class Libaps:
    def __init__(self, path):
        self.dll = ctypes.CDLL(path)
        self.dll.aps_format_get.restype = ctypes.c_void_p
        self.dll.aps_packed_bytes.restype = ctypes.c_size_t

    def format(self, name):
        return ctypes.c_void_p(self.dll.aps_format_get(name.encode(), None))

    def bytes(self, name, n):
        return self.dll.aps_packed_bytes(self.format(name), ctypes.c_size_t(n))

    def options(self, kind, offset, exponent=0):
        return ctypes.byref(Options(ctypes.sizeof(Options), SEED, offset, LAYER,
                                    STEP, kind, exponent, 0, RANK, RANKS))

    def encode(self, name, x, options):
        n = len(x)
        given = (ctypes.c_float * n)(*x)
        wire = (ctypes.c_ubyte * (self.bytes(name, n) + 8))(
            *[0xA5] * (self.bytes(name, n) + 8))
        if self.dll.aps_encode_array(self.format(name), given,
                                     ctypes.c_size_t(n), options, wire, None):
            return None
        wire = bytes(wire)
        return wire[:-8] if wire.endswith(b"\xa5" * 8) else None

    def floats(self, call, name, given, n, options):
        x = (ctypes.c_float * n)()
        call(self.format(name), given, ctypes.c_size_t(n), options, x, None)
        words = struct.unpack(f"<{n}I", bytes(x))
        return [None if w & 0x7FFFFFFF > 0x7F800000 else w for w in words]

    def decode(self, name, wire, n, options=None):
        given = (ctypes.c_ubyte * len(wire)).from_buffer_copy(wire)
        return self.floats(self.dll.aps_decode_array, name, given, n, options)

    def cast(self, name, x, options):
        given = (ctypes.c_float * len(x))(*x)
        return self.floats(self.dll.aps_cast_array, name, given, len(x),
                           options)


# --- tests ---------------------------------------------------------------------

count = failures = 0


def ok(passed, text):
    global count, failures
    count += 1
    failures += not passed
    print(("ok" if passed else "not ok"), count, "-", text, flush=True)


def value(rng, exponent):
    """Returns values up to 2^exponent, like a gradient's: over many binades, or one."""
    x = math.ldexp(rng.choice((rng.random(), rng.random() ** 3, 1.0, 0.75,
                               1 - 2 ** -9, rng.randrange(64) / 64)), exponent)
    return f32(x if rng.random() < 0.5 else -x)


def array(rng, block, n):
    """Returns blocks of all magnitudes, of zeros, of subnormals, with INF and NaN."""
    x = []
    while len(x) < n:
        exponent = rng.randrange(-150, 129) if rng.random() < 0.5 else 0
        kind = rng.randrange(12)
        part = [value(rng, exponent) for _ in range(block)]
        if kind == 0:
            part = [rng.choice((0.0, -0.0))] * block
        elif kind == 1:
            part = [v if abs(v) < FLOAT_MAX else FLOAT_MAX for v in part]
            part[rng.randrange(block)] = rng.choice(
                (math.inf, -math.inf, math.nan))
        elif kind == 2:
            part[rng.randrange(block)] = f32(math.ldexp(1, min(exponent, 127)))
        elif kind == 3:
            part[rng.randrange(block)] = rng.choice((FLOAT_MAX, -FLOAT_MAX))
        x += [v if not math.isinf(v) or kind == 1 else FLOAT_MAX for v in part]
    return x[:n]


def any_floats(rng):
    """Returns bit patterns of either sign: subnormals, the ends, INF and NaN, too."""
    return [0, 1 << 31, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x7F7FFFFF,
            0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFFFFFFF,
            *(rng.randrange(2 ** 32) for _ in range(30))]


def test_format(aps, f, rng):
    blocks = max(3, min(100, 3000 // f.block))
    n = blocks * f.block + (f.block + 1) // 2
    x = array(rng, f.block, n)
    offset = 3 * f.block
    right = pieces = casts = True
    for kind in f.kinds:
        words = draws(kind, offset, x)
        options = aps.options(kind, offset)
        wire = write(f, x, kind, words)
        if aps.encode(f.name, x, options) != wire:
            print(f"# {f.name}: rounding {kind} differs")
            right = False
        values = read(f, wire, n)
        casts &= aps.cast(f.name, x, options) == values
        casts &= aps.decode(f.name, wire, n) == values
    ok(right, f"{f.name}: encodes as the independent writer, in every rounding")
    ok(casts, "... what is decoded, or cast, is what the reader reads")
    # sizes up to one and a half blocks; an array in pieces has the bytes of the whole
    for size in (1, 7, f.block - 1, f.block, f.block + 1, f.block * 3 // 2):
        part = x[f.block:f.block + size]
        words = draws(f.kinds[0], f.block, part)
        own = write(f, part, f.kinds[0], words)
        options = aps.options(f.kinds[0], f.block)
        got = aps.encode(f.name, part, options)
        pieces &= got == own and len(own) == aps.bytes(f.name, size)
        if not f.piece and size % f.block == 0:
            whole = write(f, x, f.kinds[0], draws(f.kinds[0], 0, x))
            unit = aps.bytes(f.name, f.block)
            pieces &= whole[unit:unit + len(own)] == own
    ok(pieces, "... short arrays and pieces, too")
    # all scale codes, and any codes, which other encoders may write
    codes = range(256) if f.scale_bytes == 1 else any_floats(rng)
    n = len(codes) * f.block
    wire = bytearray(struct.pack("<f", 0.37) if f.piece else b"")
    for code in codes:
        wire += code.to_bytes(f.scale_bytes, "little")
        wire += rng.randbytes((f.block * f.element.width + 7) // 8)
    ok(aps.decode(f.name, bytes(wire), n) == read(f, wire, n),
       "... and reads every scale code" if f.scale_bytes == 1 else
       "... and reads any scale")
    refused = [kind for kind in ROUNDINGS if kind not in f.kinds]
    if refused:
        ok(not any(aps.encode(f.name, x, aps.options(kind, offset))
                   for kind in refused), "... and refuses other roundings")


def test_integer(aps, name, element, rng):
    x = [v for e in (-20, 0, 6, 14, 15, 16, 40, 127)
         for v in (value(rng, e) for _ in range(400)) if math.isfinite(v)]
    right = True
    for exponent in 0, 5, -3, 130, -140, 300:
        for kind in NEAREST, STOCHASTIC, TOWARD_ZERO, CORRELATED:
            words = draws(kind, 40, x)
            options = aps.options(kind, 40, exponent)
            codes = [element.encode(math.ldexp(abs(v), exponent), kind, words[i],
                                    math.copysign(1, v) < 0)
                     for i, v in enumerate(x)]
            wire = code_bytes(codes, element.width)
            values = [bits_of(f32(math.ldexp(element.decode(c), -exponent)))
                      for c in codes]
            right &= aps.encode(name, x, options) == wire
            right &= aps.decode(name, wire, len(x), options) == values
            right &= aps.cast(name, x, options) == values
    ok(right, f"{name}: integers at every scale, in every rounding")


def test_gamma(aps):
    """Flexpoint's Gamma (arXiv 1711.02213), the greatest magnitude of integers,
    by which the exponent is raised after an overflow."""
    element = Complement(16, 0, -32768)
    table = ((1, 14, 16384), (1, 13, 8192), (1.1, 13, 9011), (.9, 13, 7373),
             (1.2, 13, 9830), (5, 13, 32767), (5, 10, 5120))
    gammas = [max(abs(element.decode(int.from_bytes(wire[i:i + 2], "little")))
                  for i in (0, 2))
              for wire in (aps.encode("flex16", [x, x / 3],
                                      aps.options(NEAREST, 0, f))
                           for x, f, _ in table)]
    ok(gammas == [gamma for _, _, gamma in table],
       f"flex16: Gamma of a predicted exponent: {gammas}")


def main():
    try:
        aps = Libaps(sys.argv[1])
    except OSError as error:
        print(f"1..0 # SKIP libaps does not load: {error}")
        return 0
    rng = random.Random(15)
    formats = [Mx("mx-e5m2", E5M2, 15), Mx("mx-e4m3fn", E4M3FN, 8),
               Mx("mx-e3m2fn", E3M2FN, 4), Mx("mx-e2m3fn", E2M3FN, 2),
               Mx("mx-e2m1fn", E2M1FN, 2), Mx("mx-int8", INT8, 0), Nvfp4()]
    formats += [Bfp(m, block) for m, block in (
        (7, 64), (7, 576), (5, 64), (3, 64), (3, 576), (4, 7), (1, 2), (2, 3),
        (15, 64), (15, 20), (22, 32), (23, 64), (24, 64), (24, 2), (24, 5),
        (7, 1024), (5, 1088), (3, 4096), (7, 2048), (15, 2048))]
    for f in formats + levels.FORMATS:
        test_format(aps, f, rng)
    test_integer(aps, "flex16", Complement(16, 0, -32768), rng)
    test_integer(aps, "flex8", Complement(8, 0, -128), rng)
    test_gamma(aps)
    print(f"1..{count}")
    return failures > 0


sys.exit(main())
