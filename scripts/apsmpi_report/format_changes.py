# SPDX-License-Identifier: BSD-3-Clause
"""The formats that were chosen for layers while the program ran (format: {auto:
...}): the events of a log, and the table of them."""

import collections
import math
import re

from apsmpi_log.runs import parse_begin
from apsmpi_log.text import NAN

from .table_layout import Column, fit, layout
from .text import WIDTH, show_count, show_fixed

HEADING = "formats chosen while the program ran (format: {auto: ...})"
SHOWN = 6               # changes in a line of the table, the last ones

# after: the format from `step` on; quality: its ratio in dB or its relative error.
Change = collections.namedtuple("Change", "step before after quality unit part")


class Place(collections.namedtuple("Place", "run comm layer count name rule target")):
    """A layer under one rule in one run."""

    __slots__ = ()

    def label(self):
        if self.layer < 0:
            return show_count("", self.count)
        return ("%d  %s" % (self.layer, self.name)).strip()


def number(text, kind, otherwise):
    try:
        return kind(text)
    except (TypeError, ValueError):
        return otherwise


def parse_change(text):
    """Returns (Place, Change), or None if an event is of another kind or incomplete."""
    if not text.startswith("auto run="):
        return None
    said = parse_begin(text)
    if not {"comm", "layer", "count", "step", "from", "to"} <= set(said):
        return None
    place = Place(said["run"], said["comm"], number(said["layer"], int, -1),
                  number(said["count"], int, 0), said.get("name", ""),
                  said.get("rule", ""), said.get("target", ""))
    unit = "err" if "err" in said else "snr"
    fp32 = said["to"] == "fp32"
    wire, full = (number(said.get(key), float, NAN)
                  for key in ("wire_bytes", "fp32_bytes"))
    return place, Change(number(said["step"], int, 0), said["from"], said["to"],
                         NAN if fp32 else number(said.get(unit), float, NAN), unit,
                         1.0 if fp32 else wire / full if full > 0 else NAN)


def changes_of(log):
    """Returns {Place: [Change]}, in the order of the layers, for the layers that the
    options of the log select."""
    options = log.options
    changes = collections.defaultdict(list)
    for text in log.events:
        found = parse_change(text)
        if not found:
            continue
        place, change = found
        if options.comm is not None and place.comm != options.comm:
            continue
        if options.layers and not options.layers(place.layer, place.name):
            continue
        changes[place].append(change)
    runs = list(dict.fromkeys(place.run for place in changes))
    return dict(sorted(changes.items(), key=lambda item: (
        runs.index(item[0].run),) + tuple(item[0])[1:]))


def other_events(log):
    """Returns {text: times} for events that are not changes of formats."""
    return {text: times for text, times in log.events.items()
            if not parse_change(text)}


def show_quality(change):
    if math.isnan(change.quality):
        return "-"
    if change.unit == "err":
        return "err %.3g" % change.quality
    return "%.1f dB" % change.quality


def history(changes):
    """Returns a text such as `e3m2 from 0, e5m2 from 12`."""
    shown = ["%s from %d" % (change.after, change.step) for change in changes[-SHOWN:]]
    return ", ".join(["..."] * (len(changes) > SHOWN) + shown)


def change_columns(changes):
    """Returns the columns of the table, with a line for each Place."""
    places, lists = list(changes), list(changes.values())
    runs = list(dict.fromkeys(place.run for place in places))
    columns = []
    if len(runs) > 1:
        columns.append(Column("run", ">", [str(runs.index(p.run) + 1)
                                           for p in places]))
    if len({place.comm for place in places}) > 1:
        columns.append(Column("comm", "<", [place.comm for place in places]))
    columns.append(Column("layer", ">", ["-" if p.layer < 0 else str(p.layer)
                                         for p in places]))
    if any(place.name for place in places):
        columns.append(Column("name", "<", [place.name for place in places]))
    return columns + [
        Column("count", ">", [str(place.count) for place in places]),
        Column("target", "<", [place.target for place in places]),
        Column("changes", ">", [str(len(some) - 1) for some in lists]),
        Column("format", "<", [some[-1].after for some in lists]),
        Column("error", ">", [show_quality(some[-1]) for some in lists]),
        Column("bytes%", ">", [show_fixed(100 * some[-1].part, 1)
                               for some in lists]),
        Column("formats by step", "<", [history(some) for some in lists])]


def change_lines(changes, width=WIDTH):
    """Returns the table as lines of text."""
    columns = change_columns(changes)
    gap = fit(columns, width)
    if gap is None:             # the last column becomes narrower
        rest = sum(c.width for c in columns[:-1]) + len(columns) - 1
        columns[-1].width = max(20, width - rest)
        gap = 1
    return [re.sub(r" +$", "", line) for line in layout(columns, gap, total=False)]
