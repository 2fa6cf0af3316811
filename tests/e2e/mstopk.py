# SPDX-License-Identifier: BSD-3-Clause
"""Compares MSTopK as its loop is written, in Python's doubles, with the
library's: the same thresholds, the same random choice and the same elements.

    mstopk.py SELECTOR
"""

import math
import random
import struct
import subprocess
import sys

SAMPLINGS = 30
LANES = 32
MASK = 2**64 - 1
ROOM_LEAST = 4 * 4 * 2049


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def philox(key, a, b, c, d):
    """Returns four words of random bits (Salmon et al., SC'11)."""
    low, high = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = ((second >> 32) ^ b ^ low, second & 0xFFFFFFFF,
                      (first >> 32) ^ d ^ high, first & 0xFFFFFFFF)
        low = (low + 0x9E3779B9) & 0xFFFFFFFF
        high = (high + 0xBB67AE85) & 0xFFFFFFFF
    return a, b, c, d


def draw(case, choices):
    """Returns a random number below `choices`: element 2^65, in group 2^63 of four."""
    key = mix(mix(case["seed"]) ^ (case["stage"] << 32 | 0xFFFFFFFF))
    word = philox(key, 0, 1 << 31, case["layer"], case["step"])[0]
    return word * choices >> 32


def mean(a):
    lane = [0.0] * LANES
    for i, value in enumerate(a):
        lane[i % LANES] += value
    half = LANES // 2
    while half:
        for j in range(half):
            lane[j] += lane[j + half]
        half //= 2
    return lane[0] / len(a)


def mstopk(case):
    """Returns the line that the program prints."""
    a = [abs(value) for value in case["x"]]
    k, upper = case["k"], max(a)
    middle = mean(a)
    t1, k1, t2, k2 = math.inf, 0, 0.0, len(a)
    low, high = 0.0, 1.0
    if upper == 0:
        return [t1, t2, 0, 0, 0]
    for _ in range(SAMPLINGS):
        b = low + (high - low) / 2
        t = middle + b * (upper - middle)
        c = sum(value >= t for value in a)
        if c <= k:
            high = b
            if c > k1:
                k1, t1 = c, t
        else:
            low = b
            if c < k2:
                k2, t2 = c, t
    first = [i for i, value in enumerate(a) if value >= t1]
    second = [i for i, value in enumerate(a) if t2 <= value < t1]
    start = draw(case, len(second) - (k - k1) + 1)
    return [t1, t2, k1, k2, start,
            *sorted(first + second[start:start + k - k1])]


def floats(values):
    return struct.unpack(f"={len(values)}f",
                         struct.pack(f"={len(values)}f", *values))


def values(kind, n, rng):
    """Returns vectors like gradients, and hard cases for a search."""
    return floats({
        "normal": lambda: [rng.gauss(0, 1) for _ in range(n)],
        "log-normal": lambda: [math.exp(rng.gauss(0, 4)) for _ in range(n)],
        "close": lambda: [1.0] + [
            rng.choice([0.0, 0.01 + rng.randrange(n) * 2.0**-30])
            for _ in range(n - 1)],
        "equal": lambda: [0.1] * n,
        "few": lambda: [float(rng.randrange(-3, 4)) for _ in range(n)],
        "subnormal": lambda: [rng.randrange(1000) * 2.0**-149
                              for _ in range(n)],
        "outlier": lambda: [1e30] + [rng.gauss(0, 1) for _ in range(n - 1)],
        "zero": lambda: [0.0] * n,
    }[kind]())


KINDS = ["normal", "log-normal", "close", "equal", "few", "subnormal", "outlier",
         "zero"]


def cases():
    rng = random.Random(7)
    for kind in KINDS:
        for n in (1, 2, 10, 33, 500, 6000):
            for density in (0.001, 0.01, 0.3, 0.9, 1):
                yield {
                    "kind": kind, "n": n, "k": max(1, int(density * n)),
                    "seed": rng.getrandbits(64), "layer": rng.getrandbits(32),
                    "step": rng.getrandbits(32), "stage": rng.getrandbits(3),
                    "bytes": rng.choice([0, ROOM_LEAST]),
                    "x": values(kind, n, rng),
                }


def packed(case):
    numbers = [case[name] for name in
               ("n", "k", "seed", "layer", "step", "stage", "bytes")]
    return struct.pack(f"=7Q{case['n']}f", *numbers, *case["x"])


def parsed(line):
    words = line.split()
    return [float.fromhex(word) for word in words[:2]] + \
        [int(word) for word in words[2:]]


def main():
    asked = list(cases())
    run = subprocess.run([sys.argv[1]], input=b"".join(map(packed, asked)),
                         stdout=subprocess.PIPE, check=True)
    lines = run.stdout.decode().splitlines()
    wrong = len(lines) != len(asked)
    for case, line in zip(asked, lines):
        if parsed(line) != mstopk(case):
            wrong = True
            print(f"{case['kind']}, n {case['n']}, k {case['k']}:\n"
                  f"  {parsed(line)[:12]}\n  expected {mstopk(case)[:12]}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
