#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a training in PyTorch, with gradients summed by METHOD:

  peers_train.py DATA SEEDS EPOCHS RATE METHOD...

The network is 64-64-64-10, on the images of tests/apps/digits.csv. A seed gives the
same initial weights, and batches, to all methods. METHOD is

  mpi           MPI_Allreduce of each parameter's gradient, by mpi4py
  gloo          all_reduce of torch.distributed
  torch RANK    PyTorch's powerSGD_hook, from the third step on
  grace NAME    a compressor of GRACE (github.com/sands-lab/grace), see grace()

All but mpi need RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment.
Rank 0 prints a CSV: method, seed, epoch, loss, accuracy in percent, and the bytes
that a rank sends in a step: what it hands to all_gather, once for each other
rank, and 2 (P - 1) / P times what it hands to all_reduce. Bytes of mpi are 0.
"""
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import torch

BATCH, TEST_IMAGES, MOMENTUM = 128, 360, 0.9
WIDTHS = [64, 64, 64, 10]
SIGN_RATE = 0.01    # GRACE's signs have no scale; of RATE


class Meter:
    """Counts the bytes given to torch.distributed."""

    def __init__(self, dist):
        self.bytes, self.size = 0, dist.get_world_size()
        reduce, gather = dist.all_reduce, dist.all_gather

        def all_reduce(tensor, *args, **keys):
            self.bytes += (2 * (self.size - 1) * tensor.numel()
                           * tensor.element_size() / self.size)
            return reduce(tensor, *args, **keys)

        def all_gather(tensors, tensor, *args, **keys):
            self.bytes += (self.size - 1) * tensor.numel() * tensor.element_size()
            return gather(tensors, tensor, *args, **keys)
        dist.all_reduce, dist.all_gather = all_reduce, all_gather


def grace(name, rate, size):
    """Returns (function that reduces a tensor, factor of the learning rate) by
    GRACE, with the memory that its own examples use for a compressor."""
    import grace_dl.dist as base
    sys.modules.setdefault("grace_dl.torch", base)  # efsignsgd's, of Horovod
    from grace_dl.dist.communicator.allgather import Allgather
    from grace_dl.dist.communicator.allreduce import Allreduce
    from grace_dl.dist.compressor import (efsignsgd, onebit, powersgd, qsgd,
                                          signsgd, terngrad, topk)
    from grace_dl.dist.memory.efsignsgd import EFSignSGDMemory
    from grace_dl.dist.memory.none import NoneMemory
    from grace_dl.dist.memory.powersgd import PowerSGDMemory
    from grace_dl.dist.memory.residual import ResidualMemory

    class Mended(onebit.OneBitCompressor):
        """GRACE's own function inverts all bits of a boolean byte."""

        def decompress(self, tensor_compressed, ctx):
            mask, *means = tensor_compressed
            return super().decompress((mask.bool(), *means), ctx)

    if name.startswith("powersgd"):
        rank = int(name[len("powersgd"):])
        low = powersgd.PowerSGDCompressor(rank, True, size)
        return Allreduce(low, PowerSGDMemory(low.q_memory, rank), size), 1
    compressor, memory, factor = {
        "topk": lambda: (topk.TopKCompressor(0.01), ResidualMemory(), 1),
        "terngrad": lambda: (terngrad.TernGradCompressor(), NoneMemory(), 1),
        "qsgd7": lambda: (qsgd.QSGDCompressor(7, 512), NoneMemory(), 1),
        "qsgd127": lambda: (qsgd.QSGDCompressor(127, 512), NoneMemory(), 1),
        "signsgd": lambda: (signsgd.SignSGDCompressor(), NoneMemory(), SIGN_RATE),
        # It adds up values that others average.
        "efsignsgd": lambda: (efsignsgd.EFSignSGDCompressor(rate),
                              EFSignSGDMemory(rate), 1 / size),
        "onebit": lambda: (onebit.OneBitCompressor(), ResidualMemory(), 1),
        "onebit mended": lambda: (Mended(), ResidualMemory(), 1),
    }[name]()
    return Allgather(compressor, memory, size), factor


