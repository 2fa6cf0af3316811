# SPDX-License-Identifier: BSD-3-Clause
"""Figures of candidates: the error of each in each layer and the bytes that it would
have sent."""

from apsmpi_log.text import shorten

from .candidate_tables import candidate_names
from .figures import (COLOURS, ERR_LABEL, HUGE, MARKERS, TINY, add_tip, layer_labels,
                      set_error_ticks)
from .statistics import merge

LAYERS_NAMED = 40       # largest number of layers that all have their names


def set_error_axis(mpl, ax):
    ax.set_yscale("log")
    set_error_ticks(mpl, ax.yaxis, ax.get_ylim())


def draw_layers(mpl, ax, log, names):
    """Draws the mean error of each layer, a curve a candidate."""
    found = log.candidate_layers
    keys = sorted({key[:-1] for key in found})
    for i, (candidate, name) in enumerate(names.items()):
        points = [(x, found[(*key, candidate)].err_mean()) for x, key in enumerate(keys)
                  if (*key, candidate) in found]
        good = [(x, y) for x, y in points if TINY < y < HUGE]
        ax.plot([x for x, _ in good], [y for _, y in good],
                color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                markersize=4, linewidth=1, label=name)
    stats = {key[:-1]: one for key, one in found.items()}
    labels = layer_labels(keys, [stats[key].name() for key in keys])
    for x, (key, label) in enumerate(zip(keys, labels)):
        add_tip(ax, "%s: %s" % (label, ", ".join(
            "%s %.3g (%.1f dB)" % (name, found[(*key, c)].err_mean(),
                                   found[(*key, c)].snr())
            for c, name in names.items() if (*key, c) in found)), (x - .5, x + .5))
    every = max(1, -(-len(keys) // LAYERS_NAMED))
    ax.set_xticks(range(0, len(keys), every))
    ax.set_xticklabels(labels[::every], rotation=90, fontsize=7)
    if any(len(line.get_xdata()) for line in ax.get_lines()):
        set_error_axis(mpl, ax)
    ax.set_ylabel(ERR_LABEL)
    ax.grid(True)


def draw_costs(mpl, ax, log, names):
    """Draws the bytes and the error of each candidate, over all layers."""
    for i, (candidate, name) in enumerate(names.items()):
        stats = merge(s for key, s in log.candidate_layers.items()
                      if key[-1] == candidate)
        if not TINY < stats.err_mean() < HUGE:
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
    """Draws two panels for each log."""
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
