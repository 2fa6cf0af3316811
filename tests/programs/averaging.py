#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Parameter averaging with mpi4py: each rank trains alone, and ranks average their
weights, not their gradients. With --changes they sum how far the weights went.
"""
import sys

import numpy as np
from mpi4py import MPI

import training

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
changes = "--changes" in sys.argv
table = np.loadtxt(sys.argv[1], delimiter=",", dtype=np.float32)
x, label = table[:, :-1] / 16, table[:, -1].astype(int)
draw = np.random.default_rng(1)
order = draw.permutation(len(x))
learn, test = order[:-360], order[-360:]
weights = [draw.normal(0, 0.15, (64, 64)).astype(np.float32),
           draw.normal(0, 0.15, (64, 10)).astype(np.float32)]

clock = training.Clock()
for epoch in range(20):
    learn = draw.permutation(learn)
    for first in range(0, len(learn) - 127, 128):
        mine = learn[first + rank:first + 128:ranks]
        before = [w.copy() for w in weights]
        hidden = np.maximum(x[mine] @ weights[0], 0)
        out = np.exp(hidden @ weights[1])
        error = out / out.sum(1, keepdims=True)
        error[np.arange(len(mine)), label[mine]] -= 1
        back = (error @ weights[1].T) * (hidden > 0)
        weights[1] -= 0.2 / len(mine) * hidden.T @ error
        weights[0] -= 0.2 / len(mine) * x[mine].T @ back
        for w, b in zip(weights, before):
            base = b if changes else 0
            total = np.ascontiguousarray(w - base)
            comm.Allreduce(MPI.IN_PLACE, total)
            w[...] = base + total / ranks
        clock.step()

hit = (np.maximum(x[test] @ weights[0], 0) @ weights[1]).argmax(1) == label[test]
training.finish(rank, clock, hit.mean(), weights)
