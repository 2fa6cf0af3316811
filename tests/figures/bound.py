#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of all codes with 5 bits a value, compared with MXFP6 (6.25 bits):
bound.py FOLDER

writes FOLDER/bound.csv, a line for each recorded tensor, and prints the means of
each data set as a Markdown table. All errors are those of the sum of 8 ranks with
two roundings, of the contributions and of the sum: NMSE, |sum - exact|^2 over
|exact|^2. Bits are the mean of the two roundings', which divide the error between
them as costs least.

  set, layer, step
  mxfp6       NMSE of mx-e2m3fn or of mx-e3m2fn: the better on the data set
  bound/B     least NMSE at 5 bits if each run of B values is Gaussian noise whose
              variance is known for nothing: the rate-distortion function, with
              reverse water-filling over the tensor (Cover and Thomas, Elements of
              Information Theory, 10.3). It is a bound for codes that know of a
              value no more than its run's variance
  told/B      the same if the message tells the variances, to a power of two: their
              entropy, each given the run before it, is taken off the 5 bits
  scalar      bits of round(x / step) by a perfect entropy coder, at MXFP6's error
  context     the same if the coder also knows the magnitudes of the values before
  widths/8    NMSE of the code widths/8 of allot.py at 5 bits

Entropies are those of the data's own counts, which no coder knows beforehand:
they are bounds, too.
"""
import os

import numpy as np

from allot import fitted, in_blocks, mx, nmse, read_tensors, width_bits
from gradients import SETS, prepare
from output import folder_given, write_csv
from replay import RANKS

BITS = 5
MXFP6 = [mx(2, 3), mx(3, 2)]
RUNS = (8, 16, 32)              # values whose variance is known
STEPS = 3                       # the last recorded steps
NEAR = 40                       # values before, in a context
DECAY = 0.9                     # of their weights, each by the one behind it


def bisect(is_low, low, high):
    """Returns the number at which is_low becomes false."""
    for _ in range(50):
        middle = (low + high) / 2
        if is_low(middle):
            low = middle
        else:
            high = middle
    return low


def around(tensor):
    """Returns an exponent of 2 that is near any step or error of the tensor."""
    return np.log2((tensor ** 2).mean()) / 2


def variances(x, size):
    """Returns the variances of the runs of each row of x[row, value]."""
    return np.stack([(in_blocks(row, size) ** 2).mean(axis=1) for row in x])


def rate(v, error):
    """Returns bits a value of Gaussian noise of variances v, at this error."""
    return 0.5 * np.log2(np.maximum(v / error, 1)).mean()


def bound(tensor, size, bits):
    """Returns the least NMSE with runs of `size` values. The sum may have as much error
    as all contributions together: an error in either costs the same bits."""
    each = variances(tensor, size)
    total = variances(tensor.sum(axis=0)[None], size)

    def is_costly(exponent):
        error = 4.0 ** exponent
        return (rate(each, error) + rate(total, RANKS * error)) / 2 > bits
    error = 4.0 ** bisect(is_costly, around(tensor) - 40, around(tensor) + 10)
    left = (RANKS * np.minimum(each, error).mean()
            + np.minimum(total, RANKS * error).mean())
    return left / total.mean()


def entropy(symbols):
    """Returns bits a symbol, by their counts."""
    _, counts = np.unique(symbols, return_counts=True)
    share = counts / counts.sum()
    return -(share * np.log2(share)).sum()


def entropy_in(classes, symbols):
    """Returns bits a symbol whose class is known."""
    return sum(entropy(symbols[classes == c]) * np.mean(classes == c)
               for c in np.unique(classes))


def told(tensor, size):
    """Returns bits a value that encode the variances of the runs."""
    bits = []
    for x in tensor, tensor.sum(axis=0)[None]:
        v = variances(x, size)
        octaves = np.where(v > 0, np.round(np.log2(np.maximum(v, 1e-300)) / 2),
                           -1000)
        bits.append(entropy_in(octaves[:, :-1], octaves[:, 1:]) / size)
    return np.mean(bits)


def context(codes):
    """Returns for each code of codes[row, value] the weighted mean magnitude of
    those before it, in steps of half a power of two."""
    near, weights = np.zeros(codes.shape), np.zeros(codes.shape[1])
    for k in range(1, min(NEAR, codes.shape[1] - 1) + 1):
        near[:, k:] += DECAY ** k * np.abs(codes[:, :-k])
        weights[k:] += DECAY ** k
    return np.round(2 * np.log2(near / np.maximum(weights, DECAY ** NEAR) + 0.1))


def plain(codes):
    return entropy(codes)


def in_context(codes):
    return entropy_in(context(codes), codes)


def scalar_codes(tensor, wanted):
    """Returns codes of the contributions and of their sum, with this NMSE. The squared
    step of the sum is that of all contributions together, as in bound()."""
    exact = tensor.sum(axis=0)

    def codes(exponent):
        step = 2.0 ** exponent
        each = np.round(tensor / step)
        wide = step * RANKS ** 0.5
        return each, np.round(each.sum(axis=0) * step / wide)[None], wide

    def is_exact(exponent):
        _, total, wide = codes(exponent)
        error = ((total[0] * wide - exact) ** 2).sum()
        return error < wanted * (exact ** 2).sum()
    return codes(bisect(is_exact, around(tensor) - 20, around(tensor) + 2))[:2]


def scalar(tensor, wanted, bits_of):
    """Returns bits of a value of the codes, by plain() or in_context()."""
    return np.mean([bits_of(codes) for codes in scalar_codes(tensor, wanted)])


def row_of(tensor, mxfp6):
    """Returns the numbers of one tensor, by column."""
    row = {"mxfp6": mxfp6}
    for size in RUNS:
        row["bound/%d" % size] = bound(tensor, size, BITS)
    for size in RUNS:
        row["told/%d" % size] = bound(tensor, size, BITS - told(tensor, size))
    row["scalar"] = scalar(tensor, mxfp6, plain)
    row["context"] = scalar(tensor, mxfp6, in_context)
    row["widths/8"] = nmse(tensor, fitted(width_bits, 8, BITS))
    return row


def rows_of(folder, name):
    """Yields the CSV's rows of one data set, as dictionaries of numbers."""
    prefix, tensors = prepare(folder, name)
    some = read_tensors(prefix)[-STEPS * tensors:]
    errors = min(([nmse(tensor, rounded) for tensor in some]
                  for rounded in MXFP6), key=np.mean)
    for i, (tensor, error) in enumerate(zip(some, errors)):
        yield {"set": name, "layer": i % tensors, "step": i // tensors,
               **row_of(tensor, error)}


def main():
    folder = folder_given()
    rows = []
    for name in SETS:
        mine = list(rows_of(folder, name))
        columns = list(mine[0])[3:]
        if not rows:
            print("| set | %s |\n|---%s|" % (" | ".join(columns),
                                            "|---" * len(columns)))
        means = [np.mean([row[column] for row in mine]) for column in columns]
        print("| %s | %s |" % (name, " | ".join("%.3g" % m for m in means)),
              flush=True)
        rows += mine
    write_csv(os.path.join(folder, "bound.csv"),
              [{key: "%.4g" % value if isinstance(value, float) else value
                for key, value in row.items()} for row in rows])


if __name__ == "__main__":
    main()
