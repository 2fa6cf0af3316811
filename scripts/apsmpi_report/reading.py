# SPDX-License-Identifier: BSD-3-Clause
"""Reads round-off logs: in one pass, and never held in memory, except for a few
numbers a row where a figure is asked for."""

import array
import collections
import csv
import math
import os
import re

from .statistics import Stats
from .text import NAN, NOTES_MAX, ReportError, note, plural, shorten


def parse_float(text):
    """A number, inf or nan; an empty field is nan."""
    return float(text) if text else NAN


def parse_count(text):
    value = int(text)
    if value < 0:
        raise ValueError("%d is negative" % value)
    return value


def parse_time(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("%s is not a time" % text)
    return value


def parse_exponent(text):
    return int(text) if text else None


# The columns that the report knows: how each is read, and its value where a log
# does not have it. A log may have its columns in any order, and others besides.
COLUMNS = {
    "time": (parse_time, None), "comm": (str, None), "step": (int, None),
    "layer": (int, None), "count": (parse_count, None),
    "err_mean": (parse_float, None),
    "epoch": (int, 0), "name": (str, ""), "format": (str, ""),
    "scale": (str, ""), "reduce": (str, ""),
    "scale_exp": (parse_exponent, None), "err_max": (parse_float, NAN),
    "err_l2": (parse_float, NAN), "snr_db": (parse_float, NAN),
    "underflow": (parse_count, 0), "overflow": (parse_count, 0),
    "nonfinite": (parse_count, 0), "skipped": (parse_count, 0),
    "wire_bytes": (parse_count, 0), "fp32_bytes": (parse_count, 0),
    "usec": (parse_float, NAN), "run": (str, ""),
    "scale_value": (parse_float, NAN), "redone": (parse_count, 0),
    "overflowed": (parse_count, 0), "compress": (str, ""),
    "residual": (parse_float, NAN)}
NEEDED = ("time", "comm", "step", "layer", "count", "err_mean")
Row = collections.namedtuple("Row", COLUMNS)


def split_line(line):
    """The fields of one line; ValueError says what is wrong with it."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise ValueError(str(error)) from None


class Header:
    """The header of a log: which of its columns is which."""

    def __init__(self, line):
        """ValueError: the line is no header of a round-off log."""
        names = split_line(line.lstrip("\ufeff"))
        for name in NEEDED:
            if name not in names:
                raise ValueError("no column '%s'" % name)
        for name in names:
            if names.count(name) > 1:
                raise ValueError("two columns '%s'" % name)
        self.line = line
        self.fields = len(names)
        self.defaults = [default for _, default in COLUMNS.values()]
        self.convert = [(place, name, names.index(name), COLUMNS[name][0])
                        for place, name in enumerate(COLUMNS) if name in names]

    def parse(self, line):
        """One line to a Row; ValueError names the field at fault."""
        cells = split_line(line)
        if len(cells) != self.fields:
            raise ValueError("%s, expected %d"
                             % (plural(len(cells), "field"), self.fields))
        values = self.defaults[:]
        for place, name, index, convert in self.convert:
            try:
                values[place] = convert(cells[index])
            except ValueError:
                raise ValueError("bad %s '%s'" % (name, cells[index])) from None
        return Row._make(values)


# Calls that are no all-reduces have no layers: `reduce` says which they are.
CALLS = ("reduce_scatter", "allgather", "reduce", "bcast")


def call_of(row):
    return row.reduce if row.reduce in CALLS else ""


KEYS = {
    "layer": lambda row: (row.comm, row.layer, row.count, call_of(row)),
    "step": lambda row: (row.comm, row.step),
    "epoch": lambda row: (row.comm, row.epoch),
    "format": lambda row: (row.comm, row.format),
}


class LastRun:
    """Which rows belong to the run that began last."""

    def __init__(self):
        self.runs = {}      # those that have begun, in order
        self.steps = {}     # last step by communicator, or of what is numbered
                            # by itself; where a log has no column `run`

    def begins(self, row):
        """Is the row the first one of a run?"""
        new = row.run not in self.runs
        if not row.run:
            place = row.comm if row.layer >= 0 else KEYS["layer"](row)
            new = new or row.step < self.steps.get(place, row.step)
            if new:
                self.runs.pop(row.run, None)
                self.steps.clear()
            self.steps[place] = row.step
        self.runs[row.run] = True
        return new

    def is_over(self, row):
        """Did another run begin after the row's?"""
        return row.run != next(reversed(self.runs))


def exponent_of(row):
    """The exponent of what values were multiplied by, in full numbers unless the
    policy names another factor."""
    if row.scale == "fixed" and row.scale_value > 0:
        return math.log2(row.scale_value)
    return NAN if row.scale_exp is None else row.scale_exp


class Log:
    """One log file, summarised."""

    def __init__(self, path, options):
        self.path = path
        self.label = path
        self.options = options
        self.has_rows = False   # before any filter
        self.malformed = 0
        self.begun = {}         # of each run, what the log says at its start
        self.clear()

    def clear(self):
        """Forget all rows, as at the start of a new run under --last."""
        self.groups = {}
        self.layers = {}
        self.total = Stats()
        self.first = self.last = None
        self.events = collections.Counter()
        self.runs = {}          # ids, as an ordered set
        # For figures, one entry a row: step, index into layers, two values.
        self.cell_step = array.array("q")
        self.cell_layer = array.array("q")
        self.cell_err = array.array("d")
        self.cell_exp = array.array("d")
        self.cell_scale = array.array("q")      # index into scale_index
        self.cell_redone = array.array("q")
        self.scale_index = {}
        self.cell_residual = array.array("d")
        self.cell_compress = array.array("q")   # index into compress_index
        self.compress_index = {}

    def add(self, row):
        layer = KEYS["layer"](row)
        if self.options.by != "layer":
            self.groups.setdefault(
                KEYS[self.options.by](row), Stats()).add(row, layer)
        self.layers.setdefault(layer, Stats()).add(row, layer)
        self.total.add(row, layer)
        self.runs[row.run] = True
        self.first = row.time if self.first is None else min(self.first, row.time)
        self.last = row.time if self.last is None else max(self.last, row.time)
        if (self.options.plot or self.options.plot_scales
                or self.options.plot_residuals):
            self.cell_step.append(row.step)
            self.cell_layer.append(self.layer_index(layer))
            self.cell_err.append(row.err_mean)
            self.cell_exp.append(exponent_of(row))
            self.cell_scale.append(self.scale_index.setdefault(
                row.scale, len(self.scale_index)))
            self.cell_redone.append(row.redone)
            self.cell_residual.append(row.residual)
            self.cell_compress.append(self.compress_index.setdefault(
                row.compress, len(self.compress_index)))

    def layer_index(self, layer):
        stats = self.layers[layer]
        if stats.rows == 1:
            stats.index = len(self.layers) - 1
        return stats.index

    def why_empty(self):
        return ("no row matches the filters" if self.has_rows
                else "a header and no rows")

    def summary(self):
        return self.layers if self.options.by == "layer" else self.groups

    def read(self):
        try:
            with open(self.path, "rb") as file:
                self.read_lines(file)
        except OSError as error:
            raise ReportError("%s: %s" % (self.path, error.strerror)) from None

    def read_event(self, text, recent):
        run = re.match(r"run=(\S+) (.*)", text)
        if run:
            self.begun[run[1]] = run[2]
        else:
            recent[text] += 1

    def read_lines(self, file):
        options = self.options
        header = None
        number = 0
        last = LastRun()
        recent = collections.Counter()      # events since the last row
        for raw in file:
            number += 1
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if not header:
                if line.startswith("#"):
                    self.read_event(line[1:].strip(), recent)
                    continue
                try:
                    header = Header(line)
                except ValueError as error:
                    raise ReportError(
                        "%s:%d: not a round-off log: %s in the header '%s'"
                        % (self.path, number, error, shorten(line, 60))
                    ) from None
                continue
            if not raw.endswith(b"\n"):
                note("%s:%d: truncated last line ignored" % (self.path, number))
                break
            if not line or line == header.line:
                continue
            if line.startswith("#"):
                self.read_event(line[1:].strip(), recent)
                continue
            try:
                row = header.parse(line)
            except ValueError as error:
                self.malformed += 1
                if self.malformed <= NOTES_MAX:
                    note("%s:%d: %s; line skipped" % (self.path, number, error))
                elif self.malformed == NOTES_MAX + 1:
                    note("%s: more malformed lines follow" % self.path)
                continue
            self.has_rows = True
            if options.last:
                if last.begins(row):
                    self.clear()
                elif last.is_over(row):
                    continue
            if options.since is not None and row.time < options.since:
                recent.clear()
                continue
            self.events.update(recent)
            recent.clear()
            if options.comm is not None and row.comm != options.comm:
                continue
            if options.layers and not options.layers(row.layer, row.name):
                continue
            self.add(row)
        self.events.update(recent)
        if number == 0:
            raise ReportError("%s:1: the file is empty, and no round-off log"
                              % self.path)
        if not header:
            raise ReportError("%s:%d: the file ends without a header"
                              % (self.path, number))


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
