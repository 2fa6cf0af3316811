# SPDX-License-Identifier: BSD-3-Clause
"""The figure of candidates: what each would have cost, and how wrong it would have
been in each layer."""

import math

from apsmpi_log.text import shorten

from .candidate_tables import candidate_names
from .figures import COLOURS, ERR_LABEL, MARKERS, layer_label, set_error_ticks
from .statistics import merge

LAYERS_NAMED = 40


def set_error_axis(mpl, ax):
    ax.set_yscale("log")
    set_error_ticks(mpl, ax.yaxis, ax.get_ylim())


def draw_layers(mpl, ax, log, names):
    """The mean error of each layer, a curve a candidate."""
    keys = sorted({key[:-1] for key in log.candidate_layers})
    place = {key: i for i, key in enumerate(keys)}
    for i, (candidate, name) in enumerate(names.items()):
        points = sorted((place[key[:-1]], stats.err_mean())
                        for key, stats in log.candidate_layers.items()
                        if key[-1] == candidate)
        good = [(x, y) for x, y in points if 0 < y < math.inf]
        ax.plot([x for x, _ in good], [y for _, y in good],
                color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                markersize=4, linewidth=1, label=name)
    every = max(1, -(-len(keys) // LAYERS_NAMED))
    named = {key[:-1]: stats for key, stats in log.candidate_layers.items()}
    comms = len({key[0] for key in keys})
    ax.set_xticks(range(0, len(keys), every))
    ax.set_xticklabels([layer_label(key, named[key], comms) for key in keys[::every]],
                       rotation=90, fontsize=7)
    if any(len(line.get_xdata()) for line in ax.get_lines()):
        set_error_axis(mpl, ax)
    ax.set_ylabel(ERR_LABEL)
    ax.grid(True)


def draw_costs(mpl, ax, log, names):
    """Bytes and error of each candidate, over all layers."""
    for i, (candidate, name) in enumerate(names.items()):
        stats = merge(s for key, s in log.candidate_layers.items()
                      if key[-1] == candidate)
        if not 0 < stats.err_mean() < math.inf:
            continue
        ax.plot(stats.sent_percent(), stats.err_mean(), linestyle="none",
                color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                markersize=7, label=name)
    if ax.get_lines():
        set_error_axis(mpl, ax)
    ax.set_xlabel("bytes sent, % of FP32")
    ax.margins(x=.15)
    ax.set_xlim(left=0)
    ax.grid(True)
    ax.legend(frameon=False, fontsize=8, loc="best")


def figure_candidates(mpl, logs):
    """A row of two panels for each log."""
    fig, axes = mpl.pyplot.subplots(
        len(logs), 2, figsize=(11, 4.6 * len(logs)), squeeze=False,
        layout="constrained", gridspec_kw={"width_ratios": (3, 2)})
    for (left, right), log in zip(axes, logs):
        names = candidate_names(sorted({key[-1] for key in log.candidate_layers}))
        draw_layers(mpl, left, log, names)
        left.set_title("%s: candidates by layer" % shorten(log.label, 50))
        draw_costs(mpl, right, log, names)
        right.set_title("bytes and error, all layers")
    return fig
