#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that policies of apsmpi suggest keep their target: targets.py FOLDER
[--programs LIST] [--targets LIST] [--online]

trains each of PROGRAMS once with CANDIDATES (apsmpi-run --shadow). For each of
TARGETS apsmpi suggest then writes a policy, apsmpi check must accept it, and a
second run uses it, whose log has the run's values. The best single candidate that
kept the target on all layers, with the same margin, is run as well, for all layers
or for those of LARGE elements or more: the one of fewest bytes or, if these are the
target, of the least error. With --online there is instead one run for each target of
error, in which the library chooses formats (format: {auto: ...}); its errors count
from each layer's first choice on. Writes into FOLDER

  targets.csv, targets-online.csv       a line a program and target; also printed
  NAME-*.yaml, NAME-*.csv               the policies and their logs

and checks CLAIMS, which it prints before the runs: exit status 1 if one does not
hold. A run's value is the worst value of a layer in an epoch, by the statistic of
its target: for snr the ratio of the mean of err_l2^2 over the samples, for err the
mean of err_mean. For bytes, it is the bytes that rank 0 sends in a step, of all
layers. The column gradient is the signal-to-noise ratio of the whole gradient.
"""
import argparse
import collections
import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys

from fashion import python_with_torch
from output import write_csv
from replay import fail, library, read_csv

RANKS = 2
TARGETS = ["snr=12dB", "snr=20dB", "snr=26dB", "err=0.1", "bytes=25%"]
CANDIDATES = ("e3m0:aps mx-e2m1fn e3m1:aps e3m2:aps mx-e2m3fn e3m3:aps e3m4:aps "
              "e4m3:aps e3m5:aps e4m4:aps e4m5:aps e4m6:aps e4m7:aps e5m10:aps e8m7 "
              "e8m12")
CLAIMS = ["apsmpi check accepts every policy, and its run keeps the target",
          "of some program and target of error, the policy's run sends %d %% fewer "
          "bytes at least than that of the best single format"]
ONLINE_CLAIM = ("format: {auto: ...} keeps the target in every epoch, in each layer of "
                "%d elements or more")
FEWER = 10
LARGE = 1024            # the default of min_count
ONLINE_EVERY = 10       # steps from one measurement of a layer to the next
ONLINE_LEAST = 64       # ten elements of one step say little: such layers stay in FP32

# The program, the keys of its policies, and the number of steps between samples.
Program = collections.namedtuple("Program", "name command keys every")


def python_with_numpy():
    if importlib.util.find_spec("numpy") is None:
        fail("%s has no numpy: make figure-targets PYTHON3=PYTHON names one that has it"
             % sys.executable)
    return sys.executable


def programs():
    """{name: a function that makes the Program}"""
    top = os.environ["top_srcdir"]
    data = ["--data", os.path.join(top, "tests/apps/digits.csv"), "--epochs", "8"]
    digits = "steps: {calls: 6, per_epoch: 11}\n"

    def fashion():
        return Program("fashion", [
            python_with_torch(), os.path.join(top, "tests/apps/fashion.py"),
            "--images", "1920", "--epochs", "2"],
            "table: fashion-layers.csv\nsteps: {per_epoch: 15}\n", 3)

    return {
        "digits-c": lambda: Program("digits-c", [os.path.join(
            os.environ["top_builddir"], "tests/apps/digits")] + data, digits, 2),
        "digits-python": lambda: Program("digits-python", [
            python_with_numpy(), os.path.join(top, "tests/apps/digits.py")] + data,
            digits, 2),
        "fashion": fashion}


# --- commands

class Runs:
    """The runs of a program, in a directory."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program

    def path(self, name):
        return os.path.join(self.folder, "%s-%s" % (self.program.name, name))

    def write(self, name, rest):
        """Returns a policy and the path of its log, which is new."""
        log, policy = self.path(name + ".csv"), self.path(name + ".yaml")
        for left in (log, self.path(name + "-exponents.csv")):
            if os.path.exists(left):
                os.remove(left)
        with open(policy, "w", encoding="utf-8") as file:
            file.write("version: 1\nmin_count: 1\n%slog: {file: %s, every: %d}\n%s" % (
                self.program.keys, log, self.program.every, rest))
        return policy, log

    def run(self, policy, options=()):
        """Runs the program under a policy; its output is written next to it."""
        stem = policy[:-len(".yaml")]
        command = ["sh", os.path.join(os.environ["top_builddir"],
                                      "scripts/apsmpi-run"),
                   "--library", library("libapsmpi.so"), "--policy", policy,
                   *options, *os.environ.get("MPIEXEC", "mpiexec").split(),
                   "-n", str(RANKS)] + self.program.command
        with open(stem + ".out", "w", encoding="utf-8") as out, \
                open(stem + ".err", "w", encoding="utf-8") as err:
            try:
                status = subprocess.run(command, stdout=out, stderr=err, check=False,
                                        stdin=subprocess.DEVNULL,
                                        timeout=900).returncode
            except subprocess.TimeoutExpired:
                status = 124
        if status:
            with open(stem + ".err", encoding="utf-8") as err:
                sys.stderr.write(err.read())
            fail("%s ended with status %d" % (" ".join(command), status))

    def suggest(self, target, log):
        """Returns the path of a policy, that of its log, and its comments."""
        name = re.sub(r"\W", "", target)
        policy, second = self.path(name + ".yaml"), self.path(name + ".csv")
        if os.path.exists(second):
            os.remove(second)
        subprocess.run([
            sys.executable, os.path.join(os.environ["top_srcdir"],
                                         "scripts/apsmpi-suggest"),
            "--target", target, "--log", second, "--every",
            "%d" % self.program.every, "-o", policy, log], check=True)
        with open(policy, encoding="utf-8") as file:
            return policy, second, " ".join(
                line.strip(" #\n") for line in file if line.lstrip().startswith("#"))


