#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training with PyTorch and Horovod, on the data of digits.c:
Horovod sums the gradients during the backward pass, the last layer first, and
fuses those that are ready.
"""
import argparse
import os
import sys

import horovod.torch as hvd
import numpy as np
import torch

TEST_IMAGES = 360


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(64, 64)
        self.fc2 = torch.nn.Linear(64, 64)
        self.fc3 = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return self.fc3(x)


def parse_options():
    parser = argparse.ArgumentParser(description="train on handwritten digits")
    folder = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--data", metavar="FILE",
                        default=os.path.join(folder, "digits.csv"))
    parser.add_argument("--epochs", type=int, default=20, metavar="N")
    parser.add_argument("--batch", type=int, default=128, metavar="N")
    parser.add_argument("--lr", type=float, default=0.2, metavar="X")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    return parser.parse_args()


def main():
    opt = parse_options()
    hvd.init()
    rank, ranks = hvd.rank(), hvd.size()
    torch.set_num_threads(1)
    torch.manual_seed(opt.seed)  # the same order of images on all ranks
    table = np.loadtxt(opt.data, delimiter=",", dtype=np.float32)
    x = torch.from_numpy(table[:, :-1] / 16)
    label = torch.from_numpy(table[:, -1].astype(np.int64))
    order = torch.randperm(len(x))
    learn, test = order[:-TEST_IMAGES], order[-TEST_IMAGES:]

    model = Network()
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), opt.lr, momentum=0.9),
        named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    losses = torch.nn.CrossEntropyLoss(reduction="sum")
    for epoch in range(1, opt.epochs + 1):
        learn = learn[torch.randperm(len(learn))]
        total = 0.0
        steps = len(learn) // opt.batch
        for step in range(steps):
            share = learn[step * opt.batch + rank:(step + 1) * opt.batch:ranks]
            optimizer.zero_grad()
            loss = losses(model(x[share]), label[share])
            # Horovod divides the sum of the ranks by their number.
            (loss * ranks / opt.batch).backward()
            optimizer.step()
            total += loss.item()
        total = hvd.allreduce(torch.tensor([total], dtype=torch.float64),
                              op=hvd.Sum, name="loss").item()
        with torch.no_grad():
            right = (model(x[test]).argmax(1) == label[test]).float().mean()
        if rank == 0:
            print("epoch %d loss %.9g test %.2f%%"
                  % (epoch, total / (steps * opt.batch), 100 * right),
                  flush=True)

    weights = torch.cat([p.detach().ravel() for p in model.parameters()])
    replicas = hvd.allgather(weights[None], name="weights")
    equal = bool((replicas == replicas[0]).all())
    if rank == 0:
        print("replicas", "equal" if equal else "DIFFER", flush=True)
    hvd.shutdown()
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
