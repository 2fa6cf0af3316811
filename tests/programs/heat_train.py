#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients summed as Heat's DASO sums parameters: one bf16 buffer as MPI.INT16_T, by
Heat's own operation, nonblocking. (DASO itself needs several GPUs a node.)"""
import heat
import torch
from heat.optim.dp_optimizer import mpi_sum_bfloat
from mpi4py import MPI
from torch import nn

import training
from torch_network import Network


def main():
    opt = training.options()
    comm = heat.MPI_WORLD
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, label = map(torch.from_numpy, training.read(opt, "train", opt.images))
    model = Network(opt.hidden)
    optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
    clock = training.Clock()
    for mine in training.batches(opt, comm.rank, comm.size):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[mine, None]), label[mine]).backward()
        grads = [p.grad for p in model.parameters()]
        flat = torch.cat([g.flatten() for g in grads]).bfloat16()
        comm.Iallreduce(MPI.IN_PLACE, flat, mpi_sum_bfloat).Wait()
        sums = (flat.float() / comm.size).split([g.numel() for g in grads])
        for g, mean in zip(grads, sums):
            g.copy_(mean.view_as(g))
        optimizer.step()
        clock.step()
    x, label = map(torch.from_numpy, training.read(opt, "t10k", 2000))
    with torch.no_grad():
        right = (model(x[:, None]).argmax(1) == label).float().mean().item()
    training.finish(comm.rank, clock, right,
                    [p.detach().numpy() for p in model.parameters()])


if __name__ == "__main__":
    main()
