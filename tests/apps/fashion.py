#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training with PyTorch and mpi4py: a small convolutional network
(two convolutions, two linear layers; 105,866 parameters) learns Fashion-MNIST.

PyTorch's own distributed package is not used: after the backward pass each
gradient goes through one MPI_Allreduce (float, sum, in place), first layer
first. With `--sum rank-order` gradients are gathered and added up in the order
of the ranks instead, to compare with an FP32 sum in that order.
"""
import os

# Many ranks share a machine: one thread for each, set before torch starts.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import gzip
import sys

import numpy as np
import torch
from mpi4py import MPI
from torch import nn

DATA = "/usr/share/datasets/fashion-mnist"  # Debian: dataset-fashion-mnist

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


def parse_options():
    parser = argparse.ArgumentParser(description="train on images of clothes")
    parser.add_argument("--data", metavar="FOLDER", default=DATA,
                        help="where Fashion-MNIST's four files are "
                        "(default: %(default)s)")
    parser.add_argument("--images", type=int, default=6000, metavar="N",
                        help="how many of the 60,000 are learnt")
    parser.add_argument("--epochs", type=int, default=3, metavar="N")
    parser.add_argument("--batch", type=int, default=128, metavar="N",
                        help="images in one step, over all ranks")
    parser.add_argument("--lr", type=float, default=0.02, metavar="X")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--sum", choices=("mpi", "rank-order"), default="mpi")
    opt = parser.parse_args()
    if min(opt.images, opt.epochs, opt.batch) < 1 or opt.images < opt.batch:
        parser.error("--images, --epochs and --batch must be 1 or more, and a "
                     "batch not more than the images")
    return opt


def read_idx(folder, name, head, count):
    """Returns the first `count` items of one of the set's files, as bytes."""
    path = os.path.join(folder, name)
    try:
        with gzip.open(path) as file:
            data = np.frombuffer(file.read(), np.uint8)
    except (OSError, EOFError) as error:
        raise ValueError(f"{path}: {error}") from None
    size = 784 if head == 16 else 1
    if len(data) < head + count * size:
        raise ValueError(f"{path}: ends too early")
    return data[head:head + count * size].reshape(count, size)


def read_set(folder, kind, count):
    """Returns images (count, 1, 28, 28), of mean 0 and deviation 1, and labels."""
    images = read_idx(folder, f"{kind}-images-idx3-ubyte.gz", 16, count)
    labels = read_idx(folder, f"{kind}-labels-idx1-ubyte.gz", 8, count)
    x = (images.astype(np.float32) / 255 - 0.2860) / 0.3530
    return (torch.from_numpy(x.reshape(count, 1, 28, 28)),
            torch.from_numpy(labels[:, 0].astype(np.int64)))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 7 * 7, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def sum_by_mpi(gradient):
    comm.Allreduce(MPI.IN_PLACE, gradient, op=MPI.SUM)


def sum_in_rank_order(gradient):
    every = np.empty((ranks,) + gradient.shape, np.float32)
    comm.Allgather(gradient, every)
    gradient[...] = every[0]
    for other in every[1:]:
        gradient += other


def accuracy(model, x, label):
    """Returns per cent of the test images, over all ranks."""
    with torch.no_grad():
        hit = (model(x[rank::ranks]).argmax(1) == label[rank::ranks]).sum()
    right = np.array([int(hit)], np.int32)
    comm.Allreduce(MPI.IN_PLACE, right, op=MPI.SUM)
    return 100.0 * right[0] / len(label)


def train(opt):
    learn_x, learn_label = read_set(opt.data, "train", opt.images)
    test_x, test_label = read_set(opt.data, "t10k", 2000)
    torch.manual_seed(opt.seed)
    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9)
    add_up = sum_by_mpi if opt.sum == "mpi" else sum_in_rank_order
    for epoch in range(1, opt.epochs + 1):
        order = torch.randperm(opt.images)      # the same on all ranks
        loss = np.zeros(1)
        for first in range(0, opt.images - opt.batch + 1, opt.batch):
            share = order[first + rank:first + opt.batch:ranks]
            part = nn.functional.cross_entropy(
                model(learn_x[share]), learn_label[share], reduction="sum")
            part = part / opt.batch
            optimizer.zero_grad()
            part.backward()
            for parameter in model.parameters():
                add_up(parameter.grad.numpy())
            optimizer.step()
            loss += float(part)
        comm.Allreduce(MPI.IN_PLACE, loss, op=MPI.SUM)
        score = accuracy(model, test_x, test_label)
        if rank == 0:
            print(f"epoch {epoch:2d}  loss "
                  f"{loss[0] / (opt.images // opt.batch):.9f}  "
                  f"test accuracy {score:.2f} %", flush=True)
    return model


def same_everywhere(model):
    bits = torch.cat([p.detach().flatten() for p in model.parameters()])
    mine = bits.numpy().tobytes()
    return all(comm.allgather(comm.bcast(mine) == mine))


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        model = train(parse_options())
    except ValueError as error:
        print(f"fashion.py: {error}", file=sys.stderr)
        return 2
    except SystemExit as stop:
        return stop.code
    if same_everywhere(model):
        return 0
    if rank == 0:
        print("replicas DIFFER")
    return 1


if __name__ == "__main__":
    sys.exit(main())
