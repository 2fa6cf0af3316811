# SPDX-License-Identifier: BSD-3-Clause
"""Reduces recorded gradients by the library, once for each variant, and reads the
library's log and the counting library's output."""

import csv
import math
import os
import subprocess
import sys

RANKS = 8
AT_ONCE = 48        # variants of one job
EVERY = 3           # steps


class Measured:
    """Costs of one variant on one data set, in the calls after the first steps:
    sums over tensors, and means of them."""

    def __init__(self):
        self.calls = self.elements = 0
        self.sent = self.messages = self.collectives = 0    # by all ranks
        self.eq5 = self.nmse = 0.0

    def add(self, row):
        calls = int(row["calls"])
        self.calls += calls
        self.elements += calls * int(row["elements"])
        self.sent += int(row["bytes"])
        self.messages += int(row["messages"])
        self.collectives += int(row["collectives"])
        self.eq5 += float(row["eq5"])
        self.nmse += float(row["nmse"])

    def bytes(self):
        """Bytes an element that ranks send, of 4 in FP32: `direct` sends 2 (P -
        1) values for each element in all."""
        return self.sent / (2 * (RANKS - 1) * self.elements)

    def mean_nmse(self):
        """Squared error of the sum over the square of its norm."""
        nmse = self.nmse / self.calls
        return nmse if math.isfinite(nmse) else math.inf

    def per_call(self, what):
        """Value for one rank."""
        return what / self.calls / RANKS


class Logged:
    """Costs of one variant from the samples in the library's log."""

    def __init__(self):
        self.rows = self.overflow = self.redone = self.wire = self.fp32 = 0
        self.eq5 = self.nmse = 0.0

    def add(self, row):
        self.rows += 1
        self.eq5 += float(row["err_mean"])
        self.nmse += float(row["err_l2"]) ** 2
        self.overflow += int(row["overflow"])
        self.redone += int(row.get("redone") or 0)
        self.wire += int(row["wire_bytes"])
        self.fp32 += int(row["fp32_bytes"])

    def bytes(self):
        """Bytes an element that rank 0 sends, of 4 in FP32."""
        return 4 * self.wire / self.fp32

    def mean_eq5(self):
        return self.eq5 / self.rows

    def snr(self):
        """Decibels of the mean normalised squared error."""
        nmse = self.nmse / self.rows
        if self.overflow or not math.isfinite(nmse):
            return -math.inf
        return -10 * math.log10(nmse) if nmse else math.inf


def fail(text):
    sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), text))


def library(name):
    """Returns the path of a library in the build directory."""
    return os.path.join(os.environ["top_builddir"], os.path.dirname(name),
                        ".libs", os.path.basename(name))


def launch(program, preloads, variables, output, ranks=RANKS, seconds=900):
    """Runs a job; its standard output goes to the file `output`."""
    command = ["sh", os.path.join(os.environ["top_srcdir"],
                                  "tests/tap/launch.sh"), "-n", str(ranks)]
    for path in preloads:
        if not os.path.exists(path):    # the loader would only warn
            fail("%s is not built" % path)
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
    with open(output + ".err") as err:
        said = err.readlines()
    if status or any("pass through" in line for line in said):
        sys.stderr.writelines(said[-20:])
        fail("%s: %s" % (" ".join(program), "ended after %d s" % seconds
                         if status == 124 else "status %d" % status))


def write_policy(path, variants, tensors, log):
    """Writes one rule for each variant: v has the layers from v * tensors on."""
    with open(path, "w") as file:
        file.write("version: 1\nmin_count: 1\nsteps: {calls: %d}\n"
                   % (len(variants) * tensors))
        if log:
            file.write("log: {file: %s, every: %d}\n" % (log, EVERY))
        file.write("rules:\n")
        for v, variant in enumerate(variants):
            first = v * tensors
            layers = "%d" % first
            if tensors > 1:
                layers += "-%d" % (first + tensors - 1)
            file.write("  - {name: v%d, layers: %s, %s}\n"
                       % (v, layers, variant.rule()))


def replay(folder, records, tensors, variants, log=None):
    """Runs one job. Returns the rows of its output."""
    policy = os.path.join(folder, "policy.yaml")
    output = os.path.join(folder, "sums.csv")
    write_policy(policy, variants, tensors, log)
    preloads = [library("libapsmpi.so")]
    if not log:
        preloads.insert(0, library("tests/figures/count.so"))
    launch([os.path.join(os.environ["top_builddir"], "tests/figures/replay"),
            records, str(tensors), str(len(variants))], preloads,
           {"APSMPI_POLICY": policy, "APSMPI_DISCOVERY": "off"}, output)
    return read_csv(output)


def read_csv(path):
    with open(path) as file:
        return list(csv.DictReader(
            line for line in file if not line.startswith("#")))


def in_parts(variants):
    """Yields (number of the first, variants) of each job."""
    for begin in range(0, len(variants), AT_ONCE):
        yield begin, variants[begin:begin + AT_ONCE]


def measure(folder, records, tensors, variants):
    """Returns [Measured] of the variants, in order, on recorded gradients."""
    measured = [Measured() for _ in variants]
    for begin, some in in_parts(variants):
        for row in replay(folder, records, tensors, some):
            measured[begin + int(row["layer"]) // tensors].add(row)
    return measured


def measure_by_log(folder, records, tensors, variants):
    """Returns [Logged] of the variants, for one step in EVERY after the first."""
    logged = [Logged() for _ in variants]
    for begin, some in in_parts(variants):
        log = os.path.join(folder, "log.csv")
        if os.path.exists(log):
            os.remove(log)
        replay(folder, records, tensors, some, log)
        rows = read_csv(log)
        for row in rows:
            if int(row["step"]) > 0:
                logged[begin + int(row["rule"][1:])].add(row)
    for variant, one in zip(variants, logged):
        if not one.rows:
            fail("the log has no row of %s" % variant)
    return logged
