#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of bf16 (arrays of ml_dtypes) or fp16 with mpi4py, on MPICH 5, whose
MPIX_BFLOAT16 has no name in mpi4py yet: a network of two layers learns digits.

    sums_16.py DIGITS.csv bf16|fp16|float
"""
import sys

import ml_dtypes
import numpy as np
from mpi4py import MPI

import training

MPIX_BFLOAT16 = 0x4c00024c  # of MPICH's mpi.h
comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
dtype, bits, mpi = {
    "bf16": (ml_dtypes.bfloat16, np.uint16, MPI.Datatype.fromhandle(MPIX_BFLOAT16)),
    "fp16": (np.float16, np.uint16, MPI.FLOAT16_T),
    "float": (np.float32, np.uint32, MPI.FLOAT)}[sys.argv[2]]
table = np.loadtxt(sys.argv[1], delimiter=",", dtype=np.float32)
x, label = table[:, :-1] / 16, table[:, -1].astype(int)
draw = np.random.default_rng(1)
order = draw.permutation(len(x))
learn, test = order[:-360], order[-360:]
weights = [draw.normal(0, 0.15, (64, 64)).astype(np.float32),
           draw.normal(0, 0.15, (64, 32)).astype(np.float32)]  # 10 classes are used


def mean(gradient):
    total = np.ascontiguousarray(gradient / ranks).astype(dtype)
    comm.Allreduce(MPI.IN_PLACE, [total.view(bits), mpi], MPI.SUM)
    return total.astype(np.float32)


clock = training.Clock()
for epoch in range(20):
    learn = draw.permutation(learn)
    for first in range(0, len(learn) - 127, 128):
        mine = learn[first + rank:first + 128:ranks]
        hidden = np.maximum(x[mine] @ weights[0], 0)
        out = np.exp(hidden @ weights[1])
        error = out / out.sum(1, keepdims=True)
        error[np.arange(len(mine)), label[mine]] -= 1
        error /= len(mine)
        back = (error @ weights[1].T) * (hidden > 0)
        weights[1] -= 0.2 * mean(hidden.T @ error)
        weights[0] -= 0.2 * mean(x[mine].T @ back)
        clock.step()

hit = (np.maximum(x[test] @ weights[0], 0) @ weights[1]).argmax(1) == label[test]
training.finish(rank, clock, hit.mean(), weights)
