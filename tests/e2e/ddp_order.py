#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains models with PyTorch's DistributedDataParallel on one rank, and writes for
each what it sums: MODEL.npz, its weights, and MODEL.calls, one line for each call
of the first two steps: the step, and the names of the gradients. MODEL.csv is the
table that the recipe's function write_table writes.

    ddp_order.py RECIPE.py

Prints SKIP and a reason where PyTorch has no DistributedDataParallel."""

import os
import sys

try:
    import numpy as np
    import torch
    from torch import nn
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
        allreduce_hook)
    from torch.nn.parallel import DistributedDataParallel
except ImportError as error:
    sys.exit(print("SKIP %s" % error))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.fc1, self.fc2 = nn.Linear(32 * 24 * 24, 256), nn.Linear(256, 10)

    def forward(self, x):
        x = self.conv2(torch.relu(self.bn1(self.conv1(x))))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(4, 8, 3, padding=1, bias=False), \
            nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), \
            nn.BatchNorm2d(8)
        self.down = nn.Sequential(nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8))
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return self.fc((y + self.down(x)).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(50, 8), nn.LSTM(8, 16, 2)
        self.norm, self.out = nn.LayerNorm(16), nn.Linear(16, 50)

    def forward(self, x):
        return self.out(self.norm(self.lstm(self.embedding(x))[0]))


MODELS = {
    "convolutions": (Convolutions, torch.randn(2, 1, 28, 28)),
    "residual": (Residual, torch.randn(2, 4, 8, 8)),
    "recurrent": (Recurrent, torch.randint(0, 50, (5, 2))),
}


def observe(name, model, data):
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    parallel = DistributedDataParallel(model, bucket_cap_mb=1)
    step = 0
    with open(name + ".calls", "w", encoding="utf-8") as stream:
        def hook(state, bucket):
            stream.write("%d %s\n" % (step, " ".join(
                names[id(parameter)] for parameter in bucket.parameters())))
            return allreduce_hook(state, bucket)

        parallel.register_comm_hook(None, hook)
        for step in range(2):
            parallel(data).sum().backward()
    np.savez(name + ".npz", **{name: value.numpy()
                               for name, value in model.state_dict().items()})


def main():
    if not torch.distributed.is_available():
        sys.exit(print("SKIP this PyTorch has no torch.distributed"))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    recipe = {"torch": torch}
    with open(sys.argv[1], encoding="utf-8") as source:
        exec(source.read(), recipe)     # the code of the manual page
    torch.distributed.init_process_group(
        "gloo", init_method="file://" + os.path.abspath("rendezvous"), rank=0,
        world_size=1)
    for name, (make, data) in MODELS.items():
        model = make()
        observe(name, model, data)
        parallel = DistributedDataParallel(model, bucket_cap_mb=1)
        recipe["write_table"](parallel, name + ".csv")
        for _ in range(3):
            parallel(data).sum().backward()


main()