def accepted(policy):
    """True if apsmpi check accepts the policy."""
    return subprocess.run([os.path.join(os.environ["top_builddir"], "apsmpi"), "check",
                           policy], stdout=subprocess.DEVNULL,
                          check=False).returncode == 0


# --- logs

class Step:
    """Values of a step in FP32: bytes of each layer's call, and the mean squared
    norm of the gradient over the rows."""

    def __init__(self, rows):
        squares = collections.defaultdict(list)
        for row in rows:
            squares[int(row["layer"])].append(float(row["ref_l2"]) ** 2)
        self.fp32 = {int(row["layer"]): int(row["fp32_bytes"]) for row in rows}
        self.square = sum(sum(some) / len(some) for some in squares.values())


class Found:
    """Values of rows of a log: the worst value of a layer in an epoch, bytes as
    a part of FP32's, and the signal-to-noise ratio of the whole gradient in dB.
    Layers without rows are in FP32."""

    def __init__(self, rows, step):
        """rows: at most one candidate for each layer."""
        fp32 = step.fp32
        sums = collections.defaultdict(lambda: [0, 0.0, 0.0])
        wire = collections.defaultdict(lambda: [0, 0, 0.0])
        for row in rows:
            place = sums[int(row["layer"]), int(row["epoch"])]
            place[0] += 1
            # A vector of zeros has no error.
            err, l2 = (0.0 if math.isnan(x) else x for x in (
                float(row["err_mean"]), float(row["err_l2"])))
            place[1] += err
            place[2] += l2 * l2
            layer = wire[int(row["layer"])]
            layer[0] += 1
            layer[1] += int(row["wire_bytes"])
            layer[2] += (l2 * float(row["ref_l2"])) ** 2
        self.layers = set(wire)
        self.err = max((err / n for n, err, _ in sums.values()), default=0.0)
        self.l2 = max((math.sqrt(l2 / n) for n, _, l2 in sums.values()), default=0.0)
        self.bytes = sum(wire[layer][1] / wire[layer][0] if layer in wire else most
                         for layer, most in fp32.items()) / sum(fp32.values())
        lost = sum(square / n for n, _, square in wire.values())
        self.ratio = 10 * math.log10(step.square / lost) if lost else math.inf

    def value(self, kind):
        """Returns the value in the target's unit."""
        if kind == "snr":
            return -20 * math.log10(self.l2) if self.l2 else math.inf
        return self.err if kind == "err" else 100 * self.bytes

    def keeps(self, target, margin=0.0):
        """margin: in dB, for err and snr."""
        kind, most = parse(target)
        if kind == "snr":
            return self.value(kind) >= most + margin
        if kind == "err":
            return self.err <= most * 10 ** (-margin / 20)
        return self.value(kind) <= most


