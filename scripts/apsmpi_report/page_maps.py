# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the page: values by rows and columns as colours, with a legend. `data-`
attributes tell the page's script what lies under the mouse."""

import json
import math

from apsmpi_log.text import shorten

from .svg import LETTER, PALE, RED, WIDTH, box, drawing, element, label, powers
from .svg import ramp, round_numbers, show

ERROR_STOPS = ((253, 246, 216), (150, 210, 180), (63, 155, 176), (39, 80, 143),
               (37, 20, 80))
EXPONENT_STOPS = ((255, 243, 224), (242, 181, 107), (201, 101, 58), (90, 30, 45))
SHADES = 24             # of a scale without steps of its own
NAME_MAX = 30           # letters of a row's name beside a map
TOP = 6                 # above a map, for the name of the first row


def drawable(value):
    """Has it a place on a logarithmic axis?"""
    return 1e-300 < value < 1e300


class Scale:
    """The colours of a map."""

    def __init__(self, values, stops, kind):
        """kind: "log", "linear" or "whole", for whole numbers."""
        self.kind = kind
        good = [value for value in values if (
            drawable(value) if kind == "log" else math.isfinite(value))]
        self.empty = not good
        if self.empty:
            return
        self.low, self.high = min(good), max(good)
        if kind == "log":
            self.low = max(self.low, self.high * 1e-6)
        self.number = SHADES
        if kind == "whole":
            self.low, self.high = math.floor(self.low), math.ceil(self.high)
            self.number = min(self.high - self.low + 1, SHADES)
        elif self.high <= self.low:
            self.number = 1
        self.colours = ramp(stops, self.number)

    def part(self, value):
        """Where the value lies, from 0 to 1."""
        if not self.high > self.low:
            return 0.0
        if self.kind == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def colour(self, value):
        """None for what is not drawn."""
        if value != value:
            return None
        if math.isinf(value):
            return RED
        if self.kind == "log" and value < self.low:
            return PALE
        return self.colours[min(int(self.part(value) * self.number),
                                self.number - 1)]

    def ticks(self):
        if not self.high > self.low:
            return [self.low]
        if self.kind == "log":
            return powers(self.low, self.high)
        return [tick for tick in round_numbers(self.low, self.high)
                if self.kind != "whole" or tick == round(tick)]


def squares(grid, colour):
    """Paths in units of a cell: one for each colour, neighbours together."""
    paths = {}
    for y, row in enumerate(grid):
        start, before = 0, None
        for x, value in enumerate(row + [float("nan")]):
            now = colour(value) if x < len(row) else None
            if now != before:
                if before:
                    paths.setdefault(before, []).append(
                        "M%d %dh%dv1h%dz" % (start, y, x - start, start - x))
                start, before = x, now
    return "".join(element("path", d="".join(parts), fill=colour)
                   for colour, parts in paths.items())


def legend(scale, left, y, about, values):
    """A bar of the colours with the numbers that they stand for."""
    content, width = [], 260.0
    for i, colour in enumerate(scale.colours):
        content.append(box(left + i * width / scale.number, y,
                           width / scale.number + .5, 10, colour))
    before = -1e9
    for tick in scale.ticks():
        part = scale.part(tick)
        if scale.kind == "whole" and scale.number > 1:
            part = (part * (scale.high - scale.low) + .5) / (
                scale.high - scale.low + 1)
        elif scale.number == 1:
            part = .5
        if left + part * width - before > 34:
            before = left + part * width
            content.append(label(before, y + 22, "%.4g" % tick, "middle"))
    x = left + width + 16
    flat = [value for row in values for value in row]
    keys = []
    if scale.kind == "log" and any(value < scale.low for value in flat):
        keys.append((PALE, "0" if not any(0 < value < scale.low for value in flat)
                     else "less"))
    if any(map(math.isinf, flat)):
        keys.append((RED, "inf"))
    for colour, text in keys:
        content += [box(x, y, 10, 10, colour), label(x + 14, y + 9, text)]
        x += 24 + LETTER * len(text)
    content.append(label(x, y + 9, about))
    return "".join(content)


def draw_map(names, columns, values, scale, about, axis, described):
    """A drawing of values[row][column] below names; axis: draws what is below the
    map, from (left, width, y) on."""
    left = 12 + LETTER * min(NAME_MAX, max(map(len, names)))
    width = WIDTH - left - 8
    high = max(3.0, min(18.0, 640 / len(names)))
    height = high * len(names)
    every = max(1, math.ceil(12 / high))
    content = [label(left - 6, TOP + (i + .5) * high + 4, shorten(names[i], NAME_MAX),
                     "end")
               for i in range(0, len(names), every)]
    content.append(element(
        "g", box(0, 0, len(columns), len(names), "#fff"),
        squares(values, scale.colour), shape_rendering="crispEdges",
        transform="translate(%s %s) scale(%.6g %.6g)" % (
            show(left), TOP, width / len(columns), high)))
    content.append(axis(left, width, TOP + height))
    content.append(legend(scale, left, TOP + height + 44, about, values))
    return drawing(
        TOP + height + 70, described, *content, class_="map",
        data_left=show(left), data_top=TOP, data_width=show(width),
        data_height=show(height), data_rows=json.dumps(names),
        data_columns=json.dumps(columns),
        data_values=json.dumps([[None if v != v else "%.3g" % v for v in row]
                                for row in values], separators=(",", ":")))
