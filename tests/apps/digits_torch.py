#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training with PyTorch and mpi4py, on the data of digits.c:
PyTorch computes the gradients, mpi4py sums them in the memory of PyTorch's
tensors, the first layer first. PyTorch needs no MPI of its own for that.
"""
import argparse
import os
import sys

import numpy as np
import torch
from mpi4py import MPI

TEST_IMAGES = 360

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


def parse_options():
    parser = argparse.ArgumentParser(description="train on handwritten digits")
    folder = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--data", metavar="FILE",
                        default=os.path.join(folder, "digits.csv"))
    parser.add_argument("--epochs", type=int, default=20, metavar="N")
    parser.add_argument("--batch", type=int, default=128, metavar="N")
    parser.add_argument("--lr", type=float, default=0.2, metavar="X")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--save", metavar="FILE.npz",
                        help="save the parameters at the end, with their names")
    return parser.parse_args()


def sum_over_ranks(tensor):
    comm.Allreduce(MPI.IN_PLACE, tensor.numpy(), op=MPI.SUM)


def main():
    opt = parse_options()
    torch.set_num_threads(1)
    torch.manual_seed(opt.seed)  # the same weights on all ranks
    table = np.loadtxt(opt.data, delimiter=",", dtype=np.float32)
    x = torch.from_numpy(table[:, :-1] / 16)
    label = torch.from_numpy(table[:, -1].astype(np.int64))
    order = torch.randperm(len(x))
    learn, test = order[:-TEST_IMAGES], order[-TEST_IMAGES:]

    model = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64),
        torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), opt.lr, momentum=0.9)
    losses = torch.nn.CrossEntropyLoss(reduction="sum")
    for epoch in range(1, opt.epochs + 1):
        learn = learn[torch.randperm(len(learn))]
        total = np.zeros(1)
        steps = len(learn) // opt.batch
        for step in range(steps):
            share = learn[step * opt.batch + rank:(step + 1) * opt.batch:ranks]
            optimizer.zero_grad()
            loss = losses(model(x[share]), label[share])
            (loss / opt.batch).backward()
            for parameter in model.parameters():
                sum_over_ranks(parameter.grad)
            optimizer.step()
            total += loss.item()
        comm.Allreduce(MPI.IN_PLACE, total)
        with torch.no_grad():
            right = (model(x[test]).argmax(1) == label[test]).float().mean()
        if rank == 0:
            print("epoch %d loss %.9g test %.2f%%"
                  % (epoch, total[0] / (steps * opt.batch), 100 * right),
                  flush=True)

    weights = torch.cat([p.detach().ravel() for p in model.parameters()])
    equal = len(set(comm.allgather(weights.numpy().tobytes()))) == 1
    if rank == 0:
        print("replicas", "equal" if equal else "DIFFER", flush=True)
        if opt.save:
            np.savez(opt.save, **{name: values.detach().numpy()
                     for name, values in model.named_parameters()})
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
