# SPDX-License-Identifier: BSD-3-Clause
"""The drawings of the page, as SVG inside HTML. Each can be read without a script;
`data-` attributes tell the page's script what lies under the mouse."""

import bisect
import html
import math

from apsmpi_log.text import plural, shorten

from .page_maps import NAME_MAX, Scale, draw_map, drawable
from .svg import (BLUE, INK, LETTER, LINES, ORANGE, PALE, RED, WIDTH, box, drawing,
                  element, label, line, powers, round_numbers)
from .text import show_bytes, show_count

PLOT_HEIGHT = 200


def layer_name(key, stats, several):
    """A layer as the figures name it."""
    comm, layer, count, call = key
    where = comm + ": " if several else ""
    if layer < 0:
        return where + show_count(call, count)
    return where + ("%d  %s" % (layer, stats.name())).strip()


def row_names(log, grid):
    several = len({key[0] for key in log.layers}) > 1
    names = []
    for keys in grid.rows:
        name = layer_name(keys[0], log.layers[keys[0]], several)
        names.append(name if len(keys) == 1 else
                     "%s and %d more" % (shorten(name, NAME_MAX - 12), len(keys) - 1))
    return names


def ticks_of(grid, most):
    """(column, text) of the steps that an axis names, at least a few columns
    apart; of a single run these are round."""
    if len(grid.runs) > 1:
        every = max(1, math.ceil(len(grid.columns) / most))
        ticks, before = [], -every
        for i, (run, first, _, _) in enumerate(grid.columns):
            if run != grid.columns[i - 1][0] or i - before >= every:
                if i - before > every / 2:
                    ticks.append((i, "%d" % first))
                    before = i
        return ticks
    starts = [first for _, first, _, _ in grid.columns]
    ticks = {}
    for step in round_numbers(starts[0], grid.columns[-1][3], most):
        column = max(bisect.bisect_right(starts, step) - 1, 0)
        if step == int(step) and starts[column] <= step <= grid.columns[column][3]:
            ticks.setdefault(column, "%d" % step)
    return list(ticks.items()) or [(0, "%d" % starts[0])]


def step_axis(grid, left, width, y):
    """Names of steps below a drawing; where a run begins a line through it."""
    content, cell = [], width / len(grid.columns)
    for i, text in ticks_of(grid, 9):
        middle = left + (i + .5) * cell
        content += [line(middle, y, middle, y + 4, INK),
                    label(middle, y + 16, text, "middle")]
    before = -1e9
    for i, (run, _, _, _) in enumerate(grid.columns):
        if len(grid.runs) == 1 or (i and run == grid.columns[i - 1][0]):
            continue
        x = left + i * cell
        if i:
            content.append(line(x, 0, x, y, INK, stroke_dasharray="3 3"))
        if x - before > 60:
            content.append(label(x + 2, y + 31, "run %d" % (run + 1)))
            before = x
    text = "step" if grid.share == 1 else (
        "step (a column is the mean of up to %d logged steps)" % grid.share)
    content.append(label(left + width, y + 32, text, "end"))
    return "".join(content)


def figure_map(log, grid, values, stops, kind, about):
    """Layers by steps; None where there is no value."""
    scale = Scale([value for row in values for value in row], stops, kind)
    if scale.empty:
        return None
    return draw_map(
        row_names(log, grid),
        [grid.column_name(i) for i in range(len(grid.columns))], values, scale, about,
        lambda left, width, y: step_axis(grid, left, width, y),
        about + ", by layer and step")


