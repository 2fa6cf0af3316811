# SPDX-License-Identifier: BSD-3-Clause
"""The calls of PyTorch's DistributedDataParallel (torch/nn/parallel/distributed.py and
csrc/distributed/c10d/reducer.cpp of PyTorch 1.13 to 2.9).

The first step sums all gradients by one call, in the order of model.parameters(). From
the second step on the buckets hold the gradients in the order in which the backward
pass completes them: modules in reverse order. Autograd completes the bias of a linear
layer before its weight, and the weight of a convolution or a norm before its bias. The first bucket is complete with 1 MiB, all others with bucket_cap_mb."""

import itertools
import re

FIRST_BUCKET = 1 << 20
RECURRENT = re.compile(r"(?:.*\.)?(weight|bias)_([ih])h_(l\d+)$")


def order_in_module(tensors):
    """Sorts the parameters of one module, given in the order of parameters()."""
    parts = [RECURRENT.match(tensor.name) for tensor in tensors]
    if all(parts):      # each layer: bias and weight of h, then of x
        return [tensor for _, tensor in sorted(
            zip(parts, tensors), reverse=True,
            key=lambda pair: (int(pair[0][3][1:]), pair[0][2] == "h",
                              pair[0][1] == "bias"))]
    weights = [tensor for tensor in tensors if tensor.name.split(".")[-1] == "weight"]
    if weights and len(weights[0].shape) != 2:
        return tensors
    return tensors[::-1]


def later_order(tensors):
    """The order of the calls from the second step on. `tensors`: in the order of
    model.parameters()."""
    modules = [list(group) for _, group in itertools.groupby(
        tensors, key=lambda tensor: tensor.name.rpartition(".")[0])]
    return [tensor for module in reversed(modules)
            for tensor in order_in_module(module)]


def calls_of(tensors, megabytes):
    """Returns the number of elements of each call from the second step on."""
    calls, limit, count = [], FIRST_BUCKET, 0
    for tensor in tensors:
        count += tensor.count
        if 4 * count >= limit:
            calls.append(count)
            limit, count = megabytes << 20, 0
    return calls + [count] * (count > 0)
