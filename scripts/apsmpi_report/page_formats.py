# SPDX-License-Identifier: BSD-3-Clause
"""The page about formats that were chosen while the program ran: the format of each
layer over the steps."""

from apsmpi_log.text import plural

from .format_changes import change_columns, changes_of
from .format_figures import colours_of, figure_formats, last_step
from .page_parts import columns_table, element, words

ROWS_MAX = 200          # layers in a figure
RUNS_SHOWN = 3          # figures: of the last runs


def format_sections(log, figure):
    """Returns a figure for each run, and the table; "" if no formats were chosen."""
    changes = changes_of(log)
    if not changes:
        return ""
    colours = colours_of(changes)
    runs = list(dict.fromkeys(place.run for place in changes))
    parts = [element("h3", "Formats of the layers, chosen while the program ran")]
    for run in runs[-RUNS_SHOWN:]:
        some = {place: c for place, c in changes.items() if place.run == run}
        shown = dict(list(some.items())[:ROWS_MAX])
        parts.append(figure(
            "Formats by step" + (", run %s" % run) * (len(runs) > 1),
            lambda mpl, np, run=run, some=some, shown=shown: figure_formats(
                mpl, shown, last_step(log, run, some) + 1, colours)))
        if len(some) > ROWS_MAX:
            parts.append(element("p", words("and %s" % plural(
                len(some) - ROWS_MAX, "layer")), class_="soft"))
    parts.append(columns_table(change_columns(changes), class_="formats"))
    return "\n".join(parts)
