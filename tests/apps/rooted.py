#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""digits.py with sums on one rank: rank 0 sums the gradients of a step and
broadcasts the sums.
"""
import sys

import digits
import numpy as np
from digits import comm, rank
from mpi4py import MPI


def sum_rooted(grads):
    buffer = np.concatenate([grad.ravel() for grad in grads])
    sums = np.empty_like(buffer)
    comm.Reduce(buffer, sums if rank == 0 else None, op=MPI.SUM, root=0)
    comm.Bcast(sums, root=0)
    first = 0
    for grad in grads:
        grad[...] = sums[first:first + grad.size].reshape(grad.shape)
        first += grad.size


if __name__ == "__main__":
    sys.exit(digits.main(sum_rooted))
