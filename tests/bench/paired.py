# SPDX-License-Identifier: BSD-3-Clause
"""Prints the table and the verdict of paired.sh.

    paired.py [--limit PERCENT] PREFIX ROUNDS

PREFIX-<round>-old.csv and PREFIX-<round>-new.csv, of rounds 1 to ROUNDS, are files
of `apsmpi-bench --csv`. Prints a row for each size and variant that the library may
rewrite, and for native FP32, which it leaves alone. If the machine's speed changes
from job to job, a variant's time relative to native FP32's in the same job says more
than the time alone: the second quotient, `native`, compares these. Status 1: both of
a variant's median quotients of new over old are above 1 + PERCENT / 100.
"""

import argparse
import csv
import statistics
import sys


def read(path):
    """{(elements, variant, reduce): (microseconds, times native)}"""
    with open(path, newline="", encoding="ascii") as file:
        return {
            (int(row["count"]), row["variant"], row["reduce"]): (
                float(row["median_usec"]),
                float(row["ratio_native"]),
            )
            for row in csv.DictReader(file)
        }


def wanted(key):
    """Floors are native integers, which neither library touches."""
    return not key[1].startswith("int")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=3)
    parser.add_argument("prefix")
    parser.add_argument("rounds", type=int)
    given = parser.parse_args()
    pairs = [
        [read(f"{given.prefix}-{n + 1}-{which}.csv") for which in ("old", "new")]
        for n in range(given.rounds)
    ]
    keys = [key for key in pairs[0][0] if wanted(key)]
    for number, pair in enumerate(pairs, 1):
        for which, rows in zip(("old", "new"), pair):
            if [key for key in rows if wanted(key)] != keys:
                print(f"paired.py: round {number}, {which}: other rows than in "
                      "the first job", file=sys.stderr)
                return 2

    print(f"{given.rounds} pairs; new/old: of the medians of each pair, and of what "
          "they are of native's")
    print(f"  {'elements':>9} {'variant':<10} {'reduce':<13}"
          f"{'old us':>10}{'new us':>10}{'old x':>7}{'new x':>7}"
          f"{'new/old':>9}  {'least':>6} {'most':>6}{'native':>8}")
    worse = 0
    for key in keys:
        old = [pair[0][key] for pair in pairs]
        new = [pair[1][key] for pair in pairs]
        quotients = [n[0] / o[0] for o, n in zip(old, new)]
        middle = statistics.median(quotients)
        beside = statistics.median(o[1] / n[1] for n, o in zip(new, old))
        judged = key[2] != "native"
        bad = judged and min(middle, beside) > 1 + given.limit / 100
        worse += bad
        mark = "  WORSE" if bad else "" if judged else "  (the machine's own)"
        print(f"  {key[0]:>9} {key[1]:<10} {key[2]:<13}"
              f"{statistics.median(o[0] for o in old):>10.1f}"
              f"{statistics.median(n[0] for n in new):>10.1f}"
              f"{statistics.median(o[1] for o in old):>7.2f}"
              f"{statistics.median(n[1] for n in new):>7.2f}"
              f"{middle:>9.3f}  {min(quotients):>6.3f} {max(quotients):>6.3f}"
              f"{beside:>8.3f}"
              f"{mark}")
    if worse:
        print(f"{worse} row{'' if worse == 1 else 's'} worse by more than "
              f"{given.limit:g} %")
    else:
        print(f"no row worse by more than {given.limit:g} %")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
