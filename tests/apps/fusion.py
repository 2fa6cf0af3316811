#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""digits.py with the calls of Horovod: gradients are ready in the order of the backward
pass, and those that are ready when a cycle ends are copied into one buffer, which
one MPI_Allreduce sums. Their number depends on time; rank 0 sends it to the other
ranks, as Horovod's coordinator does. Here a random number replaces time, so that the
calls of two steps seldom have the same sizes.

HOROVOD_FUSION_THRESHOLD is the size of the buffer in bytes, as in Horovod; with
0 each gradient has a call of its own.
"""
import os
import sys

import digits
import numpy as np
from digits import comm, rank
from mpi4py import MPI

THRESHOLD = int(os.environ.get("HOROVOD_FUSION_THRESHOLD", 64 << 20))

chance = np.random.default_rng()


def cycles(grads):
    """Returns the runs of gradients, in backward order: rank 0 decides."""
    runs, run, size = [], [], 0
    for index in reversed(range(len(grads))):
        size += grads[index].nbytes
        if run and (size > THRESHOLD or chance.random() < 0.5):
            runs.append(run)
            run, size = [], grads[index].nbytes
        run.append(index)
    return runs + [run]


def sum_fused(grads):
    for run in comm.bcast(cycles(grads) if rank == 0 else None):
        buffer = np.concatenate([grads[index].ravel() for index in run])
        comm.Allreduce(MPI.IN_PLACE, buffer, op=MPI.SUM)
        first = 0
        for index in run:
            grad = grads[index]
            grad[...] = buffer[first:first + grad.size].reshape(grad.shape)
            first += grad.size


if __name__ == "__main__":
    sys.exit(digits.main(sum_fused))
