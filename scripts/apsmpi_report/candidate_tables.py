# SPDX-License-Identifier: BSD-3-Clause
"""The table of candidates: the bytes and the error of each, by layer, step, epoch or
format."""

from .table_layout import Column, fit, key_columns, layout
from .text import WIDTH, show_error, show_fixed

COLUMNS = {     # heading: text
    "rows": lambda s: "%d" % s.rows,
    "sent%": lambda s: show_fixed(s.sent_percent(), 1),
    "err_mean": lambda s: show_error(s.err_mean()),
    "snr_db": lambda s: show_fixed(s.snr(), 1),
    "entropy": lambda s: show_fixed(s.entropy(), 2),
    "overfl": lambda s: "%d" % s.overflow,
}
# Columns that a table leaves out if its lines are too long, in this order.
SPARED = ("rows", "overfl", "err_mean", "entropy")


def sorted_candidates(log):
    """Returns [(key, Stats)]. The last part of a key is the candidate."""
    return sorted(log.candidate_summary().items(), key=lambda line: line[0])


def candidate_names(candidates):
    """Returns {candidate: text}, with the reduction and the number if only these tell
    two candidates apart."""
    names = {}
    for one in candidates:
        alike = [c for c in candidates if c.name == one.name and c != one]
        apart = any(c.reduce != one.reduce for c in alike)
        names[one] = one.name + (" " + one.reduce if apart else "")
        if any(c.reduce == one.reduce for c in alike):
            names[one] += " (%d)" % one.number
    return names


def candidate_columns(log, by):
    """Returns all columns. Cells that are equal in successive lines are empty after
    the first line."""
    lines = sorted_candidates(log)
    keys = [key[:-1] for key, _ in lines]
    stats = [s for _, s in lines]
    names = candidate_names(dict.fromkeys(key[-1] for key, _ in lines))
    columns = key_columns(by, keys, stats, log.candidates)
    for column in columns:
        del column.cells[-1]    # the total, which has no meaning
        column.cells[:] = ["" if i and keys[i] == keys[i - 1] else cell
                           for i, cell in enumerate(column.cells)]
    columns.append(Column("candidate", "<", [names[key[-1]] for key, _ in lines]))
    headings = [heading for heading in COLUMNS
                if heading != "entropy" or log.candidates.entropy_rows]
    return columns + [Column(heading, ">", [COLUMNS[heading](s) for s in stats])
                      for heading in headings]


def candidate_lines(log, by, width=WIDTH):
    """Returns the table as lines of text."""
    columns = candidate_columns(log, by)
    gap = fit(columns, width)
    for heading in SPARED:
        if gap is None:
            columns = [c for c in columns if c.heading != heading]
            gap = fit(columns, width)
    return layout(columns, gap or 1, total=False)