def figure_errors(logs, grids):
    """The mean error by step, a line for each log; None where no error is above
    0."""
    curves = [grid.by_step(log.cells.err) for log, grid in zip(logs, grids)]
    good = [value for curve in curves for value in curve if drawable(value)]
    if not good:
        return None
    low, high = max(min(good), max(good) * 1e-6) / 1.2, max(good) * 1.2
    left, top, width = 62.0, 8.0, WIDTH - 70.0
    content = []

    def y_of(value):
        part = math.log(max(value, low) / low) / math.log(high / low)
        return top + PLOT_HEIGHT * (1 - part)

    for tick in powers(low, high):
        content += [line(left, y_of(tick), left + width, y_of(tick)),
                    label(left - 6, y_of(tick) + 4, "%.4g" % tick, "end")]
    one = len(logs) == 1
    first = min(g.columns[0][1] for g in grids)
    last = max(max(column[3] for column in g.columns) for g in grids)
    for log, grid, curve, colour in zip(logs, grids, curves, LINES * len(logs)):
        def x_of(i, grid=grid):
            if one or len(grid.runs) > 1:       # as in the maps
                return left + (i + .5) * width / len(grid.columns)
            return left + width * (grid.columns[i][1] - first) / max(last - first, 1)

        path, pen = [], "M"
        for i, value in enumerate(curve):
            if i and grid.columns[i][0] != grid.columns[i - 1][0]:
                pen = "M"
            if not drawable(value):
                pen = "M"
                if math.isinf(value):
                    content.append(label(x_of(i), top + 9, "×", "middle", fill=RED,
                                         font_weight="bold"))
                continue
            path.append("%s%.1f %.1f" % (pen, x_of(i), y_of(value)))
            content.append(element(
                "circle", element("title", html.escape("%s%s: %.3g" % (
                    "" if one else log.label + ", ", grid.column_name(i), value))),
                cx="%.1f" % x_of(i), cy="%.1f" % y_of(value),
                r=2.5 if len(curve) < 60 else 1.6, fill=colour))
            pen = "L"
        content.append(element("path", d="".join(path), fill="none", stroke=colour,
                               stroke_width=1.6))
    bottom = top + PLOT_HEIGHT
    if one or any(len(grid.runs) > 1 for grid in grids):
        content.append(step_axis(grids[0], left, width, bottom))
    else:
        for tick in round_numbers(first, last):
            x = left + width * (tick - first) / max(last - first, 1)
            content += [line(x, bottom, x, bottom + 4, INK),
                        label(x, bottom + 16, "%d" % tick, "middle")]
        content.append(label(left + width, bottom + 32, "step", "end"))
    x, y = left, bottom + 34
    for log, colour in zip(logs, LINES * len(logs)):
        text = shorten(log.label, 40)
        if one:
            break
        if x + 30 + LETTER * len(text) > WIDTH - 60:
            x, y = left, y + 16
        content += [line(x, y - 4, x + 18, y - 4, colour, stroke_width=3),
                    label(x + 24, y, text)]
        x += 40 + LETTER * len(text)
    return drawing(y + 10, "mean round-off error by step", *content)


def figure_overflows(log, grid):
    """Rows with an overflow, and chunks that were reduced again, by step; None
    where there are none."""
    bars = [(text, colour, numbers) for text, colour, numbers in (
        ("rows in which a value overflowed", ORANGE, grid.sums(log.cells.over)),
        ("chunks reduced again", BLUE, grid.sums(log.cells.redone)))
        if any(numbers)]
    if not bars:
        return None
    left, height = 62.0, 60.0
    width = WIDTH - left - 8
    cell = width / len(grid.columns)
    content, y = [], 0.0
    for text, colour, numbers in bars:
        most = max(numbers)
        content += [label(left, y + 12, "%s: %d" % (text, sum(numbers))),
                    label(left - 6, y + 30, "%d" % most, "end"),
                    label(left - 6, y + 20 + height, "0", "end"),
                    line(left, y + 20 + height, left + width,
                         y + 20 + height)]
        for i, number in enumerate(numbers):
            if number:
                tall = max(2.0, height * number / most)
                content.append(box(
                    left + i * cell, y + 20 + height - tall, max(cell * .9, 1), tall,
                    colour, element("title", html.escape(
                        "%s: %d %s" % (grid.column_name(i), number, text)))))
        y += height + 34
    content.append(step_axis(grid, left, width, y - 14))
    return drawing(y + 26, "overflows and chunks reduced again, by step", *content)


def figure_bytes(logs):
    """What was sent, before what FP32 would have sent; None where nothing was."""
    most = max(max(log.total.fp32, log.total.wire) for log in logs)
    if not most:
        return None
    names = [shorten(log.label, NAME_MAX) for log in logs]
    left = 12 + LETTER * max(5, max(map(len, names))) if len(logs) > 1 else 12
    width = WIDTH - left - 190
    content, y = [], 0.0
    for name, log, colour in zip(names, logs, LINES * len(logs)):
        total = log.total
        if len(logs) > 1:
            content.append(label(left - 6, y + 19, name, "end"))
        content += [
            box(left, y + 2, width * total.fp32 / most, 24, PALE),
            box(left, y + 7, width * total.wire / most, 14, colour),
            label(left + width * max(total.fp32, total.wire) / most + 8, y + 19,
                  "%s instead of %s" % (show_bytes(total.wire),
                                        show_bytes(total.fp32)))]
        y += 32
    content.append(label(left, y + 12, "bytes that the logging rank sent in the "
                         "sampled calls; pale: in FP32", fill="#666"))
    return drawing(y + 20, "bytes sent, of %s" % plural(len(logs), "log"), *content)
