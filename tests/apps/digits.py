#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training with mpi4py and numpy: the program of digits.c.

The network (64-64-64-10, ReLU, softmax cross entropy), the data, the batches
and the initial weights are those of digits.c. Losses agree with it up to the
order in which sums are taken.
"""
import os

# Many ranks share a machine: one BLAS thread for each, set before numpy starts.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys

import numpy as np
from mpi4py import MPI

WIDTH = [64, 64, 64, 10]
LAYERS = len(WIDTH) - 1
TEST_IMAGES = 360
SPLIT_SEED = 1  # fixed: --seed must not move images into the test set
MOMENTUM = np.float32(0.9)

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


class Random:
    """splitmix64 (Steele, Lea, Flood 2014), as in digits.c."""

    MASK = (1 << 64) - 1

    def __init__(self, seed):
        self.state = seed & self.MASK

    def next(self):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return z ^ (z >> 31)

    def unit(self, n):
        """n floats in [0, 1), multiples of 2^-24."""
        words = [(self.next() >> 40) for _ in range(n)]
        return np.array(words, np.float32) * np.float32(2.0**-24)

    def shuffle(self, index):
        for i in range(len(index) - 1, 0, -1):
            j = ((self.next() >> 32) * (i + 1)) >> 32
            index[i], index[j] = index[j], index[i]


def parse_options():
    parser = argparse.ArgumentParser(description="train on handwritten digits")
    folder = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--data", metavar="FILE",
                        default=os.path.join(folder, "digits.csv"))
    parser.add_argument("--epochs", type=int, default=20, metavar="N")
    parser.add_argument("--batch", type=int, default=128, metavar="N",
                        help="images in one step, over all ranks")
    parser.add_argument("--lr", type=float, default=0.2, metavar="X")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--save", metavar="FILE.npz",
                        help="save the weights at the end, with their names")
    opt = parser.parse_args()
    if opt.epochs < 0 or opt.batch < 1 or opt.seed < 0:
        parser.error("--epochs and --seed must be 0 or more, --batch 1 or more")
    if not 0 <= opt.lr <= 1000:
        parser.error("--lr must be from 0 to 1000")
    return opt


def read_images(path):
    """Returns features in 0..1 and labels; a ValueError names file and line."""
    rows = []
    try:
        with open(path, encoding="ascii", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = [int(value) for value in line.strip().split(",")]
                except ValueError as error:
                    raise ValueError(f"{path}:{number}: {error}") from None
                if len(row) != WIDTH[0] + 1:
                    raise ValueError(f"{path}:{number}: {len(row)} values, "
                                     f"not {WIDTH[0] + 1}")
                if min(row) < 0 or max(row) > 16 or row[-1] >= WIDTH[-1]:
                    raise ValueError(f"{path}:{number}: a feature is not in "
                                     f"0..16 or the label not in 0..9")
                rows.append(row)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    if len(rows) <= TEST_IMAGES:
        raise ValueError(f"{path}:{len(rows)}: ends too early, {TEST_IMAGES} "
                         f"images are for the test alone")
    table = np.array(rows)
    return (table[:, :-1] / 16).astype(np.float32), table[:, -1]


def prepare():
    """Returns options and images, or the exit status when there is nothing to train."""
    try:
        opt = parse_options()
        x, label = read_images(opt.data)
        if opt.batch > len(x) - TEST_IMAGES:
            raise ValueError(f"--batch: {opt.batch} is more than the "
                             f"{len(x) - TEST_IMAGES} training images")
        return opt, x, label
    except SystemExit as stop:
        return stop.code
    except ValueError as error:
        print(f"digits.py: {error}", file=sys.stderr)
        return 2


def create(random):
    """W1, b1, W2, b2, W3, b3: He's uniform initialisation, biases 0."""
    tensors = []
    for fan_in, out in zip(WIDTH, WIDTH[1:]):
        bound = np.sqrt(np.float32(6) / np.float32(fan_in))
        unit = random.unit(fan_in * out).reshape(fan_in, out)
        tensors.append((2 * unit - 1) * bound)
        tensors.append(np.zeros(out, np.float32))
    return tensors


def forward(tensors, x):
    """Returns the input and the output of every layer; the last are the logits."""
    act = [x]
    for layer in range(LAYERS):
        y = act[-1] @ tensors[2 * layer] + tensors[2 * layer + 1]
        act.append(np.maximum(y, 0) if layer < LAYERS - 1 else y)
    return act


