#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""JAX with mpi4jax: all-reduces inside a compiled step."""
import jax
import mpi4jax
import numpy as np
from jax import lax, numpy as jnp
from mpi4py import MPI

import training

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


def network(hidden):
    draw = np.random.default_rng(1)
    shapes = {"conv1": (3, 3, 1, 16), "conv2": (3, 3, 16, 32),
              "fc1": (7 * 7 * 32, hidden), "fc2": (hidden, 10)}
    return {name: {"bias": jnp.zeros(shape[-1]), "weight": jnp.array(
        draw.normal(0, (2 / np.prod(shape[:-1])) ** 0.5, shape), jnp.float32)}
        for name, shape in shapes.items()}


def forward(net, x):
    for name in "conv1", "conv2":
        x = lax.conv_general_dilated(x, net[name]["weight"], (1, 1), "SAME",
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + net[name]["bias"])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    x = x.reshape(len(x), -1) @ net["fc1"]["weight"] + net["fc1"]["bias"]
    return jax.nn.relu(x) @ net["fc2"]["weight"] + net["fc2"]["bias"]


def loss(net, x, label):
    return -jnp.mean(jax.nn.log_softmax(forward(net, x))[jnp.arange(len(x)), label])


def average(gradient, token):
    total, token = mpi4jax.allreduce(gradient, op=MPI.SUM, comm=comm, token=token)
    return total / ranks, token


@jax.jit
def step(net, speed, x, label):
    gradients, tree = jax.tree_util.tree_flatten(jax.grad(loss)(net, x, label))
    token = lax.create_token()
    for i, gradient in enumerate(gradients):
        gradients[i], token = average(gradient, token)
    gradients = jax.tree_util.tree_unflatten(tree, gradients)
    speed = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, speed, gradients)
    return jax.tree_util.tree_map(lambda w, v: w - 0.02 * v, net, speed), speed


def main():
    opt = training.options()
    x, label = training.read(opt, "train", opt.images)
    net = network(opt.hidden)
    if opt.save and rank == 0:
        np.savez(opt.save, **{f"{layer}.{kind}": values for layer, both in net.items()
                              for kind, values in both.items()})
    speed = jax.tree_util.tree_map(jnp.zeros_like, net)
    clock = training.Clock()
    for mine in training.batches(opt, rank, ranks):
        net, speed = step(net, speed, x[mine, ..., None], label[mine])
        jax.block_until_ready(net)
        clock.step()
    x, label = training.read(opt, "t10k", 2000)
    right = float((jax.jit(forward)(net, x[..., None]).argmax(1) == label).mean())
    training.finish(rank, clock, right, jax.tree_util.tree_leaves(net))


if __name__ == "__main__":
    main()
