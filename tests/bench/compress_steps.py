#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the measurements of compress.sh.

    python3 tests/bench/compress_steps.py compress.csv MACHINE >compress.svg

Reads lines of network, variant, calls, native_ms, median_ms and speed_up; a
line is a bar, and those of a network are a group. MACHINE is written below the
picture. Needs only Python's standard library, and always draws the same bytes.
"""
import csv
import sys

from speed import text

COLOURS = {"blocking": "#0072B2", "nonblocking": "#009E73",
           "fused": "#D55E00"}
NETWORKS = {"1gbit": "2 hosts, 1 Gbit/s", "10gbit": "2 hosts, 10 Gbit/s",
            "node": "one node, 2 ranks"}
WIDTH, LEFT, RIGHT, TOP = 720, 150, 60, 58
BAR, GAP = 14, 30


def draw(rows, machine):
    groups = {}
    for row in rows:
        groups.setdefault(row["network"], []).append(row)
    most = max([float(row["speed_up"]) for row in rows] + [1])
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = TOP + len(rows) * BAR + len(groups) * GAP
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d">' % (WIDTH, bottom + 42, WIDTH, bottom + 42),
           "<title>A step's sums: times faster than native FP32</title>",
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           text(10, 20, "The sums of a step of ResNet-50 (161 tensors): times "
                "faster than native FP32", size=14)]
    x = LEFT
    for calls, colour in COLOURS.items():
        out.append('<rect x="%g" y="32" width="12" height="12" fill="%s"/>'
                   % (x, colour))
        out.append(text(x + 17, 43, calls))
        x += 110
    for tick in range(0, int(most) + 1):
        at = LEFT + tick * scale
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" '
                   'stroke="#dddddd"/>' % (at, TOP, at, bottom))
        out.append(text(round(at, 1), bottom + 16, "%d" % tick, "middle"))
    y = TOP
    for network, bars in groups.items():
        out.append(text(LEFT, y + 20, NETWORKS.get(network, network)))
        y += GAP
        for row in bars:
            up = float(row["speed_up"])
            out.append(text(LEFT - 8, y + 11, row["variant"], "end", 11))
            out.append('<rect x="%d" y="%g" width="%.1f" height="%d" '
                       'fill="%s"/>' % (LEFT, y, up * scale, BAR - 2,
                                        COLOURS[row["calls"]]))
            out.append(text(round(LEFT + up * scale + 4, 1), y + 11,
                            "%.1f" % up, size=11))
            y += BAR
    out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#222222" '
               'stroke-dasharray="3 2"/>' % (LEFT + scale, TOP, LEFT + scale,
                                             bottom))
    out.append(text(10, bottom + 34, machine, size=11))
    return "\n".join(out + ["</svg>"]) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8") as lines:
        sys.stdout.write(draw(list(csv.DictReader(lines)), sys.argv[2]))
