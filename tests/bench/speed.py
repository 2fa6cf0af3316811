#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the picture in README.md from tables of `apsmpi bench` (make bench-speed).

    python3 tests/bench/speed.py table BENCH.csv... >tests/bench/speed.csv
    python3 tests/bench/speed.py picture tests/bench/speed.csv >tests/bench/speed.svg

A line of speed.csv is a bar: network, floats, format, bits, and native FP32's median
time over the format's; `low` and `high` are the ratios of opposite quartiles, which the
picture shows as a line in the bar. Needs only Python's standard library, and always
draws the same bytes.
"""
import csv
import sys
from html import escape

BITS = {"e5m10": "16", "e4m3": "8", "e3m0": "4"}
COLOURS = {"16": "#0072B2", "8": "#D55E00", "4": "#009E73"}
WIDTH, LEFT, RIGHT, TOP = 720, 190, 70, 58
BAR, GAP = 14, 12
FONT = 'font-family="sans-serif" font-size="12" fill="#222222"'


def network(row):
    if row["hosts"] == "1":
        return "one node, %s ranks" % row["ranks"]
    return "%s hosts, %g Gbit/s" % (row["hosts"], float(row["wire_gbit"]))


def lines(path):
    """The lines of speed.csv for the rows of a bench."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    native = {row["count"]: row for row in rows if row["variant"] == "fp32"}
    for row in rows:
        if row["variant"] in BITS:
            fp32 = native[row["count"]]
            yield (network(row), "%g Mi" % round(int(row["count"]) / 2 ** 20, 1),
                   row["variant"], BITS[row["variant"]]) + tuple(
                       "%.3g" % (float(fp32[a]) / float(row[b])) for a, b in (
                           ("median_usec", "median_usec"), ("q1_usec", "q3_usec"),
                           ("q3_usec", "q1_usec")))


def table(paths):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("network floats format bits times low high".split())
    for path in paths:
        out.writerows(lines(path))


def read(path):
    """The lines of the file, grouped by network and floats, in order."""
    groups = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            groups.setdefault((row["network"], row["floats"]), []).append(row)
    return groups


def text(x, y, words, anchor="start", size=None):
    return '<text x="%g" y="%g" text-anchor="%s" %s>%s</text>' % (
        x, y, anchor, FONT if size is None else
        FONT.replace('"12"', '"%d"' % size), escape(words))


def draw(groups):
    bars = [row for rows in groups.values() for row in rows]
    most = max(float(row["high"]) for row in bars)
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = TOP + len(bars) * BAR + len(groups) * GAP
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d">' % (WIDTH, bottom + 34, WIDTH, bottom + 34),
           '<title>MPI_Allreduce of floats: times faster than native FP32'
           '</title>',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           text(10, 20, "MPI_Allreduce of floats: times faster than native "
                "FP32", size=14)]
    x = LEFT
    for row in list(groups.values())[0]:
        out.append('<rect x="%g" y="32" width="12" height="12" fill="%s"/>'
                   % (x, COLOURS[row["bits"]]))
        out.append(text(x + 17, 43, "%s, %s bits"
                        % (row["format"], row["bits"])))
        x += 130
    for tick in range(0, int(most) + 1):
        at = LEFT + tick * scale
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" '
                   'stroke="#dddddd"/>' % (at, TOP, at, bottom))
        out.append(text(round(at, 1), bottom + 16, "%d" % tick, "middle"))
    y = TOP + GAP / 2
    for (network, floats), rows in groups.items():
        middle = y + len(rows) * BAR / 2
        out.append(text(LEFT - 8, middle - 2, network, "end"))
        out.append(text(LEFT - 8, middle + 12, floats + " floats", "end"))
        for row in rows:
            times, low, high = (float(row[c]) for c in ("times", "low", "high"))
            out.append('<rect x="%d" y="%g" width="%.1f" height="%d" fill="%s"/>' % (
                LEFT, y, times * scale, BAR - 2, COLOURS[row["bits"]]))
            out.append('<line x1="%.1f" y1="%g" x2="%.1f" y2="%g" stroke="#222222"/>'
                       % (LEFT + low * scale, y + BAR / 2 - 1, LEFT + high * scale,
                          y + BAR / 2 - 1))
            out.append(text(round(LEFT + max(times, high) * scale + 4, 1), y + 11,
                            "%g" % times, size=11))
            y += BAR
        y += GAP
    out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#222222" '
               'stroke-dasharray="3 2"/>' % (LEFT + scale, TOP, LEFT + scale,
                                             bottom))
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table(sys.argv[2:])
    else:
        sys.stdout.write(draw(read(sys.argv[2])))
