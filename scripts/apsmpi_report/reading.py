# SPDX-License-Identifier: BSD-3-Clause
"""Reads round-off logs: in one pass, and never held in memory, except for a few
numbers a row where a figure is asked for."""

import bisect
import collections
import os
import re

from .cells import Cells
from .columns import Header, picker
from .runs import LastRun, layer_keys
from .statistics import Share, Stats, merge
from .text import NOTES_MAX, ReportError, note, shorten

BLOCK = 1 << 21         # bytes that are read at once
LINE_MAX = 1 << 16      # bytes of a line; the library's have 3 KiB at most


KEYS = {    # of a line of the table: (comm, what it stands for, ...) of each row
    "layer": layer_keys,
    "step": lambda columns: list(zip(columns["comm"], columns["step"])),
    "epoch": lambda columns: list(zip(columns["comm"], columns["epoch"])),
    "format": lambda columns: list(zip(columns["comm"], columns["format"])),
}


def rows_by(keys):
    """{key: numbers of its rows}, in the order of the keys."""
    groups = collections.defaultdict(list)
    for row, key in enumerate(keys):
        groups[key].append(row)
    return groups


class Log:
    """One log file, summarised."""

    def __init__(self, path, options, figures=False):
        """figures: keep what they need of each row."""
        self.path = path
        self.label = path
        self.options = options
        self.figures = figures
        self.say = note         # takes notes for the user
        self.has_rows = False   # before any filter
        self.malformed = 0
        self.begun = {}         # of each run, what the log says at its start
        self.header = None
        self.number = 0         # of lines that were read
        self.rest = b""         # behind the last end of a line
        self.too_long = False   # the line that began in `rest`
        self.truncated = False  # the file ends within a line
        self.last_run = LastRun() if options.last else None
        self.pending = []       # events since the last row
        self.clear()

    def clear(self):
        """Forget all rows, as at the start of a new run under --last."""
        self.groups = {}
        self.layers = {}
        self.layer_keys = {}
        self.first = self.last = None
        self.events = collections.Counter()
        self.runs = {}          # ids, as an ordered set
        self.cells = Cells() if self.figures else None
        self.merged = None

    @property
    def total(self):
        if self.merged is None:
            self.merged = merge(self.summary().values())
        return self.merged

    def summary(self):
        return self.layers if self.options.by == "layer" else self.groups

    def why_empty(self):
        return ("no row matches the filters" if self.has_rows
                else "a header and no rows")

    # --- from bytes to lines

    def read(self):
        try:
            with open(self.path, "rb") as file:
                while True:
                    data = file.read(BLOCK)
                    if not data:
                        break
                    self.feed(data)
        except OSError as error:
            raise ReportError("%s: %s" % (self.path, error.strerror)) from None
        self.finish()

    def feed(self, data):
        """Read what the file has next. A line that does not end yet waits."""
        data = self.rest + data
        end = data.rfind(b"\n") + 1
        self.rest = data[end:]
        if self.too_long and end > 0:
            start = data.find(b"\n") + 1
            data, end = data[start:], end - start
            self.number += 1
            self.skip_line(self.number, "a line of more than %d bytes" % LINE_MAX)
            self.too_long = False
        if end > 0:
            self.read_text(data[:end].decode("utf-8", "replace"))
        if len(self.rest) > LINE_MAX:
            if not self.header:
                raise ReportError("%s:%d: not a round-off log: a line of more than "
                                  "%d bytes" % (self.path, self.number + 1, LINE_MAX))
            self.too_long = True
        if self.too_long:
            self.rest = self.rest[:1]

    def finish(self):
        """The file has ended."""
        number = self.number + bool(self.rest)
        if number == 0:
            raise ReportError("%s:1: the file is empty, and no round-off log"
                              % self.path)
        rest, self.rest = self.rest.decode("utf-8", "replace"), b""
        if rest and not self.header and not rest.startswith("#"):
            self.read_header(rest.rstrip("\r"), number)
            rest = ""
        if not self.header:
            raise ReportError("%s:%d: the file ends without a header"
                              % (self.path, number))
        if rest:
            self.truncated = True
            self.say("%s:%d: truncated last line ignored" % (self.path, number))
        self.events.update(self.pending)
        self.pending = []

    def read_text(self, text):
        """Whole lines."""
        if "\r\n" in text:
            text = re.sub(r"\r+\n", "\n", text)
        lines = text.split("\n")[:-1]
        first = self.number + 1
        self.number += len(lines)
        start = 0
        while not self.header and start < len(lines):
            if lines[start].startswith("#"):
                self.take_events([self.read_event(lines[start])])
            else:
                self.read_header(lines[start], first + start)
            start += 1
        if start:
            del lines[:start]
            first += start
        if lines:
            self.read_lines(lines, first, text)

    def read_header(self, line, number):
        try:
            self.header = Header(line)
        except ValueError as error:
            raise ReportError(
                "%s:%d: not a round-off log: %s in the header '%s'"
                % (self.path, number, error, shorten(line, 60))) from None

    def read_lines(self, lines, first, text):
        """Lines behind the header, the first of which has this number."""
        numbers = range(first, first + len(lines))
        events = []         # (how many rows come before, text)
        if ("\n#" in text or "\n\n" in text or text[0] in "#\n"
                or self.header.line in text):
            rows = []
            for number, line in zip(numbers, lines):
                if line.startswith("#"):
                    events.append((len(rows), line))
                elif line and line != self.header.line:
                    rows.append((number, line))
            numbers = [number for number, _ in rows]
            lines = [line for _, line in rows]
        for start, columns in self.header.parse(lines):
            if isinstance(columns, str):
                self.skip_line(numbers[start], columns)
                continue
            now = bisect.bisect_left(events, (start + columns.rows,))
            self.read_rows(columns, [(max(0, row - start), self.read_event(line))
                                     for row, line in events[:now]])
            del events[:now]
        self.take_events([self.read_event(line) for _, line in events])

    def skip_line(self, number, why):
        self.malformed += 1
        if self.malformed <= NOTES_MAX:
            self.say("%s:%d: %s; line skipped" % (self.path, number, why))
        elif self.malformed == NOTES_MAX + 1:
            self.say("%s: more malformed lines follow" % self.path)

    # --- from lines to what the tables and figures show

    def read_event(self, line):
        """The text of an event; None, if a run begins with it."""
        text = line[1:].strip()
        run = re.match(r"run=(\S+) (.*)", text)
        if not run:
            return text
        self.begun[run[1]] = run[2]
        return None

    def take_events(self, texts):
        """Events behind which no row has come yet: with --last and --since they
        belong to that row."""
        self.pending += [text for text in texts if text is not None]
        if not self.last_run and self.options.since is None:
            self.events.update(self.pending)
            self.pending = []

    def read_rows(self, columns, events):
        """Rows, and events: the number of the row behind each, and its text."""
        self.has_rows = True
        events = [(0, text) for text in self.pending] + [
            (row, text) for row, text in events if text is not None]
        self.pending = []
        kept, begin = range(columns.rows), None
        if self.last_run:
            kept, begin = self.last_run.select(columns)
        counted = []
        for row, text in events:
            place = bisect.bisect_left(kept, row)
            if place == len(kept):
                self.pending.append(text)
            elif ((begin is None or kept[place] >= begin)
                  and not self.is_old(columns["time"][kept[place]])):
                counted.append(text)
        if begin is not None:
            self.clear()
            kept = kept[bisect.bisect_left(kept, begin):]
        self.events.update(counted)
        kept = self.filter(columns, kept)
        if kept:
            self.add(columns.select(kept) if len(kept) < columns.rows else columns)

    def is_old(self, time):
        return self.options.since is not None and time < self.options.since

    def filter(self, columns, rows):
        """Those of the rows that the options ask for."""
        options = self.options
        if options.since is not None:
            times = columns["time"]
            rows = [row for row in rows if times[row] >= options.since]
        if options.comm is not None:
            comms = columns["comm"]
            rows = [row for row in rows if comms[row] == options.comm]
        if options.layers:
            layers = list(zip(columns["layer"], columns["name"]))
            wanted = {layer: options.layers(*layer) for layer in set(layers)}
            rows = [row for row in rows if wanted[layers[row]]]
        return rows

    def add(self, columns):
        times, runs = columns["time"], columns["run"]
        self.first = min([min(times)] + [self.first] * (self.first is not None))
        self.last = max([max(times)] + [self.last] * (self.last is not None))
        self.runs.update(dict.fromkeys(
            runs[:1] if "run" in columns.same else runs, True))
        self.merged = None
        layers = layer_keys(columns)
        by = self.options.by
        if by == "layer" or self.figures:
            self.gather(self.layers, "layer", layers, layers, columns)
        if by != "layer":
            # Each key once: many lines of the table hold the same layers.
            layers = [self.layer_keys.setdefault(key, key) for key in layers]
            self.gather(self.groups, by, KEYS[by](columns), layers, columns)
        if self.figures:
            self.cells.add(columns, [self.layers[key].index for key in layers])

    def gather(self, groups, by, keys, layers, columns):
        """Add each row to the line of the table that its key stands for."""
        share = Share(columns, by)
        rows_of = rows_by(keys)
        for key, rows in rows_of.items():
            stats = groups.get(key)
            if stats is None:
                stats = groups[key] = Stats(by)
                stats.index = len(groups) - 1
            pick = picker(rows) if len(rows_of) > 1 else lambda values: values
            stats.add(share, len(rows), pick, pick(layers))


def set_labels(logs):
    """A short name for each log: the file's, longer where two are alike."""
    for depth in range(1, 64):
        labels = []
        for log in logs:
            stem = os.path.splitext(os.path.normpath(log.path))[0]
            labels.append("/".join(stem.split(os.sep)[-depth:]))
        if len(set(labels)) == len(labels):
            break
    for index, (log, label) in enumerate(zip(logs, labels), 1):
        log.label = label if labels.count(label) == 1 else "%s#%d" % (label, index)
