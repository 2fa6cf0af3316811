# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a round-off log: how lines become lists of values.

Lines are parsed many at a time and column by column, because that needs a
third of the time that row by row needs. Lines that cannot be parsed so are
parsed by halves, down to the malformed line."""

import csv
import math
from operator import itemgetter

from .text import NAN, plural


def floats(cells):
    """Numbers, inf and nan; an empty field is nan."""
    try:
        return list(map(float, cells))
    except ValueError:
        return [float(cell) if cell else NAN for cell in cells]


def integers(cells):
    """Integers of 64 bits, like those of the library."""
    values = list(map(int, cells))
    if not -2 ** 63 <= min(values) <= max(values) < 2 ** 63:
        raise ValueError("not an integer of 64 bits")
    return values


def counts(cells):
    values = integers(cells)
    if min(values) < 0:
        raise ValueError("%d is negative" % min(values))
    return values


def times(cells):
    values = list(map(float, cells))
    if not all(map(math.isfinite, values)):
        raise ValueError("not a time")
    return values


def exponents(cells):
    """Integers; an empty field is None."""
    try:
        return integers(cells)
    except ValueError:
        return [integers([cell])[0] if cell else None for cell in cells]


# The columns that are read, each with its conversion and its value in a log without it.
# The columns of a log may be in any order, and may be more than these.
COLUMNS = {
    "time": (times, None), "comm": (list, None), "step": (integers, None),
    "layer": (integers, None), "count": (counts, None),
    "err_mean": (floats, None),
    "epoch": (integers, 0), "name": (list, ""), "format": (list, ""),
    "scale": (list, ""), "reduce": (list, ""),
    "scale_exp": (exponents, None), "err_max": (floats, NAN),
    "err_l2": (floats, NAN), "snr_db": (floats, NAN),
    "underflow": (counts, 0), "overflow": (counts, 0),
    "nonfinite": (counts, 0), "skipped": (counts, 0),
    "wire_bytes": (counts, 0), "fp32_bytes": (counts, 0),
    "usec": (floats, NAN), "run": (list, ""),
    "scale_value": (floats, NAN), "redone": (counts, 0),
    "overflowed": (counts, 0), "compress": (list, ""),
    "residual": (floats, NAN), "shadow": (counts, 0), "entropy": (floats, NAN),
    "rule": (list, ""), "group": (list, ""), "node": (list, ""),
    "accumulate": (list, ""), "ref_l2": (floats, NAN),
    "agree_usec": (floats, NAN)}
NEEDED = ("time", "comm", "step", "layer", "count", "err_mean")


class Columns:
    """Rows of a log: a list of values for each column of COLUMNS."""

    def __init__(self, rows, values, same):
        self.rows = rows
        self.values = values
        self.same = same        # {column: value} for columns with one value

    def __getitem__(self, name):
        return self.values[name]

    def select(self, rows):
        """The rows with these numbers alone."""
        pick = picker(rows)
        values = {name: [self.same[name]] * len(rows) if name in self.same
                  else list(pick(cells)) for name, cells in self.values.items()}
        return Columns(len(rows), values, self.same)


def picker(rows):
    """A function from a list to its elements with these numbers."""
    if len(rows) > 1:
        return itemgetter(*rows)
    return lambda values: [values[row] for row in rows]


def one_value(cells):
    """True if all cells are equal. Three cells are compared first."""
    first = cells[0]
    return (cells[-1] == first and cells[len(cells) // 2] == first and
            cells.count(first) == len(cells))


def split_line(line):
    """The fields of one line; ValueError says what is wrong with it."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise ValueError(str(error)) from None


class Header:
    """The header of a log: which of its columns is which."""

    def __init__(self, line, known=None):
        """known: the columns to read, COLUMNS by default. Raises ValueError if the line
        is not the header of a round-off log."""
        self.known = known or COLUMNS
        names = split_line(line.lstrip("\ufeff"))
        for name in NEEDED:
            if name not in names:
                raise ValueError("no column '%s'" % name)
        for name in names:
            if names.count(name) > 1:
                raise ValueError("two columns '%s'" % name)
        self.line = line
        self.fields = len(names)
        self.place = {name: names.index(name) for name in self.known
                      if name in names}

    def parse(self, lines):
        """Pairs (number of the first of some lines, their Columns), in order, and
        (number, text) of a malformed line: what is wrong with it."""
        left = [(0, len(lines))]
        while left:
            start, stop = left.pop()
            if start == stop:
                continue
            some = lines[start:stop] if stop - start < len(lines) else lines
            try:
                yield start, self.convert(self.split(some), stop - start)
            except (ValueError, csv.Error):
                if stop - start == 1:
                    yield start, self.explain(lines[start])
                    continue
                middle = (start + stop) // 2
                left += [(middle, stop), (start, middle)]

    def split(self, lines):
        """The cells of each column that is read."""
        text = ",".join(lines)
        if '"' not in text and "\r" not in text:
            if {line.count(",") for line in lines} != {self.fields - 1}:
                raise ValueError("another number of fields")
            cells = text.split(",")
            return {name: cells[place::self.fields]
                    for name, place in self.place.items()}
        rows = list(csv.reader(lines, strict=True))
        # The text of an open quote would include the next line.
        if len(rows) != len(lines) or set(map(len, rows)) != {self.fields}:
            raise ValueError("another number of fields")
        columns = list(zip(*rows))
        return {name: list(columns[place]) for name, place in self.place.items()}

    def convert(self, cells, rows):
        values, same = {}, {}
        for name, (convert, default) in self.known.items():
            if name not in cells:
                same[name] = default
            elif one_value(cells[name]):
                same[name] = convert(cells[name][:1])[0]
            else:
                values[name] = convert(cells[name])
                continue
            values[name] = [same[name]] * rows
        return Columns(rows, values, same)

    def explain(self, line):
        """Returns the error of a line that cannot be parsed."""
        try:
            cells = split_line(line)
        except ValueError as error:
            return str(error)
        if len(cells) != self.fields:
            return "%s, expected %d" % (plural(len(cells), "field"), self.fields)
        for name, place in self.place.items():
            try:
                self.known[name][0]([cells[place]])
            except ValueError:
                return "bad %s '%s'" % (name, cells[place])
        raise AssertionError("nothing is wrong with: " + line)
