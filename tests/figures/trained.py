# SPDX-License-Identifier: BSD-3-Clause
"""Trains tests/apps/digits by a policy's rules, and reads the results."""

import os
import re

from replay import launch, library, read_csv

PER_EPOCH = 11      # steps: 1437 images in batches of 128
EVERY = 20          # one step in EVERY is in the log


class Trained:
    """One run.

    loss        mean over the training images, in the last epoch
    accuracy    test images, in percent
    sent        bytes that all ranks sent from point to point in a step, with all
                headers, but without collectives; None with a log, whose exact
                sums are sent, too
    eq5         mean relative error of the sums (Eq. 5 of the APS paper) of the
                matrices, in logged steps; None without a log
    residual    mean norm of rank 0's error memory, over that of its values and
                that memory; None without a log or a memory
    """

    def __init__(self, loss, accuracy, sent, eq5, residual):
        self.loss, self.accuracy, self.sent = loss, accuracy, sent
        self.eq5, self.residual = eq5, residual


def write_layers(path, hidden):
    """Writes the layer table of a network 64-hidden-hidden-10."""
    widths = [64, hidden, hidden, 10]
    with open(path, "w") as file:
        file.write("layer,name,count,shape\n")
        for i, (rows, columns) in enumerate(zip(widths, widths[1:])):
            file.write("%d,fc%d.weight,%d,%dx%d\n%d,fc%d.bias,%d,%d\n" % (
                2 * i, i + 1, rows * columns, rows, columns,
                2 * i + 1, i + 1, columns, columns))


def write_policy(folder, hidden, rules, log):
    """Returns the policy's path. rules: flow mappings without their braces. log:
    a file, or None."""
    path = os.path.join(folder, "trained.yaml")
    layers = os.path.join(folder, "trained-layers.csv")
    write_layers(layers, hidden)
    with open(path, "w") as file:
        file.write("version: 1\nmin_count: 1\ntable: %s\n"
                   "steps: {per_epoch: %d}\n" % (layers, PER_EPOCH))
        if log:
            file.write("log: {file: %s, every: %d}\n" % (log, EVERY))
        file.write("rules:\n")
        for rule in rules:
            file.write("  - {%s}\n" % rule)
    return path


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def read_epochs(path):
    """Returns [(loss, accuracy)] of the epochs that the program prints."""
    with open(path) as file:
        return [(float(loss), float(accuracy)) for loss, accuracy in re.findall(
            r"^epoch \d+ loss (\S+) test (\S+)%$", file.read(), re.MULTILINE)]


def train(folder, hidden, rules, options, ranks, logged):
    """Returns a Trained. options: the program's, except --hidden and --data."""
    log, counts, output = (os.path.join(folder, "trained" + end)
                           for end in (".log", ".counts", ".out"))
    for path in (log, counts):
        if os.path.exists(path):
            os.remove(path)
    policy = write_policy(folder, hidden, rules, log if logged else None)
    launch([os.path.join(os.environ["top_builddir"], "tests/apps/digits"),
            "--data", os.path.join(os.environ["top_srcdir"],
                                   "tests/apps/digits.csv"),
            "--hidden", str(hidden)] + options,
           [library("tests/figures/count.so"), library("libapsmpi.so")],
           {"APSMPI_POLICY": policy, "APSMPI_DISCOVERY": "off",
            "APSMPI_SUMMARY": "off", "COUNT": counts}, output, ranks)
    epochs = read_epochs(output)
    loss, accuracy = epochs[-1]
    if not logged:
        with open(counts) as file:
            sent = int(file.read().split()[1]) / (PER_EPOCH * len(epochs))
        return Trained(loss, accuracy, sent, None, None)
    rows = read_csv(log)
    return Trained(loss, accuracy, None,
                   mean(float(row["err_mean"]) for row in rows
                        if row["name"].endswith(".weight")),
                   mean(float(row["residual"]) for row in rows
                        if row["residual"]))
