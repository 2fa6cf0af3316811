#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Horovod with Keras: model.fit, and an optimizer that sums gradients."""
import horovod.tensorflow.keras as hvd
import tensorflow as tf

import training


class Steps(tf.keras.callbacks.Callback):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def on_train_batch_end(self, batch, logs=None):
        self.clock.step()


def network(hidden):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Conv2D(16, 3, padding="same", activation="relu", name="conv1",
                      input_shape=(28, 28, 1)),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, padding="same", activation="relu", name="conv2"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(hidden, activation="relu", name="fc1"),
        layers.Dense(10, name="fc2")])


def main():
    opt = training.options()
    hvd.init()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.keras.utils.set_random_seed(1)
    x, label = training.read(opt, "train", opt.images)
    model = network(opt.hidden)
    if opt.save and hvd.rank() == 0:
        model.save_weights(opt.save)
    optimizer = hvd.DistributedOptimizer(
        tf.keras.optimizers.legacy.SGD(0.02, momentum=0.9),
        compression=hvd.Compression.fp16 if opt.half else hvd.Compression.none)
    model.compile(
        optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    clock = training.Clock()
    model.fit(x[hvd.rank()::hvd.size(), ..., None], label[hvd.rank()::hvd.size()],
              batch_size=opt.batch, epochs=opt.epochs, verbose=0,
              callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0),
                         Steps(clock)])
    x, label = training.read(opt, "t10k", 2000)
    right = (model.predict(x[..., None], verbose=0).argmax(1) == label).mean()
    training.finish(hvd.rank(), clock, right, model.get_weights())


if __name__ == "__main__":
    main()