def parse(target):
    kind, number = re.fullmatch(r"(\w+)=([\d.]+)(?:dB|%)?", target).groups()
    return kind, float(number)


def best_single(rows, step, target, margin):
    """Returns (Found, number of the candidate, least elements) of the single
    candidate that keeps the target: the one of fewest bytes, or, if the target
    is bytes, of the least error; None: none keeps it."""
    counts = {int(row["layer"]): int(row["count"]) for row in rows}
    numbers = sorted({int(row["shadow"]) for row in rows})
    best = None
    for number in numbers:
        for least in (1, LARGE):
            found = Found([row for row in rows if int(row["shadow"]) == number
                           and counts[int(row["layer"])] >= least], step)
            worth = -found.ratio if parse(target)[0] == "bytes" else found.bytes
            if found.keeps(target, margin) and (best is None or worth < best[0]):
                best = worth, found, number, least
    return best and best[1:]


def online_bytes(rows):
    """Returns the bytes of a step as a part of FP32's, of all logged steps and
    layers; a layer without a row of the program's result was left to MPI."""
    step = Step(rows)
    sent = {(int(row["step"]), int(row["layer"])): int(row["wire_bytes"])
            for row in rows if row["shadow"] == "0"}
    steps = {int(row["step"]) for row in rows}
    total = sum(sent.get((number, layer), most) for number in steps
                for layer, most in step.fp32.items())
    return total / (len(steps) * sum(step.fp32.values()))


# --- a program and a target

def predicted(kind, told):
    """Returns the value that the policy's comments expect, in the target's unit."""
    if kind == "bytes":
        return float(re.search(r"rank 0 sends, ([\d.]+) %", told)[1])
    worst = [float(text) for text in re.findall(
        r"at worst (?:err )?([\d.e+-]+)(?: dB)?, in", told)]
    return (min if kind == "snr" else max)(worst, default=math.nan)


def margin_of(told):
    found = re.search(r"with a margin of ([\d.]+) dB", told)
    return float(found[1]) if found else 0.0


def plan_of(log, number):
    """Returns a candidate's plan, as the log's event gives it."""
    with open(log, encoding="utf-8") as file:
        for line in file:
            found = re.match(r'# candidate .* shadow=(\d+) plan="(.*)"$', line)
            if found and int(found[1]) == number:
                return found[2]
    return fail("%s: no event of candidate %d" % (log, number))


def compare(runs, log, rows, step, target, margin):
    """Returns (name, Found) of a run of the best single candidate, or (none, None)."""
    best = best_single(rows, step, target, margin)
    if best is None:
        return "none", None
    plan = plan_of(log, best[1])
    policy, second = runs.write(
        re.sub(r"\W", "", target) + "-single",
        "rules:\n  - {min_count: %d, %s\n" % (best[2], plan[1:]))
    runs.run(policy)
    return (re.search(r"format: ([\w/-]+)", plan)[1] + (
        " from %d" % best[2] if best[2] > 1 else ""), Found(read_csv(second), step))


def try_target(runs, log, target):
    """Returns a row of the table."""
    kind, _ = parse(target)
    rows = [row for row in read_csv(log) if int(row["layer"]) >= 0]
    step = Step(rows)
    policy, second, told = runs.suggest(target, log)
    good = accepted(policy)
    runs.run(policy)
    found = Found([row for row in read_csv(second) if int(row["layer"]) >= 0], step)
    name, single = compare(runs, log, rows, step, target, margin_of(told))
    return {"program": runs.program.name, "target": target,
            "predicted": "%.4g" % predicted(kind, told),
            "measured": "%.4g" % found.value(kind),
            "bytes": "%.2f" % (100 * found.bytes), "gradient": "%.1f" % found.ratio,
            "single": name,
            "single bytes": "%.2f" % (100 * single.bytes) if single else "-",
            "single gradient": "%.1f" % single.ratio if single else "-",
            "met": "yes" if good and found.keeps(target) else "NO"}


