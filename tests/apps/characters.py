#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A data-parallel training program: a transformer of one block learns to predict
the next character of text files. mpi4py and numpy only; characters.py --help.

Each rank draws its own pieces of the text; one MPI_Allreduce (float, sum, in place)
for each parameter tensor makes the mean gradient, and all ranks take the same step
of Adam. Forward and backward pass are written out by hand; --check compares the
gradients with finite differences, in FP64, without MPI.
"""
import argparse
import sys

import numpy as np

FIRST, LAST = 32, 126           # the characters; all others become a blank
VOCABULARY = LAST - FIRST + 2   # and the end of a line
RMS_LEAST = 1e-6


def read_text(paths):
    """Returns the characters of the files, as numbers from 0 on."""
    data = b"".join(open(path, "rb").read() for path in paths)
    codes = np.frombuffer(data, np.uint8).astype(np.int64)
    known = (codes >= FIRST) & (codes <= LAST)
    text = np.where(known, codes - FIRST, 0)
    return np.where(codes == ord("\n"), VOCABULARY - 1, text)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def normal(x):
    """Returns x over its root mean square, and that."""
    rms = np.sqrt((x * x).mean(axis=-1, keepdims=True) + RMS_LEAST)
    return x / rms, rms


def normal_back(d, y, rms):
    return (d - y * (d * y).mean(axis=-1, keepdims=True)) / rms


class Transformer:
    """One block: attention, then a layer of 4 x width with x sigmoid(x), each on
    normalised inputs and added to them. Gradients are in self.grads, in the
    order of self.params."""

    def __init__(self, width, heads, length, random, dtype=np.float32):
        self.width, self.heads, self.length = width, heads, length
        shapes = {
            "embedding": ((VOCABULARY, width), 1.0),
            "position": ((length, width), 0.1),
            "attention.in": ((width, 3 * width), width ** -0.5),
            "attention.out": ((width, width), width ** -0.5),
            "wide": ((width, 4 * width), width ** -0.5),
            "narrow": ((4 * width, width), (4 * width) ** -0.5),
            "output": ((width, VOCABULARY), 0.1 * width ** -0.5),
        }
        self.params = {name: (deviation * random.standard_normal(shape)
                              ).astype(dtype)
                       for name, (shape, deviation) in shapes.items()}
        self.grads = {name: np.zeros_like(p) for name, p in self.params.items()}

    def split(self, x):
        """Reshapes [b, t, width] to [b, head, t, width / heads]."""
        b, t, _ = x.shape
        return x.reshape(b, t, self.heads, -1).transpose(0, 2, 1, 3)

    def join(self, x):
        b, _, t, _ = x.shape
        return x.transpose(0, 2, 1, 3).reshape(b, t, -1)

    def loss(self, inputs, targets, total):
        """Returns the sum of the cross entropies over `total` targets; sets grads."""
        p, g = self.params, self.grads
        b, t = inputs.shape
        scale = (self.width // self.heads) ** -0.5
        mask = np.triu(np.full((t, t), -np.inf, p["output"].dtype), 1)

        x0 = p["embedding"][inputs] + p["position"][:t]
        n0, r0 = normal(x0)
        q, k, v = (self.split(part) for part in
                   np.split(n0 @ p["attention.in"], 3, axis=-1))
        a = softmax(q @ k.swapaxes(-1, -2) * scale + mask)
        heard = self.join(a @ v)
        x1 = x0 + heard @ p["attention.out"]
        n1, r1 = normal(x1)
        h = n1 @ p["wide"]
        s = 1 / (1 + np.exp(-h))
        u = h * s
        x2 = x1 + u @ p["narrow"]
        n2, r2 = normal(x2)
        probabilities = softmax(n2 @ p["output"])
        right = np.take_along_axis(probabilities, targets[..., None], -1)
        loss = -np.log(right).sum() / total

        d = probabilities.copy()
        np.put_along_axis(d, targets[..., None], right - 1, -1)
        d /= total
        g["output"][:] = self.product(n2, d)
        d2 = normal_back(d @ p["output"].T, n2, r2)
        g["narrow"][:] = self.product(u, d2)
        dh = (d2 @ p["narrow"].T) * (s + u * (1 - s))
        g["wide"][:] = self.product(n1, dh)
        d1 = d2 + normal_back(dh @ p["wide"].T, n1, r1)
        g["attention.out"][:] = self.product(heard, d1)
        dheard = self.split(d1 @ p["attention.out"].T)
        da = dheard @ v.swapaxes(-1, -2)
        da = a * (da - (da * a).sum(axis=-1, keepdims=True)) * scale
        dqkv = np.concatenate([self.join(part) for part in (
            da @ k, da.swapaxes(-1, -2) @ q, a.swapaxes(-1, -2) @ dheard)], -1)
        g["attention.in"][:] = self.product(n0, dqkv)
        d0 = d1 + normal_back(dqkv @ p["attention.in"].T, n0, r0)
        g["position"][:] = 0
        g["position"][:t] = d0.sum(axis=0)
        g["embedding"][:] = 0
        np.add.at(g["embedding"], inputs, d0)
        return float(loss)

    @staticmethod
    def product(x, d):
        """Returns the gradient of a weight matrix, from its inputs and deltas."""
        return x.reshape(-1, x.shape[-1]).T @ d.reshape(-1, d.shape[-1])


class Adam:
    def __init__(self, params):
        self.steps = 0
        self.first = {name: np.zeros_like(p) for name, p in params.items()}
        self.second = {name: np.zeros_like(p) for name, p in params.items()}

    def step(self, params, grads, rate):
        self.steps += 1
        for name, g in grads.items():
            m, v = self.first[name], self.second[name]
            m += 0.1 * (g - m)
            v += 0.01 * (g * g - v)
            params[name] -= rate * (m / (1 - 0.9 ** self.steps)) / (
                np.sqrt(v / (1 - 0.99 ** self.steps)) + 1e-8)


def draw_batch(text, random, size, length):
    starts = random.integers(0, len(text) - length - 1, size)
    pieces = np.stack([text[s:s + length + 1] for s in starts])
    return pieces[:, :-1], pieces[:, 1:]


def check(text, options):
    """Returns the greatest relative difference to finite differences, over tensors."""
    random = np.random.default_rng(options.seed)
    model = Transformer(16, 2, 12, random, np.float64)
    inputs, targets = draw_batch(text, random, 3, 12)
    model.loss(inputs, targets, targets.size)
    exact = {name: g.copy() for name, g in model.grads.items()}
    worst = 0.0
    for name, p in model.params.items():
        direction = random.standard_normal(p.shape)
        start, losses = p.copy(), []
        for step in (1e-5, -1e-5):
            p[:] = start + step * direction
            losses.append(model.loss(inputs, targets, targets.size))
        p[:] = start
        slope = (losses[0] - losses[1]) / 2e-5
        wanted = (exact[name] * direction).sum()
        worst = max(worst, abs(slope - wanted) / (abs(wanted) + 1e-12))
    print("gradients differ from finite differences by %.2g" % worst)
    return 0 if worst < 1e-6 else 1


def train(text, options):
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    model = Transformer(options.width, 4, options.length,
                        np.random.default_rng(options.seed))
    random = np.random.default_rng([options.seed, comm.rank])
    adam = Adam(model.params)
    total = options.batch * options.length * comm.size
    for step in range(1, options.steps + 1):
        inputs, targets = draw_batch(text, random, options.batch,
                                     options.length)
        loss = model.loss(inputs, targets, total)
        for g in model.grads.values():
            comm.Allreduce(MPI.IN_PLACE, g, MPI.SUM)
        adam.step(model.params, model.grads, options.rate)
        loss = comm.reduce(loss)
        if comm.rank == 0 and (step % 10 == 0 or step == options.steps):
            print("step %d loss %.4f" % (step, loss), flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("text", nargs="+", help="text files")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4,
                        help="pieces of text of a rank in a step")
    parser.add_argument("--length", type=int, default=64,
                        help="characters of a piece")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--check", action="store_true",
                        help="compare gradients with finite differences")
    options = parser.parse_args()
    text = read_text(options.text)
    if len(text) < options.length + 2:
        parser.error("the text is too short")
    return check(text, options) if options.check else train(text, options)


if __name__ == "__main__":
    sys.exit(main())
