#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tries codes with a fixed number of bytes: allot.py FOLDER

A reduction sends each slice in a message whose size is known beforehand. This
script tries, without the library, codes that spend such a budget unevenly, and
prints their error and MX's; FOLDER/allot.csv has the same numbers. Each sender
chooses one step d for its slice, the smallest with which the codes of round(x
/ d) fit; the message carries d as an FP32 number. All ranks' codes and the
codes of their sum are rounded to nearest, as in `reduce: direct`.

  widths/B   blocks of B values with as many bits each as their largest needs, and 4
             bits that say how many (bit allocation, as in DynamiQ, arXiv 2602.08923;
             with one step the squared error is spread evenly, which for a given
             number of bits is the least: reverse water-filling)
  rice/B     each value by a Rice code, whose parameter the block has in 4 bits
"""
import os

import numpy as np

from gradients import SETS, prepare
from output import folder_given, write_csv
from replay import RANKS

GRANULE = 64                    # slices begin at multiples of it
HEADER = 32                     # bits of a message: d
BUDGETS = (4.25, 5, 6.25)       # bits a value
MX = {"mx-e2m1fn": (2, 1), "mx-e2m3fn": (2, 3), "mx-e3m2fn": (3, 2)}
MX_BLOCK, MX_SCALE = 32, 8


def in_blocks(x, size):
    """Returns x in rows of `size`, with zeros after it."""
    return np.concatenate([x, np.zeros(-len(x) % size)]).reshape(-1, size)


def width_bits(k):
    """Returns the bits of rows of whole numbers by widths/B."""
    most = np.abs(k).max(axis=1)
    width = np.where(most > 0, np.floor(np.log2(np.maximum(most, 1))) + 2, 0)
    return (width * k.shape[1] + 4).sum()


def rice_bits(k):
    """Returns the bits by rice/B: zigzag, then quotient and remainder."""
    z = np.where(k >= 0, 2 * k, -2 * k - 1)
    sizes = [(p + 1 + np.floor(z / 2.0 ** p)).sum(axis=1) for p in range(16)]
    return (np.min(sizes, axis=0) + 4).sum()


def fitted(bits_of, size, budget):
    """Returns a rounding of a slice to the smallest step with which it fits."""
    def rounded(x):
        rows = in_blocks(x, size)
        most = np.abs(x).max()
        if most == 0:
            return x
        low, high = np.log2(most) - 24, np.log2(most) + 1   # too small, fits
        while high - low > 1e-3:
            middle = (low + high) / 2
            if (bits_of(np.round(rows / 2 ** middle)) + HEADER
                    <= budget * len(x)):
                high = middle
            else:
                low = middle
        return np.round(x / 2 ** high) * 2 ** high
    return rounded


def mx(exponent, mantissa):
    """Returns elements eEmMfn with the scale of OCP MX."""
    bias = 2 ** (exponent - 1) - 1
    codes = np.arange(2 ** (exponent + mantissa))
    e, m = codes >> mantissa, (codes & (2 ** mantissa - 1)) / 2 ** mantissa
    levels = np.where(e > 0, 1 + m, m) * 2.0 ** (np.maximum(e, 1) - bias)
    middles = (levels[1:] + levels[:-1]) / 2
    emax = np.floor(np.log2(levels[-1]))

    def rounded(x):
        rows = in_blocks(x, MX_BLOCK)
        most = np.abs(rows).max(axis=1, keepdims=True)
        scale = np.ldexp(1.0, np.frexp(most)[1] - 1) / 2 ** emax
        scaled = np.abs(rows) / np.where(most > 0, scale, 1)
        y = np.sign(rows) * levels[np.searchsorted(middles, scaled)] * scale
        return y.reshape(-1)[:len(x)]
    return rounded


def slices_of(n):
    """Returns the bounds of the ranks' slices, which may be empty."""
    length = -(-(-(-n // RANKS)) // GRANULE) * GRANULE
    return [min(n, rank * length) for rank in range(RANKS + 1)]


def nmse(tensor, rounded):
    """Returns the error of the sum of tensor[rank, value], reduced as `direct` does."""
    exact = tensor.sum(axis=0)
    error = 0.0
    bounds = slices_of(tensor.shape[1])
    for begin, end in zip(bounds, bounds[1:]):
        if begin < end:
            total = sum(rounded(x) for x in tensor[:, begin:end])
            error += ((rounded(total) - exact[begin:end]) ** 2).sum()
    return error / (exact ** 2).sum()


def read_tensors(prefix):
    """Returns arrays [rank, value], in the order of the records."""
    files = [open("%s.%d" % (prefix, rank), "rb") for rank in range(RANKS)]
    tensors = []
    while True:
        lengths = [np.fromfile(file, np.int64, 1) for file in files]
        if not len(lengths[0]):
            break
        tensors.append(np.stack([np.fromfile(file, np.float32, length[0])
                                 for file, length in zip(files, lengths)]
                                ).astype(float))
    for file in files:
        file.close()
    return tensors


def ways():
    """Yields (name, bits a value, rounding)."""
    for name, (exponent, mantissa) in MX.items():
        bits = 1 + exponent + mantissa + MX_SCALE / MX_BLOCK
        yield name, bits, mx(exponent, mantissa)
    for budget in BUDGETS:
        yield "widths/8", budget, fitted(width_bits, 8, budget)
        yield "widths/16", budget, fitted(width_bits, 16, budget)
        yield "rice/64", budget, fitted(rice_bits, 64, budget)


def main():
    folder = folder_given()
    rows = []
    for name in SETS:
        prefix, tensors = prepare(folder, name)
        some = read_tensors(prefix)[-3 * tensors:]
        for way, bits, rounded in ways():
            error = np.mean([nmse(tensor, rounded) for tensor in some])
            rows.append({"set": name, "code": way, "bits": bits,
                         "nmse": "%.4g" % error})
            print("%-12s %-10s %6.3f bits  %s" % (name, way, bits,
                                                 rows[-1]["nmse"]), flush=True)
    write_csv(os.path.join(folder, "allot.csv"), rows)


if __name__ == "__main__":
    main()
