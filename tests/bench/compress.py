#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares PowerSGD's products and orthogonalisation with NumPy's BLAS, on one core.

    python3 tests/bench/compress.py tests/bench/compress

Runs the bench's part lowrank and, in the same minute, NumPy's products of the same
shapes (with factors row by row and column by column; the faster counts). Prints GB/s
of the matrix's elements: the library's, NumPy's, the ratio. For P's
orthogonalisation in FP64 it prints microseconds, and those of LAPACK's QR (dgeqrf,
dorgqr) or Gram-Schmidt by dgemv, whichever is faster. Needs NumPy.
"""
import os
import subprocess
import sys
import time

for name in ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"]:
    os.environ[name] = "1"  # read when NumPy is loaded

import numpy  # noqa: E402

RUNS = 7
WAYS = ["left", "right", "restore"]


def best(product, times):
    """Seconds of the fastest run."""
    fastest = float("inf")
    for _ in range(RUNS):
        start = time.thread_time()
        for _ in range(times):
            product()
        fastest = min(fastest, (time.thread_time() - start) / times)
    return fastest


def by_lapack(p):
    return numpy.linalg.qr(p.astype(numpy.float64))[0].astype(numpy.float32)


def by_gram_schmidt(p):
    x = numpy.array(p, dtype=numpy.float64, order="F")
    for k in range(x.shape[1]):
        column, before = x[:, k], x[:, :k]
        if k > 0:
            column -= before @ (column @ before)
        column /= numpy.sqrt(column @ column)
    return x.astype(numpy.float32)


def orthogonalised(rows, rank):
    """Microseconds."""
    p = numpy.random.default_rng(1).standard_normal((rows, rank),
                                                    dtype=numpy.float32)
    return 1e6 * min(best(lambda: way(p), 20)
                     for way in (by_lapack, by_gram_schmidt))


def blas(rows, columns, rank):
    """GB/s by way."""
    random = numpy.random.default_rng(1)
    m = random.standard_normal((rows, columns), dtype=numpy.float32)
    p = random.standard_normal((rows, rank), dtype=numpy.float32)
    q = random.standard_normal((columns, rank), dtype=numpy.float32)
    out = numpy.empty((rows, columns), dtype=numpy.float32)
    times = 100 if m.size < 100000 else 1
    seconds = dict.fromkeys(WAYS, float("inf"))
    for order in "CF":
        a, b = numpy.array(p, order=order), numpy.array(q, order=order)
        products = {"left": lambda: numpy.dot(m, b),
                    "right": lambda: numpy.dot(m.T, a),
                    "restore": lambda: numpy.dot(a, b.T, out=out)}
        for way, product in products.items():
            seconds[way] = min(seconds[way], best(product, times))
    return {way: 1e-9 * m.nbytes / s for way, s in seconds.items()}


def main():
    lines = subprocess.run([sys.argv[1], "lowrank"], check=True,
                           stdout=subprocess.PIPE,
                           universal_newlines=True).stdout.splitlines()
    names = lines[1].split()[3:]
    print(lines[0] + "; with NumPy's BLAS")
    print("  rows   cols rank" + "".join(
        " %8s %8s %6s" % (way, "BLAS", "ratio")
        for way in WAYS + ["orth."]))
    for line in lines[2:]:
        rows, _, columns, rank, *values = line.split()
        ours = dict(zip(names, map(float, values)))
        theirs = blas(int(rows), int(columns), int(rank))
        lapack = orthogonalised(int(rows), int(rank))
        print("  %4s x %-4s %4s" % (rows, columns, rank) + "".join(
            " %8.2f %8.2f %6.2f" % (ours[way], theirs[way],
                                    ours[way] / theirs[way])
            for way in WAYS) + " %8.1f %8.1f %6.2f" % (
                ours["orthogonal"], lapack, lapack / ours["orthogonal"]))


if __name__ == "__main__":
    main()
