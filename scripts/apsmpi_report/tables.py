# SPDX-License-Identifier: BSD-3-Clause
"""The tables of round-off logs, as text and as CSV."""

import csv
import math

from apsmpi_log.text import UserError, plural, printable, shorten

from .statistics import merge
from .text import (NOTES_MAX, RUNS_MAX, WIDTH, show_count, show_error, show_fixed,
                   show_time)


def show_underflow(stats):
    value = stats.underflow_percent()
    return "<0.01" if 0 < value < 0.005 else show_fixed(value, 2)


def show_exponents(stats):
    if stats.exp_min is None:
        return "-"
    if stats.exp_min == stats.exp_max:
        return "%d" % stats.exp_min
    return "%d..%d" % (stats.exp_min, stats.exp_max)


class Column:
    """A column: heading, alignment, cells, and the log that it belongs to."""

    def __init__(self, heading, align, cells, group=None):
        self.heading, self.align, self.cells = heading, align, cells
        self.group = group
        self.width = max([len(heading)] + [len(cell) for cell in cells])

    def format(self, text):
        text = shorten(text, self.width)
        return text.rjust(self.width) if self.align == ">" else text.ljust(self.width)


# What gives way where a line is too long, in this order: (heading, narrowest).
GIVE = (("reduce", 8), ("name", 20), ("scale", 8), ("format", 14), ("name", 16),
        ("comm", 8), ("format", 8), ("name", 12), ("epoch", 8))

VALUES = {      # heading: (alignment, text)
    "format": ("<", lambda s: "/".join(s.formats)),
    "scale": ("<", lambda s: "/".join(s.scales)),
    "reduce": ("<", lambda s: "/".join(s.reduces)),
    "rows": (">", lambda s: "%d" % s.rows),
    "err_mean": (">", lambda s: show_error(s.err_mean())),
    "err_max": (">", lambda s: show_error(s.err_max)),
    "snr_db": (">", lambda s: show_fixed(s.snr(), 1)),
    "scale_exp": (">", show_exponents),
    "under%": (">", show_underflow),
    "overfl": (">", lambda s: "%d" % s.overflow),
    "nonfin": (">", lambda s: "%d" % s.nonfinite),
    "saved%": (">", lambda s: show_fixed(s.saved_percent(), 1)),
    "redone": (">", lambda s: "%d" % s.redone),
    "over": (">", lambda s: "%d" % s.kept),
    "resid": (">", lambda s: show_fixed(s.residual(), 3)),
}

# Columns of a single log that are left out where a line is too long, in this
# order.
SPARED = ("scale", "reduce", "nonfin", "err_max", "format", "under%", "rows",
          "scale_exp", "overfl", "resid", "over", "redone", "snr_db")

# Columns of each log where several are compared; the richest that fits.
COMPARED = (
    ("format", "err_mean", "err_max", "snr_db", "scale_exp", "under%", "saved%"),
    ("format", "err_mean", "snr_db", "scale_exp", "saved%"),
    ("format", "err_mean", "snr_db", "saved%"),
    ("format", "err_mean", "saved%"),
    ("err_mean", "saved%"),
    ("err_mean",),
)


def key_columns(by, keys, stats, totals):
    """The columns that say what a line is about, each ending with the total."""
    columns = []
    if len({key[0] for key in keys}) > 1:
        columns.append(Column("comm", "<", [key[0] for key in keys] + [""]))
    lines = stats + [totals]
    heads = [str(key[1]) for key in keys]
    if by == "layer":
        heads = ["-" if key[1] < 0 else str(key[1]) for key in keys]
    columns.append(Column(by, "<" if by == "format" else ">",
                          heads + ["total"]))
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


def value_columns(headings, lines, group=None):
    columns = []
    for heading in headings:
        align, text = VALUES[heading]
        cells = [text(s) if s else "-" for s in lines]
        if align == "<" and len(getattr(lines[-1], heading + "s")) > 1:
            cells[-1] = "mixed"     # the total: not worth a wide column
        columns.append(Column(heading, align, cells, group))
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
                give = min(excess, max(0, column.width - narrow))
                column.width -= give
                excess -= give
    return 1 if excess <= 0 else None


def headings_of(log, by):
    """The columns of values of a single log."""
    return [h for h in VALUES
            if h != by and (h != "redone" or log.total.redone)
            and (h != "over" or log.total.kept)
            and (h != "resid" or log.total.residual_rows)]


def narrower(headings):
    """The headings, then some fewer, and so on."""
    headings = list(headings)
    yield headings
    for heading in SPARED:
        if heading in headings:
            headings = [h for h in headings if h != heading]
            yield headings


