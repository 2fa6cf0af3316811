#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of a small model with PyTorch and mpi4py: train.py --help.

PyTorch's own distributed package is not used: after the backward pass each gradient
goes through one MPI_Allreduce (float, sum, in place), first layer first, and is then
divided by the number of ranks. Rank 0 prints a CSV, a line for each seed and epoch:
the mean loss of the epoch, and the task's scores on data that is not learnt.
"""
import os

# Many ranks share a machine: one thread for each, set before torch starts.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import hashlib
import sys

import numpy as np
import torch
from mpi4py import MPI

from tasks import TASKS

SHUFFLE = 1000      # training s: weights from seed s, batches from SHUFFLE * s


def fill_defaults(options):
    """Sets what is not given to the task's default."""
    for name, value in TASKS[options.task].defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--seeds", default="1", metavar="LIST",
                        help="such as 1,2,5: a training for each, one after the other")
    parser.add_argument("--epochs", type=int, metavar="N")
    parser.add_argument("--batch", type=int, metavar="N",
                        help="examples in one step, over all ranks")
    parser.add_argument("--examples", type=int, metavar="N", help="how many are learnt")
    parser.add_argument("--rate", type=float, metavar="X",
                        help="greatest learning rate: it rises to it in the first "
                        "tenth of the steps, and falls to zero in the others")
    parser.add_argument("--save", metavar="FILE",
                        help="write the initial weights to FILE.npz, print the number "
                        "of steps of an epoch, and end")
    options = parser.parse_args()
    fill_defaults(options)
    if min(options.epochs, options.batch, options.examples) < 1 or \
            options.batch > options.examples:
        parser.error("--epochs, --batch and --examples must be 1 or more, and a batch "
                     "not more than the examples")
    return options


def schedule(step, steps):
    """Returns the factor of the learning rate."""
    warm = max(1, steps // 10)
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm), 1)


def train(task, options, seed, comm):
    """Yields the mean loss of each epoch, and the model."""
    torch.manual_seed(seed)
    model = task.model()
    optimizer = task.optimizer(model, options.rate)
    draw = np.random.default_rng(SHUFFLE * seed)
    rank, ranks = comm.Get_rank(), comm.Get_size()
    each = options.examples // options.batch
    step, steps = 0, options.epochs * each
    for _ in range(options.epochs):
        model.train()
        order = draw.permutation(options.examples)
        total = np.zeros(1)
        for first in range(0, each * options.batch, options.batch):
            share = order[first + rank:first + options.batch:ranks]
            loss = task.loss(model, torch.from_numpy(share))
            optimizer.zero_grad()
            loss.backward()
            for parameter in model.parameters():
                comm.Allreduce(MPI.IN_PLACE, parameter.grad.numpy(), op=MPI.SUM)
                parameter.grad /= ranks
            for group in optimizer.param_groups:
                group["lr"] = options.rate * schedule(step, steps)
            optimizer.step()
            step += 1
            total += loss.item()
        comm.Allreduce(MPI.IN_PLACE, total, op=MPI.SUM)
        yield total[0] / (each * ranks), model


def average_statistics(model, comm):
    """Running means and variances of batch normalisation differ from rank to rank;
    averages of them are taken in FP64, as one array."""
    buffers = [b for b in model.buffers() if b.is_floating_point()]
    if not buffers:
        return
    flat = torch.cat([b.double().flatten() for b in buffers]).numpy()
    comm.Allreduce(MPI.IN_PLACE, flat, op=MPI.SUM)
    flat = torch.from_numpy(flat / comm.Get_size())
    for buffer, mean in zip(buffers, flat.split([b.numel() for b in buffers])):
        buffer.copy_(mean.reshape(buffer.shape))


def same_everywhere(model, comm):
    weights = torch.cat([p.detach().flatten() for p in model.parameters()]).numpy()
    digests = comm.allgather(hashlib.sha256(weights.tobytes()).digest())
    return len(set(digests)) == 1


def run(task, options, seed, world):
    """Trains and prints. Returns True if all ranks end with the same weights."""
    comm = world.Dup()      # new: no scale or memory of the training before
    for epoch, (loss, model) in enumerate(train(task, options, seed, comm), 1):
        average_statistics(model, comm)
        model.eval()
        with torch.no_grad():
            counts = task.count(model, comm.Get_rank(), comm.Get_size())
        comm.Allreduce(MPI.IN_PLACE, counts, op=MPI.SUM)
        if comm.Get_rank() == 0:
            print(f"{seed},{epoch},{loss:.6g},"
                  + ",".join(f"{score:.4f}" for score in task.scores(counts)), flush=True)
    same = same_everywhere(model, comm)
    comm.Free()
    return same


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    options = parse_options()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    world = MPI.COMM_WORLD
    try:
        task = TASKS[options.task](options)
    except (OSError, ValueError) as error:
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    if options.save:
        np.savez(options.save, **{name: p.detach().numpy() for name, p in
                                  task.model().named_parameters()})
        print(options.examples // options.batch)
        return 0
    if world.Get_rank() == 0:
        print("seed,epoch,loss," + ",".join(task.names))
    for seed in seeds:
        if not run(task, options, seed, world):
            if world.Get_rank() == 0:
                print("train.py: the ranks end with different weights",
                      file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
