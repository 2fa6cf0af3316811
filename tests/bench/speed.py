#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the picture in README.md.

    python3 tests/bench/speed.py tests/bench/speed.csv >tests/bench/speed.svg

Reads the speed-ups in the CSV file, a line a bar: network, floats, format,
bits, and the lowest and the highest speed-up over runs. A bar ends at the
highest; if the two differ its end, from the lowest on, is hatched. Needs only
Python's standard library, and always draws the same bytes.
"""
import csv
import sys
from html import escape

COLOURS = {"16": "#0072B2", "8": "#D55E00", "4": "#009E73"}
WIDTH, LEFT, RIGHT, TOP = 720, 190, 70, 58
BAR, GAP = 14, 12
FONT = 'font-family="sans-serif" font-size="12" fill="#222222"'


def read(path):
    """The lines of the file, grouped by network and floats, in order."""
    groups = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(l for l in file if not l.startswith("#")):
            groups.setdefault((row["network"], row["floats"]), []).append(row)
    return groups


def text(x, y, words, anchor="start", size=None):
    return '<text x="%g" y="%g" text-anchor="%s" %s>%s</text>' % (
        x, y, anchor, FONT if size is None else
        FONT.replace('"12"', '"%d"' % size), escape(words))


def label(low, high):
    return "%g" % high if low == high else "%g to %g" % (low, high)


def draw(groups):
    bars = [row for rows in groups.values() for row in rows]
    most = max(float(row["high"]) for row in bars)
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = TOP + len(bars) * BAR + len(groups) * GAP
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d">' % (WIDTH, bottom + 34, WIDTH, bottom + 34),
           '<title>MPI_Allreduce of floats: times faster than native FP32'
           '</title>',
           '<defs><pattern id="range" width="4" height="4" '
           'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
           '<rect width="2" height="4" fill="#ffffff"/></pattern></defs>',
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
            low, high = float(row["low"]), float(row["high"])
            out.append('<rect x="%d" y="%g" width="%.1f" height="%d" '
                       'fill="%s"/>' % (LEFT, y, high * scale, BAR - 2,
                                        COLOURS[row["bits"]]))
            if low != high:
                out.append('<rect x="%.1f" y="%g" width="%.1f" height="%d" '
                           'fill="url(#range)"/>' % (
                               LEFT + low * scale, y, (high - low) * scale,
                               BAR - 2))
            out.append(text(round(LEFT + high * scale + 4, 1), y + 11,
                            label(low, high), size=11))
            y += BAR
        y += GAP
    out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#222222" '
               'stroke-dasharray="3 2"/>' % (LEFT + scale, TOP, LEFT + scale,
                                             bottom))
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw(read(sys.argv[1])))
