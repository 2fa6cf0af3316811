#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ChainerMN: an optimizer that sums the gradients of all ranks."""
import chainer
import chainermn
import numpy as np
from chainer import functions, links

import training


class Network(chainer.Chain):
    def __init__(self, hidden):
        super().__init__()
        with self.init_scope():
            self.conv1 = links.Convolution2D(1, 16, 3, pad=1)
            self.conv2 = links.Convolution2D(16, 32, 3, pad=1)
            self.fc1 = links.Linear(32 * 7 * 7, hidden)
            self.fc2 = links.Linear(hidden, 10)

    def forward(self, x):
        x = functions.max_pooling_2d(functions.relu(self.conv1(x)), 2)
        x = functions.max_pooling_2d(functions.relu(self.conv2(x)), 2)
        return self.fc2(functions.relu(self.fc1(x)))


def main():
    opt = training.options()
    comm = chainermn.create_communicator("naive")
    np.random.seed(1)
    x, label = training.read(opt, "train", opt.images)
    model = Network(opt.hidden)
    if opt.save and comm.rank == 0:
        np.savez(opt.save, **{name[1:].replace("/", "."): p.array
                              for name, p in sorted(model.namedparams())})
    optimizer = chainermn.create_multi_node_optimizer(
        chainer.optimizers.MomentumSGD(0.02), comm)
    optimizer.setup(model)
    comm.bcast_data(model)
    clock = training.Clock()
    for mine in training.batches(opt, comm.rank, comm.size):
        loss = functions.softmax_cross_entropy(
            model(x[mine, None]), label[mine].astype(np.int32))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        clock.step()
    x, label = training.read(opt, "t10k", 2000)
    with chainer.no_backprop_mode():
        right = (model(x[:, None]).array.argmax(1) == label).mean()
    training.finish(comm.rank, clock, right,
                    [p.array for _, p in sorted(model.namedparams())])


if __name__ == "__main__":
    main()