def reducer(method, argument, rate, model, comm):
    """Returns (model, function that sums gradients, factor of the learning rate)."""
    parameters = list(model.named_parameters())
    if method == "mpi":
        from mpi4py import MPI
        comm = comm.Dup()       # its layers have no state of other seeds

        def by_mpi():
            for _, p in parameters:
                comm.Allreduce(MPI.IN_PLACE, p.grad.numpy())
                p.grad /= comm.Get_size()
        return model, by_mpi, 1
    from torch import distributed as dist
    size = dist.get_world_size()
    if method == "torch":
        from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
        model = torch.nn.parallel.DistributedDataParallel(model)
        model.register_comm_hook(powerSGD_hook.PowerSGDState(
            None, matrix_approximation_rank=int(argument), start_powerSGD_iter=2),
            powerSGD_hook.powerSGD_hook)
        return model, lambda: None, 1
    if method == "gloo":
        def by_gloo():
            for _, p in parameters:
                dist.all_reduce(p.grad)
                p.grad /= size
        return model, by_gloo, 1
    communicator, factor = grace(argument, rate, size)

    def by_grace():
        for name, p in parameters:
            p.grad = communicator.step(p.grad, name).reshape(p.shape).clone()
    return model, by_grace, factor


def images(path):
    table = np.loadtxt(path, delimiter=",", dtype=np.int64)
    table = table[np.random.default_rng(1).permutation(len(table))]
    x = torch.tensor(table[:, :-1] / 16, dtype=torch.float32)
    y = torch.tensor(table[:, -1])
    cut = len(table) - TEST_IMAGES
    return x[:cut], y[:cut], x[cut:], y[cut:]


def network(random):
    layers = []
    for rows, columns in zip(WIDTHS, WIDTHS[1:]):
        layer = torch.nn.Linear(rows, columns)
        bound = (6 / rows) ** 0.5
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(
                random.uniform(-bound, bound, (columns, rows))))
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def train(method, argument, seed, epochs, rate, data, place, comm, meter):
    """Yields (loss, accuracy, bytes a step) of each epoch."""
    rank, size = place
    x, y, test_x, test_y = data
    random = np.random.default_rng(seed)
    torch.manual_seed(1000 * seed + rank)   # of GRACE's draws
    plain = network(random)
    model, sum_gradients, factor = reducer(method, argument, rate, plain, comm)
    if argument.startswith("powersgd"):
        torch.manual_seed(seed)             # Q is the same on all ranks
    velocity = [torch.zeros_like(p) for p in plain.parameters()]
    steps = len(x) // BATCH
    for epoch in range(epochs):
        order = random.permutation(len(x))
        now = rate * factor * (epochs - epoch) / epochs
        total, before = 0.0, meter.bytes if meter else 0
        for step in range(steps):
            share = order[step * BATCH + rank:(step + 1) * BATCH:size]
            model.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x[share]), y[share])
            loss.backward()
            sum_gradients()
            total += loss.item()
            with torch.no_grad():
                for p, v in zip(plain.parameters(), velocity):
                    v.mul_(MOMENTUM).add_(p.grad)
                    p.sub_(now * v)
        with torch.no_grad():
            hit = (plain(test_x).argmax(1) == test_y).float().mean().item()
        yield (total / steps, 100 * hit,
               ((meter.bytes if meter else 0) - before) / steps)


def main():
    path, seeds, epochs, rate, *methods = sys.argv[1:]
    torch.set_num_threads(1)
    comm = meter = None
    if methods == ["mpi"]:
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        place = comm.Get_rank(), comm.Get_size()
    else:
        from torch import distributed as dist
        dist.init_process_group("gloo")
        meter = Meter(dist)
        place = dist.get_rank(), dist.get_world_size()
    data = images(path)
    for method in methods:
        word, _, argument = method.partition(" ")
        for seed in range(1, 1 + int(seeds)):
            for epoch, (loss, accuracy, sent) in enumerate(train(
                    word, argument, seed, int(epochs), float(rate), data, place,
                    comm, meter), 1):
                if place[0] == 0:
                    print("%s,%d,%d,%.6g,%.4g,%.6g" % (
                        method, seed, epoch, loss, accuracy, sent), flush=True)
    if comm is None:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
