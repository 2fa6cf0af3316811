# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of the figures: gradients of 8 ranks, in the files that the
program replay reads, PREFIX.RANK."""

import array
import os
import sys

from replay import RANKS, launch, library

ROW = 512           # values of a row of tests/sim/gradients.bin
ROWS = 8            # of a rank in a step
STEPS = 4           # 256 rows are 8 ranks x 8 rows x 4 steps
ROUNDS = 3          # each step comes so often


def sim(prefix):
    """Those of tests/sim: one tensor of 4096 values."""
    values = array.array("f")
    path = os.path.join(os.environ["top_srcdir"], "tests/sim/gradients.bin")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    if sys.byteorder == "big":
        values.byteswap()
    length = ROW * ROWS
    for rank in range(RANKS):
        with open("%s.%d" % (prefix, rank), "wb") as file:
            for step in range(STEPS * ROUNDS):
                begin = (step % STEPS * RANKS + rank) * length
                array.array("q", [length]).tofile(file)
                values[begin:begin + length].tofile(file)
    return 1


def recorded(prefix, program):
    """Those that a program sums, by record.c, as MPI sums them."""
    launch(program, [library("tests/figures/record.so")], {"RECORD": prefix},
           prefix + ".out")


def digits(prefix):
    """Those of two epochs of the digits program: three weight matrices."""
    recorded(prefix, [
        os.path.join(os.environ["top_builddir"], "tests/apps/digits"), "--data",
        os.path.join(os.environ["top_srcdir"], "tests/apps/digits.csv"),
        "--hidden", "128", "--epochs", "2"])
    return 3


# The name, a title, and what writes the files and returns the number of tensors.
SETS = {
    "sim": ("drawn, of tests/sim", sim),
    "digits": ("the digits program", digits),
}


def prepare(folder, name):
    """The prefix of the data set's files, and the number of tensors."""
    prefix = os.path.join(folder, name)
    return prefix, SETS[name][1](prefix)
