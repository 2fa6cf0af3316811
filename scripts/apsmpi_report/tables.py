# SPDX-License-Identifier: BSD-3-Clause
"""The tables of round-off logs, as text and as CSV."""

import collections
import csv
import itertools
import math

from apsmpi_log.text import UserError, plural, printable

from .candidate_tables import candidate_lines, sorted_candidates
from .line_store import LineStore
from .format_changes import HEADING, change_lines, changes_of, other_events
from .statistics import merge
from .table_layout import Column, fit, format_column, key_columns, layout
from .text import NOTES_MAX, RUNS_MAX, WIDTH, show_error, show_fixed, show_time


CHUNK = 4096            # lines of a large table that are made at a time
CANDIDATES = "Candidates, which were measured beside what the program got:"


def show_underflow(stats):
    value = stats.underflow_percent()
    return "<0.01" if 0 < value < 0.005 else show_fixed(value, 2)


def show_exponents(stats):
    if stats.exp_min is None:
        return "-"
    if stats.exp_min == stats.exp_max:
        return "%d" % stats.exp_min
    return "%d..%d" % (stats.exp_min, stats.exp_max)


VALUES = {      # heading: (alignment, text)
    "format": ("<", lambda s: s.sent()),
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

# Columns of a single log that are left out if a line is too long, in this order.
SPARED = ("scale", "reduce", "nonfin", "err_max", "format", "under%", "rows",
          "scale_exp", "overfl", "resid", "over", "redone", "snr_db")

# Columns of each of several logs; the first list that fits is used.
COMPARED = (
    ("format", "err_mean", "err_max", "snr_db", "scale_exp", "under%", "saved%"),
    ("format", "err_mean", "snr_db", "scale_exp", "saved%"),
    ("format", "err_mean", "snr_db", "saved%"),
    ("format", "err_mean", "saved%"),
    ("err_mean", "saved%"),
    ("err_mean",),
)

# The columns of several logs, with compressors or feedback.
COMPARED_BY_RATIO = (
    ("format", "err_mean", "err_max", "snr_db", "resid", "scale_exp", "under%",
     "saved%"),
    ("format", "err_mean", "snr_db", "resid", "saved%"),
    ("format", "snr_db", "resid", "saved%"),
    ("err_mean", "snr_db", "resid", "saved%"),
    ("snr_db", "resid", "saved%"),
    ("snr_db", "resid"),
    ("snr_db",),
)


def value_columns(headings, lines, group=None):
    columns = []
    for heading in headings:
        align, text = VALUES[heading]
        cells = [text(s) if s else "-" for s in lines]
        if align == "<" and "/" in cells[-1]:
            cells[-1] = "mixed"     # the total: not worth a wide column
        columns.append(format_column(cells, lines[-1].compressed, group)
                       if heading == "format" else
                       Column(heading, align, cells, group))
    return columns


def headings_of(log, by):
    """Returns the headings of a single log's columns of values."""
    return [h for h in VALUES
            if h != by and (h != "redone" or log.total.redone)
            and (h != "over" or log.total.kept)
            and (h != "resid" or log.total.residual_rows)]


def narrower(headings, compressed):
    """Yields the headings, and then ever fewer. compressed: true if there are
    compressors."""
    headings, spared = list(headings), SPARED
    yield headings
    if compressed:      # their names stay longer than formats do
        spared = [h for h in SPARED if h != "format"]
        spared.insert(spared.index("resid"), "format")
    for heading in spared:
        if heading in headings:
            headings = [h for h in headings if h != heading]
            yield headings


def table_lines(logs, by, width=WIDTH):
    """Yields the table as lines, with one log or several side by side."""
    if len(logs) == 1 and isinstance(logs[0].summary(), LineStore):
        yield from large_table_lines(logs[0], by, width)
        return
    summaries = [dict(log.summary().items()) for log in logs]
    keys = sorted({key for summary in summaries for key in summary})
    lines = [merge(s[key] for s in summaries if key in s) for key in keys]
    totals = merge(log.total for log in logs)

    if len(logs) == 1:
        lines_of = [summaries[0][key] for key in keys] + [logs[0].total]
        headings = [h for h in headings_of(logs[0], by)
                    if h != "scale" or by == "format" or width > WIDTH]
        variants = (value_columns(some, lines_of) for some in narrower(
            headings, logs[0].total.compressed))
    else:
        variants = []
        for headings in (COMPARED_BY_RATIO if totals.compressed or totals.fed
                         else COMPARED):
            values = []
            for log, summary in zip(logs, summaries):
                values += value_columns(
                    [h for h in headings if h != by
                     and (h != "resid" or log.total.residual_rows)],
                    [summary.get(key) for key in keys] + [log.total], log)
            variants.append(values)
    for values in variants:
        columns = key_columns(by, keys, lines, totals) + values
        gap = fit(columns, width)
        if gap is not None:
            break
    yield from layout(columns, gap or 1)


def chunks(lines):
    """Yields lists of keys and of their Stats, for parts of a large table."""
    lines = iter(lines)
    while some := list(itertools.islice(lines, CHUNK)):
        yield [key for key, _ in some], [stats for _, stats in some]


def large_table_lines(log, by, width):
    """Yields the lines of a large table of one log, without holding the table: the
    first pass takes the widths of its columns, the second one its lines."""
    total, several = log.total, len(log.summary().comms) > 1
    headings = [h for h in headings_of(log, by) if h != "scale" or width > WIDTH]

    def columns_of(keys, stats, some):
        columns = key_columns(by, keys, stats, total)
        if several and columns[0].heading != "comm":
            columns.insert(0, Column("comm", "<", [key[0] for key in keys] + [""]))
        return columns + value_columns(some, stats + [total])

    widths = collections.Counter()
    for keys, stats in chunks(log.summary().items()):
        for column in columns_of(keys, stats, headings):
            widths[column.heading] = max(widths[column.heading], column.width)
    for some in narrower(headings, total.compressed):
        columns = columns_of([], [], some)
        for column in columns:
            column.width = widths[column.heading]
        gap = fit(columns, width)
        if gap is not None:
            break
    fitted = {column.heading: column.width for column in columns}
    head, end = None, []
    for keys, stats in chunks(log.summary().items()):
        columns = columns_of(keys, stats, some)
        for column in columns:
            column.width = fitted[column.heading]
        lines = layout(columns, gap or 1)
        yield from lines[:2] if head is None else ()
        head, end = lines[:2], lines[-2:]
        yield from lines[2:-2]
    yield from end


def show_steps(stats):
    first, last = stats.step_min, stats.step_max
    return "step %d" % first if first == last else "steps %d to %d" % (first, last)


def describe(log):
    """Describes the log in a line, for the head of a table."""
    return "%s, %s to %s UTC" % (describe_rows(log), show_time(log.first),
                                 show_time(log.last))


def describe_rows(log):
    """Describes the rows of the log."""
    stats = merge((log.total, log.candidates))
    rows = plural(log.total.rows or log.candidates.rows, "row")
    if log.candidates.rows:
        rows += (" and %d of candidates" % log.candidates.rows if log.total.rows
                 else " of candidates")
    return "%s: %s, %s, %s" % (log.path, rows, plural(len(stats.layers), "layer"),
                               show_steps(stats))


def head_lines(log, several):
    label = "%s = " % log.label if several and log.label != log.path else ""
    if not log.filled:
        yield "%s%s: %s" % (label, log.path, log.why_empty())
        return
    yield label + describe(log)
    runs = [run for run in log.runs if run]
    if len(runs) > 1:
        yield "  the table adds up the rows of %d runs; --last takes the last%s:" % (
            len(runs), "" if len(runs) <= RUNS_MAX else
            " (here are the last %d)" % RUNS_MAX)
    for run in runs[-RUNS_MAX:]:
        yield "  " + " ".join(["run", run, log.begun.get(run, "")]).rstrip()


def notes_of(log):
    """Yields notes about the table and the page."""
    total, cut = log.total, log.cut_runs()
    if total.err_nan():
        yield "%s of %d without a mean error (nan), not in err_mean" % (
            plural(total.err_nan(), "row"), total.rows)
    compressed = total.compressed + log.candidates.compressed
    if compressed:
        yield ("%s of %d of compressors: values that they delay, and sums that are "
               "nearly 0, make err_mean and err_max meaningless; see snr_db%s" % (
                   plural(compressed, "row"), total.rows + log.candidates.rows,
                   " and resid" if total.residual_rows else ""))
    fed = total.fed + log.candidates.fed
    if fed:
        yield ("%s of %d of plain formats with feedback: they also send what earlier "
               "calls left, and err_mean, which compares with the sum of the inputs "
               "alone, is large; see snr_db and resid" % (
                   plural(fed, "row"), total.rows + log.candidates.rows))
    if cut:
        yield ("the log does not say that %s ended: the job still runs, or it was "
               "cut and later rows are missing" % (
                   "run " + cut[0] if len(cut) == 1 else "%d runs (%s)" % (
                       len(cut), ", ".join(cut[-RUNS_MAX:]))))


def foot_lines(log, several):
    where = "%s: " % log.label if several else ""
    for text in notes_of(log):
        yield where + text
    if log.malformed:
        yield "%s%s skipped" % (where, plural(log.malformed, "malformed line"))
    events = other_events(log)
    if events:
        yield "%s%s" % (where, plural(sum(events.values()), "event"))
        for index, (text, times) in enumerate(events.items()):
            if index == NOTES_MAX:
                yield "  and %d other kinds" % (len(events) - index)
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
    for log in logs:
        changes = changes_of(log)
        if changes:
            yield ""
            yield ("%s: " % log.label if several else "") + HEADING
            yield from change_lines(changes)
    for log in logs:
        if log.candidates.rows:
            yield ""
            yield ("%s: " % log.label if several else "") + CANDIDATES
            yield from candidate_lines(log, by)
    foot = [line for log in logs for line in foot_lines(log, several)]
    yield from [""] + foot if foot else ()


def print_report(logs, by):
    for line in report_lines(logs, by):
        print(printable(line))


def write_csv(path, logs, by):
    """Writes the table in full precision, a line for each log and key."""
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
                "overflowed", "residual", "shadow", "entropy"])
            for log in logs:
                summary = log.summary()
                own = (summary.items() if isinstance(summary, LineStore) else
                       sorted(summary.items(), key=lambda line: line[0]))
                for key, s, shadow in itertools.chain(
                        ((key, s, 0) for key, s in own),
                        ((key, s, key[-1].number) for key, s in
                         sorted_candidates(log))):
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
                        s.redone, s.overflowed, empty_if_nan(s.residual()),
                        shadow, empty_if_nan(s.entropy())])
    except OSError as error:
        raise UserError("%s: %s" % (path, error.strerror)) from None
