#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Group sizes on 256 ranks, which apsmpi.Cluster plays in one process: play.py --help.

With --rule it trains a task of tasks.py under this rule, and prints the lines of
train.py. Without it, it prints the error of one sum of gradients by reduction. Then
each rank has its own examples, and all ranks have the same weights: those before and
after a training without the library. eq5 is the mean relative error over all elements
(Eq. 5 of the APS paper), and l2 the error in the Euclidean norm.
"""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse

import apsmpi
import numpy as np
import torch
from mpi4py import MPI

from rows import reductions
from tasks import TASKS
from train import fill_defaults, run, train


def gradients_of(task, model, indices, ranks):
    """Yields (loss, gradients by parameter) for each rank's part of the examples."""
    for share in np.split(indices, ranks):
        model.zero_grad()
        loss = task.loss(model, torch.from_numpy(share))
        loss.backward()
        yield loss.item(), [p.grad.numpy().copy() for p in model.parameters()]


def sums_of(gradients, cluster):
    """One sum for each parameter: by the cluster, or in FP64 without one."""
    for same in zip(*gradients):
        yield cluster.allreduce([x.ravel() for x in same]).reshape(same[0].shape) \
            if cluster else np.sum(same, axis=0, dtype=np.float64)


class Played:
    """A task whose batch is that of `ranks` ranks. Its program has one rank."""

    def __init__(self, task, rule, ranks):
        self.task, self.rule, self.ranks = task, rule, ranks

    def __getattr__(self, name):
        return getattr(self.task, name)

    def model(self):
        self.cluster = apsmpi.Cluster(self.ranks, 1, self.rule) if self.rule else None
        model = self.task.model()
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                # all ranks' statistics in turn, which together weigh as much as one
                module.momentum = 1 - (1 - module.momentum) ** (1 / self.ranks)
        return model

    def loss(self, model, indices):
        return PlayedLoss(self, model, indices)


class PlayedLoss:
    """The mean loss of all ranks, after backward()."""

    def __init__(self, played, model, indices):
        self.played, self.model, self.indices = played, model, indices.numpy()

    def backward(self):
        played = self.played
        self.losses, gradients = zip(*gradients_of(
            played.task, self.model, self.indices, played.ranks))
        sums = list(sums_of(gradients, played.cluster))
        for p, total in zip(self.model.parameters(), sums):
            p.grad = torch.from_numpy((total / played.ranks).astype(np.float32))

    def item(self):
        return np.mean(self.losses)


def print_errors(name, task, options):
    torch.manual_seed(1)
    before = task.model()
    for _, after in train(task, options, 1, MPI.COMM_SELF):
        pass
    indices = np.arange(options.examples // options.ranks * options.ranks)
    for weights, model in ("initial", before), ("trained", after):
        _, gradients = zip(*gradients_of(task, model.train(), indices, options.ranks))
        exact = list(sums_of(gradients, None))
        for reduction, rule in reductions(options.ranks).items():
            cluster = apsmpi.Cluster(options.ranks, 1,
                                     f"format: e5m2, scale: aps, {rule}")
            error = apsmpi.Roundoff()
            for own, low in zip(exact, sums_of(gradients, cluster)):
                error.add(own.ravel(), low.ravel())
            print(f"{name},{weights},{options.ranks},e5m2,{reduction},"
                  f"{error.mean:.5f},{error.l2:.5f}", flush=True)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--rule", help="such as 'format: e5m2, reduce: ring'; empty: "
                        "sums are FP64")
    parser.add_argument("--ranks", type=int, default=256)
    parser.add_argument("--seeds", default="1")
    for name in ("epochs", "batch", "examples", "rate"):
        parser.add_argument("--" + name, type=float if name == "rate" else int)
    options = parser.parse_args()
    fill_defaults(options)
    return options


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    options = parse_options()
    task = TASKS[options.task](options)
    if options.rule is None:
        print("task,weights,ranks,format,reduction,eq5,l2")
        print_errors(options.task, task, options)
        return
    print("seed,epoch,loss," + ",".join(task.names))
    for seed in map(int, options.seeds.split(",")):
        run(Played(task, options.rule, options.ranks), options, seed, MPI.COMM_SELF)


if __name__ == "__main__":
    main()