def table_lines(logs, by, width=WIDTH):
    """The table as text, one log or several side by side."""
    keys = sorted({key for log in logs for key in log.summary()})
    summaries = [log.summary() for log in logs]
    lines = [merge(s[key] for s in summaries if key in s) for key in keys]
    totals = merge(log.total for log in logs)

    if len(logs) == 1:
        lines_of = [summaries[0][key] for key in keys] + [logs[0].total]
        headings = [h for h in headings_of(logs[0], by)
                    if h != "scale" or by == "format" or width > WIDTH]
        variants = (value_columns(some, lines_of) for some in narrower(headings))
    else:
        variants = []
        for headings in COMPARED:
            values = []
            for log, summary in zip(logs, summaries):
                values += value_columns(
                    [h for h in headings if h != by],
                    [summary.get(key) for key in keys] + [log.total], log)
            variants.append(values)
    for values in variants:
        columns = key_columns(by, keys, lines, totals) + values
        gap = fit(columns, width)
        if gap is not None:
            break
    return layout(columns, gap or 1)


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


def show_steps(stats):
    first, last = stats.step_min, stats.step_max
    return "step %d" % first if first == last else "steps %d to %d" % (first, last)


def head_lines(log, several):
    total = log.total
    label = "%s = " % log.label if several and log.label != log.path else ""
    if not total.rows:
        yield "%s%s: %s" % (label, log.path, log.why_empty())
        return
    yield "%s%s: %s, %s, %s, %s to %s UTC" % (
        label, log.path, plural(total.rows, "row"),
        plural(len(total.layers), "layer"), show_steps(total),
        show_time(log.first), show_time(log.last))
    runs = [run for run in log.runs if run]
    if len(runs) > 1:
        yield "  the table adds up the rows of %d runs; --last takes the last%s:" % (
            len(runs), "" if len(runs) <= RUNS_MAX else
            " (here are the last %d)" % RUNS_MAX)
    for run in runs[-RUNS_MAX:]:
        yield "  " + " ".join(["run", run, log.begun.get(run, "")]).rstrip()


def foot_lines(log, several):
    where = "%s: " % log.label if several else ""
    if log.total.err_nan():
        yield "%s%s of %d without a mean error (nan), not in err_mean" % (
            where, plural(log.total.err_nan(), "row"), log.total.rows)
    if log.malformed:
        yield "%s%s skipped" % (where, plural(log.malformed, "malformed line"))
    if log.events:
        yield "%s%s" % (where, plural(sum(log.events.values()), "event"))
        for index, (text, times) in enumerate(log.events.items()):
            if index == NOTES_MAX:
                yield "  and %d other kinds" % (len(log.events) - index)
                break
            yield "  %d x %s" % (times, text)


def report_lines(logs, by):
    several = len(logs) > 1
    for log in logs:
        yield from head_lines(log, several)
    filled = [log for log in logs if log.total.rows]
    if filled:
        yield ""
        yield from table_lines(filled, by)
    if any(log.total.err_nan() or log.malformed or log.events for log in logs):
        yield ""
    for log in logs:
        yield from foot_lines(log, several)


def print_report(logs, by):
    for line in report_lines(logs, by):
        print(printable(line))


def write_csv(path, logs, by):
    """The table in full precision, one line for each log and key."""
    empty_if_nan = lambda value: "" if math.isnan(value) else repr(value)
    first = ["log", "comm", by] + {
        "layer": ["name"], "step": ["epoch", "layers"],
        "epoch": ["steps", "layers"], "format": ["layers"]}[by]
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(first + ["count"] + [
                h for h in ("format", "scale", "reduce") if h != by] + [
                "rows", "err_mean", "err_nan_rows", "err_max", "err_l2",
                "snr_db", "scale_exp_min", "scale_exp_max", "underflow_pct",
                "underflow", "overflow", "nonfinite", "skipped", "wire_bytes",
                "fp32_bytes", "saved_pct", "usec", "redone",
                "overflowed", "residual"])
            for log in logs:
                for key in sorted(log.summary()):
                    s = log.summary()[key]
                    what = {"layer": [s.name()],
                            "step": ["/".join(map(str, s.epochs)), len(s.layers)],
                            "epoch": [s.step_count(), len(s.layers)],
                            "format": [len(s.layers)]}[by]
                    kinds = [] if by == "format" else ["/".join(s.formats)]
                    kinds += ["/".join(s.scales), "/".join(s.reduces)]
                    out.writerow([log.label, key[0], key[1]] + what +
                                 [s.count()] + kinds + [
                        s.rows, empty_if_nan(s.err_mean()), s.err_nan(),
                        empty_if_nan(s.err_max), empty_if_nan(s.err_l2()),
                        empty_if_nan(s.snr()),
                        "" if s.exp_min is None else s.exp_min,
                        "" if s.exp_max is None else s.exp_max,
                        empty_if_nan(s.underflow_percent()), s.underflow,
                        s.overflow, s.nonfinite, s.skipped, s.wire, s.fp32,
                        empty_if_nan(s.saved_percent()), "%.10g" % s.usec,
                        s.redone, s.overflowed, empty_if_nan(s.residual())])
    except OSError as error:
        raise UserError("%s: %s" % (path, error.strerror)) from None
