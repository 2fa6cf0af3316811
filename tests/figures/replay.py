# SPDX-License-Identifier: BSD-3-Clause
"""Reduces recorded gradients by the library, once for each variant, and reads
what the library's log and the counting library say of it."""

import csv
import math
import os
import subprocess
import sys

RANKS = 8
AT_ONCE = 48        # variants of one job


class Measured:
    """What one variant cost on one data set: means over steps and tensors, of
    errors and of what a rank sends."""

    def __init__(self):
        self.rows = 0
        self.eq5 = self.nmse = 0.0      # sums over rows
        self.over = self.redone = 0     # elements, chunks
        self.wire = self.fp32 = 0       # bytes, as rank 0's log counts
        self.calls = self.sent = self.messages = self.collectives = 0

    def add_row(self, row, fp32):
        """fp32: the bytes that FP32 would take, once."""
        self.rows += 1
        self.eq5 += float(row["err_mean"])
        self.nmse += float(row["err_l2"]) ** 2
        self.over += int(row["overflow"])
        self.redone += int(row.get("redone") or 0)
        self.wire += int(row["wire_bytes"])
        self.fp32 += fp32

    def add_counts(self, row):
        self.calls += int(row["calls"])
        self.sent += int(row["bytes"])
        self.messages += int(row["messages"])
        self.collectives += int(row["collectives"])

    def bits(self):
        """Bits a value on the wire, of 32 in FP32."""
        return 32.0 * self.wire / self.fp32

    def mean_eq5(self):
        return self.eq5 / self.rows

    def mean_nmse(self):
        """Of the sum: its squared error over the square of its norm."""
        if self.over or not math.isfinite(self.nmse):
            return math.inf
        return self.nmse / self.rows

    def snr(self):
        """Decibels, of the mean normalised squared error."""
        nmse = self.mean_nmse()
        if nmse == 0:
            return math.inf
        return -10 * math.log10(nmse) if math.isfinite(nmse) else -math.inf

    def per_call(self, what):
        """Of a rank, in a call after the first."""
        return what / self.calls / RANKS if self.calls else math.nan


def fail(text):
    sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), text))


def library(name):
    """A library of the build directory that is preloaded."""
    return os.path.join(os.environ["top_builddir"], os.path.dirname(name),
                        ".libs", os.path.basename(name))


def launch(program, preloads, variables, output, ranks=RANKS, seconds=900):
    """Runs a job; its standard output goes to the file `output`."""
    command = ["sh", os.path.join(os.environ["top_srcdir"],
                                  "tests/tap/launch.sh"), "-n", str(ranks)]
    if preloads:
        variables = dict(variables, LD_PRELOAD=":".join(preloads))
    for name, value in variables.items():
        command += ["-genv", name, value]
    with open(output, "w") as out, open(output + ".err", "w") as err:
        try:
            status = subprocess.run(command + program, stdout=out, stderr=err,
                                    stdin=subprocess.DEVNULL, check=False,
                                    timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            status = 124
    if status:
        with open(output + ".err") as err:
            sys.stderr.writelines(err.readlines()[-20:])
        fail("%s ended with status %d" % (" ".join(program), status))


def write_policy(path, variants, tensors, log, every):
    """One rule a variant: variant v has the layers v * tensors and on."""
    with open(path, "w") as file:
        file.write("version: 1\nmin_count: 1\nsteps: {calls: %d}\n"
                   % (len(variants) * tensors))
        if log:
            file.write("log: {file: %s, every: %d}\n" % (log, every))
        file.write("rules:\n")
        for v, variant in enumerate(variants):
            first = v * tensors
            layers = "%d" % first
            if tensors > 1:
                layers += "-%d" % (first + tensors - 1)
            file.write("  - {name: v%d, layers: %s, %s}\n"
                       % (v, layers, variant.rule()))


def replay(folder, records, tensors, variants, log, every):
    """One job; the path of what it wrote on standard output."""
    policy = os.path.join(folder, "policy.yaml")
    output = os.path.join(folder, "counts.csv")
    write_policy(policy, variants, tensors, log, every)
    preloads = [library("libapsmpi.so")]
    if not log:
        preloads.insert(0, library("tests/figures/count.so"))
    launch([os.path.join(os.environ["top_builddir"], "tests/figures/replay"),
            records, str(tensors), str(len(variants))], preloads,
           {"APSMPI_POLICY": policy, "APSMPI_DISCOVERY": "off"}, output)
    return output


def read_log(path):
    with open(path) as file:
        return list(csv.DictReader(
            line for line in file if not line.startswith("#")))


def measure(folder, records, tensors, variants, every=1, count=False):
    """[Measured] of the variants, in order, on the recorded gradients: of one
    step in `every`. With count, also what the library sends, in a run without a
    log."""
    measured = [Measured() for _ in variants]
    for begin in range(0, len(variants), AT_ONCE):
        some = variants[begin:begin + AT_ONCE]
        log = os.path.join(folder, "log.csv")
        if os.path.exists(log):
            os.remove(log)
        replay(folder, records, tensors, some, log, every)
        rows = read_log(log)
        fp32 = {}       # by elements: rows of chunks done again have more
        for row in rows:
            size = int(row["fp32_bytes"])
            fp32[row["count"]] = min(fp32.get(row["count"], size), size)
        for row in rows:
            measured[begin + int(row["rule"][1:])].add_row(
                row, fp32[row["count"]])
        if count:
            with open(replay(folder, records, tensors, some, None, 1)) as file:
                for row in csv.DictReader(file):
                    layer = int(row["layer"])
                    measured[begin + layer // tensors].add_counts(row)
    for variant, m in zip(variants, measured):
        if not m.rows:
            fail("the log has no row of %s" % variant)
    return measured
