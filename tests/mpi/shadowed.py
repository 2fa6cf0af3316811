# SPDX-License-Identifier: BSD-3-Clause
"""Compares the rows of a candidate with those of a run that really uses it.

    shadowed.py SHADOW.csv K REAL.csv

Compares all columns except times and the place in the policy, as text, of the
rows of candidate K with the rows of REAL.csv; both must have rows.
"""
import csv
import sys

OTHERS = {"time", "usec", "agree_usec", "run", "rule", "shadow", "entropy"}


def rows(path, shadow):
    with open(path, encoding="utf-8") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        return [{name: value for name, value in row.items()
                 if name not in OTHERS}
                for row in reader if row["shadow"] == shadow]


def main():
    shadow, number, real = sys.argv[1:]
    measured, used = rows(shadow, number), rows(real, "0")
    if not used or len(measured) != len(used):
        sys.exit("%d rows of candidate %s, %d of its own run" % (
            len(measured), number, len(used)))
    for one, other in zip(measured, used):
        for name, value in one.items():
            if value != other[name]:
                sys.exit("step %s, layer %s: %s is %s, and %s in its own run" % (
                    one["step"], one["layer"], name, value, other[name]))


main()
