#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a PyTorch program with and without the library: fashion.py FOLDER [PYTHON]

trains tests/apps/fashion.py on four ranks, without the library and under one policy
after another; PYTHON (default: the first that has torch and mpi4py) runs it. Writes

  FOLDER/fashion.csv        a line a run: loss of each epoch, test accuracy, bytes
                            that rank 0 sent, and would have sent in FP32; printed
  FOLDER/fashion-NAME.yaml  the policies, and the logs beside them
  FOLDER/fashion.png        error by layer and step under e4m3

and checks that e8m23 has the losses of FP32 sums in the order of the ranks, and that
in 8 bits the accuracy is that of FP32 within WITHIN points: exit status 1 if not.
"""
import json
import os
import shutil
import subprocess
import sys

from output import write_csv
from replay import fail, launch, library

RANKS, WITHIN = 4, 2.0
OPTIONS = ["--images", "6000", "--epochs", "4"]
LAST = '  - {layers: "fc2.*", format: fp32}\n'
POLICIES = {
    "e8m23": "rules:\n  - {format: e8m23}\n",
    "e4m3, aps": "rules:\n" + LAST + "  - {format: e4m3, scale: aps}\n",
    "powersgd rank 4": "rules:\n" + LAST
                       + "  - {compress: {powersgd: {rank: 4}}, format: bf16}\n",
}


def python_with_torch(given=()):
    """Returns a Python that imports torch and mpi4py: the first of the
    candidates; None without one. Its mpi4py is in PYTHONPATH from then on."""
    modules = os.path.join(os.environ["top_builddir"], "venv/mpi4py-3")
    os.environ["PYTHONPATH"] = modules
    for python in given or [sys.executable, "/usr/bin/python3"]:
        if subprocess.run([python, "-c", "import torch, mpi4py.MPI"],
                          capture_output=True, check=False).returncode == 0:
            return python
    fail("no Python has torch and mpi4py for this MPI (Debian: python3-torch, "
         "dataset-fashion-mnist)")


def train(folder, python, name, policy=None, more=()):
    """Returns one run, as a dictionary."""
    stem = os.path.join(folder, "fashion-" + name.replace(", ", "-").replace(" ", "-"))
    variables, preloads = {}, []
    if policy:
        with open(stem + ".yaml", "w") as file:
            file.write("version: 1\nmin_count: 1\nlayers: fashion-layers.csv\n"
                       "log: {file: %s.csv, every: 5}\n%s" % (stem, policy))
        for left in (stem + ".csv", stem + ".json"):    # a run appends to both
            if os.path.exists(left):
                os.remove(left)
        variables = {"APSMPI_POLICY": stem + ".yaml",
                     "APSMPI_SUMMARY": "json:" + stem + ".json"}
        preloads = [library("libapsmpi.so")]
    launch([python, os.path.join(os.environ["top_srcdir"], "tests/apps/fashion.py")]
           + OPTIONS + list(more), preloads, variables, stem + ".out", RANKS)
    with open(stem + ".out") as file:
        epochs = [line.split() for line in file if line.startswith("epoch")]
    row = {"run": name}
    for words in epochs:
        row["loss " + words[1]] = words[3]
    row["accuracy"] = epochs[-1][-2]
    row["sent"] = row["fp32"] = ""
    if policy:
        with open(stem + ".json") as file:
            calls = json.load(file)["calls"]
        row["sent"], row["fp32"] = (sum(call[name] for call in calls)
                                    for name in ("wire_bytes", "fp32_bytes"))
    return row


def show(rows):
    for row in rows:
        sent = ("%8.1f MB of %.1f" % (row["sent"] / 1e6, row["fp32"] / 1e6)
                if row["fp32"] else "")
        print("%-18s %s  %s %%%s" % (
            row["run"], " ".join(row[k] for k in row if k.startswith("loss")),
            row["accuracy"], sent))


def holds(what, true):
    print("%s: %s" % ("holds" if true else "does NOT hold", what))
    return true


def main():
    if len(sys.argv) not in (2, 3):
        fail("usage: fashion.py FOLDER [PYTHON]")
    folder, python = sys.argv[1], python_with_torch(sys.argv[2:])
    shutil.copy(os.path.join(os.environ["top_srcdir"],
                             "tests/apps/fashion-layers.csv"), folder)
    rows = [train(folder, python, "native"),
            train(folder, python, "in rank order", more=["--sum", "rank-order"])]
    rows += [train(folder, python, name, policy)
             for name, policy in POLICIES.items()]
    write_csv(os.path.join(folder, "fashion.csv"), rows)
    show(rows)
    subprocess.run([sys.executable,
                    os.path.join(os.environ["top_srcdir"], "scripts/apsmpi-report"),
                    os.path.join(folder, "fashion-e4m3-aps.csv"),
                    "--plot", os.path.join(folder, "fashion.png")], check=True)
    losses = [[row[k] for k in row if k.startswith("loss")] for row in rows]
    right = holds("e8m23 has the losses of sums in the order of the ranks",
                  losses[2] == losses[1])
    right &= holds("e4m3 with APS is within %g points of FP32" % WITHIN,
                   abs(float(rows[3]["accuracy"]) - float(rows[0]["accuracy"]))
                   <= WITHIN)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
