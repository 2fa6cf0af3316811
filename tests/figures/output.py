# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the scripts in this directory: their argument, tables and pictures."""

import csv
import os
import sys

from gradients import SETS
from replay import fail


def folder_given():
    """Returns the one argument of a script."""
    if len(sys.argv) != 2:
        fail("usage: %s FOLDER" % os.path.basename(sys.argv[0]))
    return sys.argv[1]


def write_csv(path, rows):
    """Writes dictionaries that all have the same columns."""
    with open(path, "w") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(path)


def draw_picture(path, figure):
    """Returns figure(matplotlib, numpy), if matplotlib is installed."""
    sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "scripts"))
    from apsmpi_log.text import UserError
    from apsmpi_report.figures import draw, load_matplotlib
    try:
        load_matplotlib("the picture")
    except UserError as error:
        print("no picture: %s" % error)
        return
    draw("the picture", [path], figure)
    print(path)


def draw_sets(path, rows, draw_set, size, label, **legend):
    """Saves a picture with one part for each data set, which draw_set(mpl, ax,
    rows) draws; they share the y axis, with that label."""
    names = [name for name in SETS if any(r["set"] == name for r in rows)]

    def figure(mpl, _):
        fig, axes = mpl.pyplot.subplots(1, len(names), figsize=size, sharex=True,
                                        sharey=True, layout="constrained",
                                        squeeze=False)
        known = {}
        for ax, name in zip(axes[0], names):
            draw_set(mpl, ax, [r for r in rows if r["set"] == name])
            ax.set_title(SETS[name][0])
            ax.grid()
            for handle, text in zip(*ax.get_legend_handles_labels()):
                known.setdefault(text, handle)
        axes[0][0].set_ylabel(label)
        fig.legend(known.values(), known.keys(), fontsize=8, frameon=False,
                   loc="outside upper left", **legend)
        return fig
    draw_picture(path, figure)
