# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the Python programs: options, images of clothes (Fashion-MNIST), and the
lines that the tests read. It uses no MPI, and nothing of apsmpi.
"""
import argparse
import gzip
import hashlib
import os
import statistics
import time

import numpy as np

WARM_UP = 10  # steps whose time does not count: compilers and caches


def options():
    parser = argparse.ArgumentParser(description="train on images of clothes")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist",
                        metavar="FOLDER")
    parser.add_argument("--images", type=int, default=6000, metavar="N",
                        help="how many of the 60,000 are learnt")
    parser.add_argument("--epochs", type=int, default=3, metavar="N")
    parser.add_argument("--batch", type=int, default=64, metavar="N",
                        help="images of one rank in one step")
    parser.add_argument("--hidden", type=int, default=64, metavar="N",
                        help="units of the layer that has most weights")
    parser.add_argument("--half", action="store_true",
                        help="the framework's own compression to 16 bits")
    parser.add_argument("--save", metavar="FILE", help="the weights, at the start")
    return parser.parse_args()


def read(opt, kind, count):
    """Returns images (count, 28, 28), of mean 0 and deviation 1, and labels."""
    def items(name, head):
        with gzip.open(os.path.join(opt.data, kind + name)) as file:
            return np.frombuffer(file.read(), np.uint8)[head:]
    images = items("-images-idx3-ubyte.gz", 16)[:count * 784]
    x = (images.astype(np.float32) / 255 - 0.2860) / 0.3530
    return (x.reshape(count, 28, 28),
            items("-labels-idx1-ubyte.gz", 8)[:count].astype(np.int64))


def batches(opt, rank, ranks):
    """Yields the indices of the images of this rank, for each step."""
    draw = np.random.default_rng(1)  # the same order on all ranks
    for _ in range(opt.epochs):
        order = draw.permutation(opt.images)
        for first in range(0, opt.images - ranks * opt.batch + 1, ranks * opt.batch):
            yield order[first + rank:first + ranks * opt.batch:ranks]


class Clock:
    """Times steps: call `step` after each."""
    def __init__(self):
        self.times = []
        self.last = time.monotonic()

    def step(self):
        now = time.monotonic()
        self.times.append(now - self.last)
        self.last = now

    def median(self):
        return statistics.median(self.times[WARM_UP:] or self.times)


def finish(rank, clock, right, weights):
    """Prints the results of rank 0, and for each rank a digest of its weights."""
    lines = "\n"
    if rank == 0:
        lines += "accuracy %.2f\nseconds %.5f\n" % (100 * right, clock.median())
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(w).tobytes()
                                     for w in weights)).hexdigest()
    # One write: mpiexec mixes the output of ranks.
    os.write(1, f"{lines}weights {digest}\n".encode())
