#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Horovod with PyTorch: hooks sum each gradient as soon as the backward pass has it."""
import horovod.torch as hvd
import numpy as np
import torch
from torch import nn

import training
from torch_network import Network


def main():
    opt = training.options()
    hvd.init()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, label = map(torch.from_numpy, training.read(opt, "train", opt.images))
    model = Network(opt.hidden)
    if opt.save and hvd.rank() == 0:
        np.savez(opt.save, **{name: p.numpy() for name, p in model.state_dict().items()})
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), 0.02, momentum=0.9),
        named_parameters=model.named_parameters(),
        compression=hvd.Compression.fp16 if opt.half else hvd.Compression.none)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    clock = training.Clock()
    for mine in training.batches(opt, hvd.rank(), hvd.size()):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[mine, None]), label[mine]).backward()
        optimizer.step()
        clock.step()
    x, label = map(torch.from_numpy, training.read(opt, "t10k", 2000))
    with torch.no_grad():
        right = (model(x[:, None]).argmax(1) == label).float().mean().item()
    training.finish(hvd.rank(), clock, right,
                    [p.detach().numpy() for p in model.parameters()])
    hvd.shutdown()


if __name__ == "__main__":
    main()
