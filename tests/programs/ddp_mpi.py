#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""DistributedDataParallel whose gradients MPI sums, by the hook of apsmpi-recipes(7)."""
import os
import tempfile

import numpy as np
import torch
from mpi4py import MPI

import training
from ddp_gloo import train
from torch_network import Network


def average(comm, bucket):
    """A hook of DistributedDataParallel: averages over the ranks of comm."""
    gradients = bucket.buffer()
    comm.Allreduce(MPI.IN_PLACE, gradients)
    done = torch.futures.Future()
    done.set_result(gradients.div_(comm.size))
    return done


def main():
    comm = MPI.COMM_WORLD
    opt = training.options()
    if opt.save and comm.rank == 0:
        np.savez(opt.save, **{name: values.numpy() for name, values in
                              Network(opt.hidden).state_dict().items()})
    with tempfile.TemporaryDirectory() as folder:
        meeting = comm.bcast(os.path.join(folder, "meeting"))
        train(opt, comm.rank, comm.size, meeting, average, comm)
        comm.Barrier()


if __name__ == "__main__":
    main()
