#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""DistributedDataParallel over gloo, which is not MPI: what PyTorch does by itself.
mpiexec starts the ranks; they meet by way of the file --save.
"""
import os

import torch
from torch import distributed, nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

import training
from torch_network import Network


def train(opt, rank, ranks, meeting, hook=None, state=None):
    """Trains with gradients that `hook` averages, or gloo."""
    distributed.init_process_group("gloo", init_method="file://" + meeting,
                                   rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, label = map(torch.from_numpy, training.read(opt, "train", opt.images))
    model = nn.parallel.DistributedDataParallel(Network(opt.hidden))
    if hook:
        model.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
    clock = training.Clock()
    for mine in training.batches(opt, rank, ranks):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[mine, None]), label[mine]).backward()
        optimizer.step()
        clock.step()
    x, label = map(torch.from_numpy, training.read(opt, "t10k", 2000))
    with torch.no_grad():
        right = (model.module(x[:, None]).argmax(1) == label).float().mean().item()
    training.finish(rank, clock, right,
                    [p.detach().numpy() for p in model.parameters()])


def main():
    opt = training.options()
    train(opt, int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"]), opt.save,
          default_hooks.fp16_compress_hook if opt.half else None)


if __name__ == "__main__":
    main()
