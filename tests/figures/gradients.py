# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of the figures: gradients of 8 ranks, in the files that the
program replay reads, PREFIX.RANK."""

import array
import os
import sys

from replay import RANKS, launch, library

ROW = 512           # values of one row of tests/sim/gradients.bin
ROWS = 8            # rows of a rank in a step
STEPS = 4           # 256 rows are 8 ranks x 8 rows x 4 steps
ROUNDS = 3          # repetitions of each step
PAGES = ["pmpi/apsmpi.7", "src/policy/apsmpi-policy.5", "src/libaps.3"]


def sim(prefix):
    """Writes the gradients of tests/sim: one tensor of 4096 values."""
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


def read_steps(path, tensors):
    """Returns the bytes of each step."""
    with open(path, "rb") as file:
        data = file.read()
    steps, place, begin, number = [], 0, 0, 0
    while place < len(data):
        place += 8 + 4 * int.from_bytes(data[place:place + 8], sys.byteorder)
        number += 1
        if number % tensors == 0:
            steps.append(data[begin:place])
            begin = place
    return steps


def recorded(prefix, program, tensors, least=1024, keep=8):
    """Records the last steps of a program's sums, by record.c. The library sums
    in FP32, because its waits sleep and MPI's spin."""
    policy = prefix + ".yaml"
    with open(policy, "w") as file:
        file.write("version: 1\nrules: [{format: e8m23, scale: none, "
                   "reduce: direct}]\n")
    launch(program, [library("tests/figures/record.so"),
                     library("libapsmpi.so")],
           {"RECORD": prefix, "RECORD_MIN": str(least),
            "APSMPI_POLICY": policy,
            "OPENBLAS_NUM_THREADS": "1"}, prefix + ".out")
    for rank in range(RANKS):
        path = "%s.%d" % (prefix, rank)
        steps = read_steps(path, tensors)
        with open(path, "wb") as file:
            file.writelines(steps[-keep:])
    return tensors


def digits(prefix):
    """Records the second epoch of the digits program: three weight matrices."""
    return recorded(prefix, [
        os.path.join(os.environ["top_builddir"], "tests/apps/digits"), "--data",
        os.path.join(os.environ["top_srcdir"], "tests/apps/digits.csv"),
        "--hidden", "128", "--epochs", "2"], 3)


def characters(prefix):
    """Records the steps 53 to 60 of a transformer that reads this project's
    manual pages: the three largest matrices, inside its block."""
    source = os.environ["top_srcdir"]
    return recorded(prefix, [
        sys.executable, os.path.join(source, "tests/apps/characters.py"),
        "--steps", "60", *(os.path.join(source, page) for page in PAGES)],
        3, 12288)


# Name, title, and function that writes the files and counts the tensors.
SETS = {
    "sim": ("drawn, of tests/sim", sim),
    "digits": ("the digits program", digits),
    "characters": ("a transformer", characters),
}


def prepare(folder, name):
    """Returns the prefix of the data set's files, and the number of tensors."""
    prefix = os.path.join(folder, name)
    return prefix, SETS[name][1](prefix)
