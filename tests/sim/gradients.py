#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the gradients of tests/sim: gradients.py FILE

FILE becomes 256 ranks x 512 values, FP32, little-endian, rank by rank. They
are drawn once and stored (gradients.bin). This script gives the same bytes
everywhere: it draws whole numbers (Mersenne Twister), and then uses only exact
arithmetic and one rounding to FP32.

Rank r's value i is   m_i * (1 + NOISE * z_ri) * 2^-20   where

  m_i   the gradient that the ranks share: either sign, and a magnitude
        2^(k - 8) * (1 + u), k heads of 16 tossed coins, u even in [0, 1): close
        to log-normal, with a deviation of two octaves.
  z_ri  the noise of the rank's own samples: a sum of twelve even numbers, which
        is close to normal and has the deviation 1.

NOISE: with b samples a rank, gradients deviate by sqrt(B / b) times their mean,
where B is the gradient noise scale (McCandlish et al. 2018, "An Empirical Model
of Large-Batch Training"). 6 stands for B about 1000, as they find early in
training on ImageNet, and b = 32, as the APS paper has on 256 nodes.
"""
import array
import random
import sys

RANKS = 256
VALUES = 512
NOISE = 6
SEED = 1


def magnitude(bits):
    """Returns m_i, times 2^24."""
    heads = bin(bits(16)).count("1")
    return ((1 << 16) + bits(16)) << heads


def noise(bits):
    """Returns z_ri, times 2^16."""
    return sum(bits(16) for _ in range(12)) - 6 * 65535


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: gradients.py FILE")
    bits = random.Random(SEED).getrandbits
    shared = [magnitude(bits) * (1 - 2 * bits(1)) for _ in range(VALUES)]
    values = array.array("f")
    for _ in range(RANKS):
        for m in shared:
            # Whole numbers below 2^53: the product is exact, and so are powers
            # of two; the array rounds to FP32.
            values.append(m * ((1 << 16) + NOISE * noise(bits)) * 2.0**-60)
    if sys.byteorder == "big":
        values.byteswap()
    with open(sys.argv[1], "wb") as file:
        values.tofile(file)


if __name__ == "__main__":
    main()
