# SPDX-License-Identifier: BSD-3-Clause
"""Tables as text: columns, the widths of columns in a long line, and the columns that
name a line."""

from apsmpi_log.text import shorten

from .text import show_count


class Column:
    """A column: heading, alignment, cells, and the log that it belongs to."""

    def __init__(self, heading, align, cells, group=None):
        self.heading, self.align, self.cells = heading, align, cells
        self.group = group
        self.least = 0          # characters, at least as many as GIVE says
        self.width = max([len(heading)] + [len(cell) for cell in cells])

    def format(self, text):
        text = shorten(text, self.width)
        return text.rjust(self.width) if self.align == ">" else text.ljust(self.width)


# Columns that become narrower if a line is too long, in this order: (heading, least
# width).
GIVE = (("reduce", 8), ("name", 20), ("scale", 8), ("format", 14), ("name", 16),
        ("comm", 8), ("format", 8), ("name", 12), ("epoch", 8))
COMPRESSOR = 24         # characters of a format that may be a compressor, at least


def format_column(cells, compressed, group=None):
    """compressed: true if there are compressors."""
    column = Column("format", "<", cells, group)
    column.least = COMPRESSOR if compressed else 0
    return column


def key_columns(by, keys, stats, totals):
    """Returns the columns that name a line, each with a cell of the total."""
    columns = []
    if len({key[0] for key in keys}) > 1:
        columns.append(Column("comm", "<", [key[0] for key in keys] + [""]))
    lines = stats + [totals]
    heads = [str(key[1]) for key in keys]
    if by == "layer":
        heads = ["-" if key[1] < 0 else str(key[1]) for key in keys]
    columns.append(format_column(heads + ["total"], totals.compressed)
                   if by == "format" else Column(by, ">", heads + ["total"]))
    if by == "layer":
        names = [(key[3] or show_count("", key[2])) if key[1] < 0 else s.name()
                 for key, s in zip(keys, stats)]
        if any(names):
            columns.append(Column("name", "<", names + [""]))
    else:
        if by == "step":
            columns.append(Column("epoch", ">", ["/".join(
                str(e) for e in s.epochs) for s in stats] + [""]))
        if by == "epoch":
            columns.append(Column("steps", ">", ["%d" % s.step_count() for s in lines]))
        columns.append(Column("layers", ">", ["%d" % len(s.layers) for s in lines]))
    columns.append(Column("count", ">", ["%d" % s.count() for s in lines]))
    return columns


def fit(columns, width):
    """Set widths so that a line fits; the gap between columns, or None."""
    content = sum(column.width for column in columns)
    if content + 2 * (len(columns) - 1) <= width:
        return 2
    excess = content + len(columns) - 1 - width
    for heading, narrow in GIVE:
        for column in columns:
            if column.heading == heading and excess > 0:
                give = min(excess, max(0, column.width - max(narrow, column.least)))
                column.width -= give
                excess -= give
    return 1 if excess <= 0 else None


def layout(columns, gap, total=True):
    """The columns as lines; a rule before the last where that is a total."""
    text = []
    space = " " * gap

    def emit(cells):
        text.append(space.join(cells).rstrip())

    if any(column.group for column in columns):
        spans = []      # (group, width) of neighbouring columns
        for column in columns:
            if spans and spans[-1][0] is column.group:
                spans[-1][1] += gap + column.width
            else:
                spans.append([column.group, column.width])
        emit([" " * width if group is None else
              shorten(group.label, width).center(width, "-")
              for group, width in spans])
    emit([column.format(column.heading) for column in columns])
    rule = "-" * (sum(c.width for c in columns) + gap * (len(columns) - 1))
    text.append(rule)
    for index in range(len(columns[0].cells)):
        if total and index == len(columns[0].cells) - 1:
            text.append(rule)
        emit([column.format(column.cells[index]) for column in columns])
    return text