def try_online(runs, target):
    """Returns a row of the other table."""
    kind, number = parse(target)
    formats = ", ".join(word.partition(":")[0] for word in CANDIDATES.split())
    policy, log = runs.write(
        re.sub(r"\W", "", target) + "-online",
        "rules:\n  - {min_count: %d, scale: aps, format: {auto: [%s], target: %s %g%s, "
        "every: %d}}\n" % (ONLINE_LEAST, formats, kind, number,
                           "dB" if kind == "snr" else "", ONLINE_EVERY))
    good = accepted(policy)
    runs.run(policy)
    rows = [row for row in read_csv(log) if int(row["layer"]) >= 0]
    found = Found([row for row in rows if row["shadow"] == "0"], Step(rows))
    with open(log, encoding="utf-8") as file:
        changes = sum(line.startswith("# auto ") for line in file)
    return {"program": runs.program.name, "target": target,
            "measured": "%.4g" % found.value(kind),
            "bytes": "%.2f" % (100 * online_bytes(rows)), "choices": changes,
            "met": "yes" if good and found.layers and found.keeps(target) else "NO"}


def shadow(folder, program):
    """Returns the Runs of a program, and the log of the first one."""
    runs = Runs(folder, program)
    policy, log = runs.write("shadow", "")
    runs.run(policy, ["--shadow", CANDIDATES])
    return runs, log


HEAD = ("program        target     predicted  measured  met  bytes    gradient   best "
        "single format    bytes    gradient")


def show(row):
    print("%-14s %-10s %9s %9s  %-3s %6s %% %6s dB   %-20s %6s %% %6s dB" % tuple(
        row[key] for key in (
            "program", "target", "predicted", "measured", "met", "bytes", "gradient",
            "single", "single bytes", "single gradient")), flush=True)


def gains(rows):
    """Returns the most per cent by which a policy has fewer bytes than the best
    single format, over targets of error."""
    return max((100 * (1 - float(row["bytes"]) / float(row["single bytes"]))
                for row in rows
                if row["single bytes"] != "-" and parse(row["target"])[0] != "bytes"),
               default=-math.inf)


def offline(folder, chosen, targets):
    """True if the claims hold."""
    print("candidates: %s" % CANDIDATES)
    for claim in CLAIMS:
        print("claim: " + (claim % FEWER if "%d" in claim else claim))
    print("targets: %s" % ", ".join(targets))
    print(HEAD, flush=True)
    rows = []
    for program in chosen:
        runs, log = shadow(folder, program)
        for target in targets:
            rows.append(try_target(runs, log, target))
            show(rows[-1])
    write_csv(os.path.join(folder, "targets.csv"), rows)
    right = all(row["met"] == "yes" for row in rows)
    print("%s: %s" % ("holds" if right else "does NOT hold", CLAIMS[0]))
    fewer = gains(rows) >= FEWER
    print("%s: %s (%.1f %%)" % ("holds" if fewer else "does NOT hold",
                                CLAIMS[1] % FEWER, gains(rows)))
    return right and fewer


def online(folder, chosen, targets):
    """True if the claim holds."""
    targets = [target for target in targets if parse(target)[0] != "bytes"]
    print("formats: %s" % CANDIDATES)
    print("claim: " + ONLINE_CLAIM % ONLINE_LEAST)
    print("targets: %s" % ", ".join(targets), flush=True)
    rows = []
    for program in chosen:
        for target in targets:
            rows.append(try_online(Runs(folder, program), target))
            print("%-14s %-10s measured %7s  met %-3s %6s %% of the bytes, formats "
                  "chosen %d times" % tuple(rows[-1][key] for key in (
                      "program", "target", "measured", "met", "bytes", "choices")),
                  flush=True)
    write_csv(os.path.join(folder, "targets-online.csv"), rows)
    right = all(row["met"] == "yes" for row in rows)
    print("%s: %s" % ("holds" if right else "does NOT hold",
                      ONLINE_CLAIM % ONLINE_LEAST))
    return right


def main():
    known = programs()
    parser = argparse.ArgumentParser(prog="targets.py")
    parser.add_argument("folder")
    parser.add_argument("--programs", default=",".join(known))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--online", action="store_true")
    options = parser.parse_args()
    shutil.copy(os.path.join(os.environ["top_srcdir"],
                             "tests/apps/fashion-layers.csv"), options.folder)
    chosen = [known[name]() for name in options.programs.split(",")]
    right = (online if options.online else offline)(
        options.folder, chosen, options.targets.split(","))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
