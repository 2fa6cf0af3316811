# SPDX-License-Identifier: BSD-3-Clause
"""Prints how the bench ran with several MPIs: bench.py FOLDER MPI...

A row for each number of floats. For each MPI: the microseconds of its FP32 sum, how
many times faster 8 bits are than that sum, than its fastest sum of 16 bits, and than
its sum of as many bytes; and their time over that of memcpy.
"""
import csv
import os
import sys

TITLES = "FP32 us", "8 bits", "to 16", "to bytes", "memcpy"


def medians(path):
    """{count: {variant: microseconds}}"""
    found = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(int(row["count"]), {})[row["variant"]] = float(
                row["median_usec"])
    return found


def cells(times):
    ours = times["e4m3"]
    halves = [times[name] for name in ("MPI bf16", "MPI fp16") if name in times]
    yield "%.1f" % times["fp32"]
    yield "%.2f" % (times["fp32"] / ours)
    yield "%.2f" % (min(halves) / ours) if halves else "-"
    yield "%.2f" % (times["int8"] / ours)
    yield "%.2f" % (ours / times["memcpy"])


def main():
    folder, *mpis = sys.argv[1:]
    tables = {mpi: medians(path) for mpi in mpis
              if os.path.exists(path := os.path.join(folder, f"bench-{mpi}.csv"))}
    for mpi, table in tables.items():
        print(mpi.ljust(14) + "".join(title.rjust(11) for title in TITLES))
        for count, times in sorted(table.items()):
            print(str(count).rjust(14) + "".join(
                cell.rjust(11) for cell in cells(times)))


main()
