# SPDX-License-Identifier: BSD-3-Clause
"""Sums through mpi4py, blocking or (`sums.py nonblocking`) nonblocking; prints
whether all are exact, and the number of calls on large FP32 sums."""

import sys

import numpy as np
from mpi4py import MPI


def fill(comm, count=4096):
    values = np.arange(count, dtype=np.float32) % 7 / 8
    total = comm.size * values + np.float32(comm.size * (comm.size + 1) / 2)
    return values + np.float32(comm.rank + 1), total


def blocking(comm):
    values, total = fill(comm)
    result = np.zeros_like(values)
    comm.Allreduce(values, result)
    comm.Allreduce(MPI.IN_PLACE, values, op=MPI.SUM)
    matrix = fill(comm)[0].reshape(64, 64)
    comm.Allreduce(MPI.IN_PLACE, [matrix, MPI.FLOAT], op=MPI.SUM)
    double = np.ones(4096)
    comm.Allreduce(MPI.IN_PLACE, double)
    most = np.full(4096, comm.rank, dtype=np.float32)
    comm.Allreduce(MPI.IN_PLACE, most, op=MPI.MAX)
    good = (
        np.array_equal(values, total)
        and np.array_equal(result, total)
        and np.array_equal(matrix.ravel(), total)
        and (double == comm.size).all()
        and (most == comm.size - 1).all()
        and comm.allreduce({"a": 1}["a"]) == comm.size
    )
    return good, 3


def nonblocking(comm):
    first, total = fill(comm)
    second, result = fill(comm)[0], np.zeros_like(first)
    requests = [
        comm.Iallreduce(MPI.IN_PLACE, first),
        comm.Iallreduce(second, result),
    ]
    MPI.Request.Waitall(requests)
    return np.array_equal(first, total) and np.array_equal(result, total), 2


def main():
    reduce = nonblocking if "nonblocking" in sys.argv else blocking
    world = MPI.COMM_WORLD
    good, calls = True, 0
    copy = world.Dup()
    half = world.Split(world.rank % 2)
    for comm in world, copy, half, world:
        right, made = reduce(comm)
        good &= right
        calls += made if comm.size > 1 else 0
    half.Free()
    copy.Free()
    all_good = world.allreduce(bool(good), op=MPI.LAND)
    if world.rank == 0:
        print("right" if all_good else "WRONG", calls, "calls")


main()
