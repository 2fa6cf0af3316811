#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares PyTorch's and GRACE's compressors with the library's: peers.py FOLDER
[SEEDS]

trains peers_train.py on 4 ranks with each of their compressors, and by MPI
with the nearest policy of the library: the same program, initial weights and
batches. Prints a table and writes

  FOLDER/peers-theirs.csv, FOLDER/peers-ours.csv    loss and accuracy of each epoch

The variable PEERS_PYTHON names a Python with torch, numpy and mpi4py; GRACE
(github.com/sands-lab/grace) is found by PYTHONPATH. Missing packages are
skipped, with a message: apsmpi contains none of them.
"""
import csv
import os
import subprocess
import sys

from output import write_csv
from replay import fail, launch, library
from trained import mean

RANKS, EPOCHS, RATE = 4, 20, "0.1"
STEPS = 11          # steps of an epoch
LAYERS = "layer,name,count,shape\n" + "".join(
    "%d,%s,%d,%s\n" % (i, name, count, shape) for i, (name, count, shape) in enumerate((
        ("0.weight", 4096, "64x64"), ("0.bias", 64, "64"),
        ("2.weight", 4096, "64x64"), ("2.bias", 64, "64"),
        ("4.weight", 640, "10x64"), ("4.bias", 10, "10"))))

# Their compressors, and the library's nearest rules. PyTorch begins in the third step;
# GRACE has no warm start, because its memory draws Q each time, and gathers.
PAIRS = [("gloo", ["reduce: direct, format: e8m23"])]
PAIRS += [("torch %d" % rank, [
    "steps: 0-1, reduce: direct, format: e8m23",
    "reduce: direct, compress: {powersgd: %d}" % rank]) for rank in (1, 2, 4)]
PAIRS += [("grace powersgd%d" % rank, [
    "reduce: direct, compress: {powersgd: {rank: %d, warm: off}}" % rank])
    for rank in (1, 2, 4)]
PAIRS += [
    ("grace topk", ["compress: {topk: 0.01}"]),
    ("grace terngrad", ["reduce: gather, compress: ternary"]),
    ("grace qsgd7", ["reduce: gather, format: qsgd7/512-l2"]),
    ("grace qsgd127", ["reduce: gather, format: qsgd127/512-l2"]),
    ("grace signsgd", ["reduce: direct, format: sign/4096"]),
    ("grace onebit", ["reduce: direct, format: sign/4096, feedback: on"]),
    ("grace onebit mended", ["reduce: direct, format: sign/4096, feedback: on"]),
    ("grace efsignsgd", ["reduce: direct, format: sign/4096, feedback: on"])]


def has(python, module):
    """True if it can import the module."""
    return subprocess.run([python, "-c", "import " + module], check=False,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def program(python, seeds, methods):
    top = os.environ["top_srcdir"]
    return [python, os.path.join(top, "tests/figures/peers_train.py"),
            os.path.join(top, "tests/apps/digits.csv"), str(seeds), str(EPOCHS),
            RATE] + methods


def theirs(python, seeds, methods):
    """Returns rows of peers_train.py, by gloo over the loopback device."""
    ranks = []
    for rank in reversed(range(RANKS)):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(RANKS),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT="29613",
                   GLOO_SOCKET_IFNAME="lo")
        ranks.append(subprocess.Popen(
            program(python, seeds, methods), env=env, text=True,
            stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL))
    out, _ = ranks[-1].communicate()
    if any([rank.wait() for rank in ranks]):
        fail("a rank of PyTorch has failed")
    return rows_of(out.splitlines())


def rows_of(lines):
    names = ["method", "seed", "epoch", "loss", "accuracy", "bytes"]
    return list(csv.DictReader(lines, names))


def write_policy(folder, rules):
    """Returns the policy's path."""
    layers, policy = (os.path.join(folder, "peers" + end)
                      for end in ("-layers.csv", ".yaml"))
    with open(layers, "w") as file:
        file.write(LAYERS)
    with open(policy, "w") as file:
        file.write("version: 1\nmin_count: 1\ntable: %s\nrules:\n%s" % (
            layers, "".join("  - {%s}\n" % rule for rule in rules)))
    return policy


def ours(folder, python, seeds, method, rules):
    """Returns rows for the library's rules; count.c counts the bytes."""
    counts, output = (os.path.join(folder, "peers" + end)
                      for end in (".counts", ".out"))
    if os.path.exists(counts):
        os.remove(counts)
    launch(program(python, seeds, ["mpi"]),
           [library("tests/figures/count.so"), library("libapsmpi.so")],
           {"APSMPI_POLICY": write_policy(folder, rules),
            "APSMPI_DISCOVERY": "off", "APSMPI_SUMMARY": "off",
            "COUNT": counts}, output, RANKS)
    with open(output) as file:
        rows = rows_of(file)
    with open(counts) as file:
        sent = int(file.read().split()[1]) / (STEPS * len(rows) * RANKS)
    return [dict(row, method=method, bytes="%.6g" % sent) for row in rows]


def last(rows, method, key):
    """Returns the last epoch of each seed."""
    return [float(row[key]) for row in rows
            if row["method"] == method and int(row["epoch"]) == EPOCHS]


def print_table(pairs, their_rows, our_rows):
    print("Means of the seeds, least and greatest accuracy; bytes that a rank sends in "
          "a step.\n%-20s %9s %9s  %-22s %-22s %9s %9s  our rules" % (
              "", "loss", "ours", "accuracy", "ours", "bytes", "ours"))
    for method, rules in pairs:
        points = ["%.2f (%.2f to %.2f)" % (mean(some), min(some), max(some))
                  for rows in (their_rows, our_rows)
                  for some in [last(rows, method, "accuracy")]]
        print("%-20s %9.4f %9.4f  %-22s %-22s %9.0f %9.0f  %s" % (
            method, mean(last(their_rows, method, "loss")),
            mean(last(our_rows, method, "loss")), *points,
            mean(last(their_rows, method, "bytes")),
            mean(last(our_rows, method, "bytes")), rules[-1]))


def main():
    if len(sys.argv) not in (2, 3):
        fail("usage: peers.py FOLDER [SEEDS]")
    folder, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    python = os.environ.get("PEERS_PYTHON") or os.environ["PYTHON3"]
    for module in ("torch", "mpi4py"):
        if not has(python, module):
            print("skipped: %s has no %s (PEERS_PYTHON names another)"
                  % (python, module))
            return
    pairs = PAIRS
    if not has(python, "torch; import grace_dl.dist"):
        print("skipped: GRACE is not in PYTHONPATH")
        pairs = [pair for pair in PAIRS if not pair[0].startswith("grace")]
    our_rows, known = [], {}
    for method, rules in pairs:
        key = tuple(rules)
        if key not in known:
            known[key] = ours(folder, python, seeds, method, rules)
        our_rows += [dict(row, method=method) for row in known[key]]
    write_csv(os.path.join(folder, "peers-ours.csv"), our_rows)
    their_rows = theirs(python, seeds, [method for method, _ in pairs])
    write_csv(os.path.join(folder, "peers-theirs.csv"), their_rows)
    print_table(pairs, their_rows, our_rows)


if __name__ == "__main__":
    main()
