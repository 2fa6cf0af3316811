# SPDX-License-Identifier: BSD-3-Clause
"""The page about formats that were chosen while the program ran: each layer's over
the steps."""

import html
import math

from apsmpi_log.text import plural, shorten

from .format_changes import change_columns, changes_of
from .page_maps import NAME_MAX
from .page_parts import table, words
from .svg import (INK, LETTER, LINES, PALE, WIDTH, box, drawing, element, label, line,
                  round_numbers)

ROWS_MAX = 200          # layers in a drawing
RUNS_SHOWN = 3          # drawings: of the last runs
TOP = 6


def colours_of(changes):
    """{format: colour}: by the part of FP32's bytes, FP32 last."""
    parts = {}
    for some in changes.values():
        for change in some:
            part = 2.0 if change.after == "fp32" else change.part
            if not part >= parts.get(change.after, math.inf):
                parts[change.after] = part
    names = sorted(parts, key=lambda name: (parts[name], name))
    colours = dict(zip((name for name in names if name != "fp32"), LINES * len(names)))
    return {name: colours.get(name, PALE) for name in names}


def last_step(log, run, changes):
    """Of the rows of the run, and of its changes."""
    last = max(change.step for some in changes.values() for change in some)
    index, cells = log.runs.get(run), log.cells
    return max([last] + [step for step, one in zip(cells.step, cells.run)
                         if one == index])


def spans(changes, end):
    """[(format, first step, step behind the last, change)]."""
    ends = [change.step for change in changes[1:]] + [end]
    return [(change.after, change.step, behind, change)
            for change, behind in zip(changes, ends) if behind > change.step]


def draw_changes(places, changes, end, colours):
    names = [place.label() for place in places]
    left = 12 + LETTER * min(NAME_MAX, max(map(len, names)))
    width, high = WIDTH - left - 8, max(4.0, min(18.0, 640 / len(names)))
    first = min(changes[place][0].step for place in places)
    unit = width / max(end - first, 1)
    content = []
    for i, place in enumerate(places):
        if i % max(1, math.ceil(12 / high)) == 0:
            content.append(label(left - 6, TOP + (i + .5) * high + 4,
                                 shorten(names[i], NAME_MAX), "end"))
        for name, start, behind, change in spans(changes[place], end):
            text = "%s: %s, steps %d to %d" % (names[i], name, start, behind - 1)
            if not math.isnan(change.quality):
                text += ", %s %.3g when it was measured" % (change.unit, change.quality)
            content.append(box(
                left + (start - first) * unit, TOP + i * high, (behind - start) * unit,
                high - 1, colours[name], element("title", html.escape(text)),
                class_="span"))
    y = TOP + high * len(names)
    for step in round_numbers(first, end):
        if step == int(step):
            x = left + (step - first) * unit
            content += [line(x, y, x, y + 4, INK),
                        label(x, y + 16, "%d" % step, "middle")]
    content.append(label(left + width, y + 32, "step", "end"))
    x = left
    for name, colour in colours.items():
        content += [box(x, y + 44, 10, 10, colour), label(x + 14, y + 53, name)]
        x += 30 + LETTER * len(name)
    return drawing(y + 64, "formats of layers by step", *content)


def format_sections(log):
    """A heading, a drawing for each run, and the table; nothing where no formats
    were chosen."""
    changes = changes_of(log)
    if not changes:
        return ""
    colours = colours_of(changes)
    runs = list(dict.fromkeys(place.run for place in changes))
    parts = [element("h3", "Formats of the layers, chosen while the program ran")]
    for run in runs[-RUNS_SHOWN:]:
        some = {place: c for place, c in changes.items() if place.run == run}
        places = list(some)[:ROWS_MAX]
        if len(runs) > 1:
            parts.append(element("p", words("run %s" % run), class_="soft"))
        parts.append(element("div", draw_changes(
            places, some, last_step(log, run, some) + 1, colours), class_="wide"))
        if len(some) > ROWS_MAX:
            parts.append(element("p", words("and %s" % plural(
                len(some) - ROWS_MAX, "layer")), class_="soft"))
    columns = change_columns(changes)
    parts.append(table([c.heading for c in columns],
                       list(zip(*(c.cells for c in columns))),
                       [i for i, c in enumerate(columns) if c.align == "<"],
                       class_="formats"))
    return "\n".join(parts)
