# SPDX-License-Identifier: BSD-3-Clause
"""Solves a Poisson equation on a line by conjugate gradients, through mpi4py; prints
the steps, the residual and a hash of this job's solution."""

import hashlib

import numpy as np
from mpi4py import MPI

COUNT = 200  # unknowns of each rank
TOLERANCE = 1e-10

comm = MPI.COMM_WORLD
before = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
after = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL


def dot(x, y):
    """Returns the product of two vectors of all ranks."""
    total = np.empty(1)
    comm.Allreduce(np.array([x @ y]), total)
    return total[0]


def applied(x):
    """Returns A x: twice each value, minus its neighbours'."""
    padded = np.zeros(COUNT + 2)
    padded[1:-1] = x
    comm.Sendrecv(x[-1:], after, recvbuf=padded[:1], source=before)
    comm.Sendrecv(x[:1], before, recvbuf=padded[-1:], source=after)
    return 2 * x - padded[:-2] - padded[2:]


def solve(right):
    x = np.zeros(COUNT)
    residual = right.copy()
    direction = residual.copy()
    now = first = dot(residual, residual)
    for step in range(4 * COUNT * comm.size):
        image = applied(direction)
        length = now / dot(direction, image)
        x += length * direction
        residual -= length * image
        last, now = now, dot(residual, residual)
        if now <= TOLERANCE**2 * first:
            return x, step + 1, np.sqrt(now / first)
        direction = residual + now / last * direction
    return x, 0, np.sqrt(now / first)


x, steps, left = solve(np.random.default_rng(comm.rank).standard_normal(COUNT))
parts = comm.gather(x)
if comm.rank == 0:
    print("converged" if steps > 0 else "diverged", steps, left.hex(),
          hashlib.sha256(np.concatenate(parts).tobytes()).hexdigest())
