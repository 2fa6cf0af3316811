#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times numpy's introselect on |x| of the data of compress_select.c, and one read of
|x|: shortest of several runs, in ms. std::nth_element is an introselect, too.

    compress_select.py [FLOATS]
"""

import sys
import time

import numpy as np

DENSITY = 0.01
RUNS = 5


def data(n):
    """Products of three numbers of -1 to 1, as in compress_select.c."""
    bits = np.random.default_rng(1).integers(-2**31, 2**31, (3, n))
    return (bits * 2.0**-31).prod(axis=0).astype(np.float32)


def shortest(run):
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best * 1e3


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 26843545
    x = data(n)
    k = max(1, int(DENSITY * n))
    rows = [("max |x|", lambda: np.abs(x).max()),
            ("numpy.partition of |x|",
             lambda: np.partition(np.abs(x), n - k))]
    print(f"{n} floats, {k} selected, numpy {np.__version__}: "
          "shortest run in ms")
    for name, run in rows:
        print(f"  {name:32} {shortest(run):9.3f}")


if __name__ == "__main__":
    main()
