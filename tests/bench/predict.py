#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the times that `apsmpi explain` predicts with measured times.

    predict.py APSMPI lab TITLE MEASURED.yaml BENCH.csv
    predict.py APSMPI sim MACHINE.yaml <OUTPUT-OF-tests/sim/times

prints a row for each reduction and count, and the share of rows that are
predicted to within 15 % of the median, or of the range between the least time
and the median, because other work of the machine may have delayed the bench.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

WITHIN = 0.15


def predicted(apsmpi, rule, count, options):
    """Returns the seconds of the rule and of native MPICH, as {name: seconds}."""
    with tempfile.TemporaryDirectory() as folder:
        policy = os.path.join(folder, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as stream:
            stream.write("version: 1\nmin_count: 1\nrules:\n  - {%s}\n" % rule)
        told = subprocess.run(
            [apsmpi, "explain", policy, "--json", "--counts", str(count)] + options,
            capture_output=True, text=True, check=True)
    return json.loads(told.stdout)["prediction"]["rules"][0]["counts"][0]


class Table:
    """Rows, and the number of them that are near."""

    def __init__(self, title, exact=False):
        self.rows = self.near = self.median = 0
        self.exact = exact  # simulated times: the least time is the median
        print(f"\n{title}")
        print(f"  {'reduction':24} {'floats':>10} {'' if exact else 'least':>10} "
              f"{'simulated' if exact else 'median':>10} {'predicted':>10} "
              f"{'off':>6}  bound")

    def add(self, name, count, low, high, one, seconds):
        """Measured between low and high (least time and median)."""
        off = 0 if low <= seconds <= high else seconds / (
            high if seconds > high else low) - 1
        self.rows += 1
        self.near += abs(off) <= WITHIN
        self.median += abs(seconds / high - 1) <= WITHIN
        least = "" if self.exact else f"{low * 1e3:7.3f} ms"
        print(f"  {name:24} {count:10} {least:>10} {high * 1e3:7.3f} ms "
              f"{seconds * 1e3:7.3f} ms {off * 100:+5.0f}%  {one}")

    def end(self):
        print(f"  within {WITHIN * 100:.0f} %: {self.median} of {self.rows}" + (
            "" if self.exact else " of the median, of the least time to the median "
            f"{self.near}"))


def lab(apsmpi, title, measured, path):
    table = Table(title)
    options = ["--measured", measured]
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            count = int(row["count"])
            low, high = float(row["min_usec"]) * 1e-6, float(row["median_usec"]) * 1e-6
            if row["variant"] == "fp32":
                one = predicted(apsmpi, "format: e5m2", count, options)
                table.add("native FP32", count, low, high, "", one["native"]["mpich"])
            elif row["rewritten"] == "yes" or row["reduce"] != "native":
                rule = f"format: {row['variant']}, reduce: {row['reduce']}"
                one = predicted(apsmpi, rule, count, options)
                table.add(f"{row['variant']} {row['reduce']}", count, low, high,
                          one["bound"], one["seconds"])
    table.end()


def sim(apsmpi, machine):
    """Lines HOSTSxRANKS GBIT NAME... MS ms FASTER."""
    tables = {}
    for line in sys.stdin:
        found = re.match(r"(\d+)x(\d+) (\d+) (\d+) (.*?) +([0-9.]+) ms", line)
        if not found:
            continue
        hosts, ranks, gbit, count, name, ms = found.groups()
        key = f"{hosts} hosts, {ranks} ranks each, {gbit} Gbit/s, simulated"
        words = name.split()
        if words[0] == "native":
            continue
        rule = f"format: e5m2, scale: aps, reduce: {words[0]}"
        if words[0] == "ring":
            rule += f", accumulate: {words[1]}"
        if words[0] == "master":
            rule += f", accumulate: format, group: {words[1]}"
        one = predicted(apsmpi, rule, int(count),
                        ["--measured", machine, "--hosts", hosts,
                         "--ranks-per-host", ranks, "--rate", f"{gbit}gbit"])
        if key not in tables:
            tables[key] = Table(key, exact=True)
        tables[key].add(name, int(count), float(ms) * 1e-3, float(ms) * 1e-3,
                        one["bound"], one["seconds"])
    for key, table in tables.items():
        print(f"{key}:", end="")
        table.end()


if __name__ == "__main__":
    if len(sys.argv) == 6 and sys.argv[2] == "lab":
        lab(sys.argv[1], *sys.argv[3:])
    elif len(sys.argv) == 4 and sys.argv[2] == "sim":
        sim(sys.argv[1], sys.argv[3])
    else:
        sys.exit(__doc__)
