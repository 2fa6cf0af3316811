# SPDX-License-Identifier: BSD-3-Clause
"""Prints the medians of seconds.csv as a table: milliseconds of a step."""
import csv
import statistics
import sys

found = {}
with open(sys.argv[1], newline="") as table:
    for row in csv.DictReader(table):
        found.setdefault(row["framework"], {}).setdefault(row["way"], []).append(
            1000 * float(row["seconds"]))
ways = list(dict.fromkeys(way for rows in found.values() for way in rows))
print("ms a step".ljust(18) + "".join(way.rjust(12) for way in ways))
for framework, rows in found.items():
    print(framework.ljust(18) + "".join(
        ("%.1f" % statistics.median(rows[way]) if way in rows else "-").rjust(12)
        for way in ways))