def backward(tensors, act, label, batch):
    """Returns this rank's share of the mean gradient, and its sum of losses."""
    row = np.arange(len(label))
    z = act[-1] - act[-1].max(axis=1, keepdims=True)
    delta = np.exp(z)
    total = delta.sum(axis=1, keepdims=True)
    loss = np.log(total[:, 0], dtype=np.float64) - z[row, label]
    delta /= total
    delta[row, label] -= 1
    delta /= np.float32(batch)
    grads = [None] * len(tensors)
    for layer in reversed(range(LAYERS)):
        grads[2 * layer] = act[layer].T @ delta
        grads[2 * layer + 1] = delta.sum(axis=0)
        if layer > 0:
            delta = np.where(act[layer] <= 0, np.float32(0),
                             delta @ tensors[2 * layer].T)
    return grads, loss.sum()


def accuracy(tensors, x, label):
    logits = forward(tensors, x[rank::ranks])[-1]
    hit = logits.argmax(axis=1) == label[rank::ranks]
    right = np.array([hit.sum()], np.int32)
    comm.Allreduce(MPI.IN_PLACE, right, op=MPI.SUM)
    return 100.0 * right[0] / len(label)


def weights_hash(tensors):
    """FNV-1a over the bits of the parameters, low byte of each first."""
    value = 0xCBF29CE484222325
    for tensor in tensors:
        for byte in tensor.astype("<f4").tobytes():
            value = ((value ^ byte) * 0x100000001B3) & Random.MASK
    return value


def sum_each(grads):
    """One call for each tensor, the first layer first."""
    for grad in grads:
        comm.Allreduce(MPI.IN_PLACE, grad, op=MPI.SUM)


def save(path, tensors):
    names = ["fc%d.%s" % (layer + 1, part) for layer in range(LAYERS)
             for part in ("weight", "bias")]
    np.savez(path, **dict(zip(names, tensors)))


def train(opt, x, label, sum_gradients=sum_each):
    """sum_gradients(grads) replaces grads by their sums over all ranks."""
    index = list(range(len(x)))
    Random(SPLIT_SEED).shuffle(index)
    learn, test = index[:-TEST_IMAGES], index[-TEST_IMAGES:]
    test_x, test_label = x[test], label[test]

    random = Random(opt.seed)
    tensors = create(random)
    velocity = [np.zeros_like(tensor) for tensor in tensors]
    steps = len(learn) // opt.batch
    score = accuracy(tensors, test_x, test_label)
    for epoch in range(1, opt.epochs + 1):
        random.shuffle(learn)
        # The learning rate falls linearly to 0, so that training settles.
        rest = np.float32(opt.epochs - epoch + 1) / np.float32(opt.epochs)
        lr = np.float32(opt.lr) * rest
        loss = np.zeros(1, np.float64)
        for step in range(steps):
            first = step * opt.batch
            share = learn[first + rank:first + opt.batch:ranks]
            act = forward(tensors, x[share])
            grads, part = backward(tensors, act, label[share], opt.batch)
            loss += part
            sum_gradients(grads)
            for tensor, v, grad in zip(tensors, velocity, grads):
                v *= MOMENTUM
                v += grad
                tensor -= lr * v
        comm.Allreduce(MPI.IN_PLACE, loss, op=MPI.SUM)
        score = accuracy(tensors, test_x, test_label)
        if rank == 0:
            mean = loss[0] / (steps * opt.batch)
            print(f"epoch {epoch} loss {mean:.9g} test {score:.2f}%",
                  flush=True)

    hashes = np.zeros(ranks, np.uint64)
    comm.Allgather(np.array([weights_hash(tensors)], np.uint64), hashes)
    equal = bool((hashes == hashes[0]).all())
    if rank == 0:
        print(f"final test accuracy {score:.2f}%")
        print(f"weights {int(hashes[0]):016x}")
        print("replicas", "equal" if equal else "DIFFER", flush=True)
        if opt.save:
            save(opt.save, tensors)
    return 0 if equal else 1


def main(sum_gradients=sum_each):
    # Rank 0 alone reads options and file, and reports their errors.
    job = comm.bcast(prepare() if rank == 0 else None)
    return job if isinstance(job, int) else train(*job, sum_gradients)


if __name__ == "__main__":
    sys.exit(main())
