# SPDX-License-Identifier: BSD-3-Clause
"""Figures of histograms of exponents: the binades of each layer's values, and what
formats lose of them at every scale."""

import collections
import math
import re

from apsmpi_log.text import shorten

from .exponents import read_exponents
from .figures import (COLOURS, MARKERS, add_cell_tips, figure_height, layer_labels,
                      say_nothing, set_error_ticks, set_layer_axis, set_whole_axis)

LAYERS_MAX = 400        # rows of a map
BINADES_MAX = 160       # columns of a map: more share one
FORMATS = ("e5m10", "e5m2", "e4m3", "e3m2", "e3m0")     # and those of the log
LEAST = 1e-7            # least part that the axis shows
FORMAT = re.compile(r"e([2-8])m(\d+)$")


def figure_exponents(mpl, np, histograms):
    """Draws the part of each layer's values by binade. histograms: {layer key:
    Histogram}, at least one with a binade."""
    keys = sorted(histograms)[:LAYERS_MAX]
    exponents = {e for key in keys for e in histograms[key].binades}
    low, high = min(exponents), max(exponents)
    share = -(-(high - low + 1) // BINADES_MAX)
    parts = np.full((len(keys), (high - low) // share + 1), math.nan)
    for row, key in enumerate(keys):
        one = histograms[key]
        for exponent, number in one.binades.items():
            column = (exponent - low) // share
            parts[row, column] = np.nansum([parts[row, column], number / one.values])
    fig, ax = mpl.pyplot.subplots(figsize=(14, figure_height(len(keys))),
                                  layout="constrained")
    # The outer edges of the first and the last column, in exponents.
    edges = low - .5, low + share * parts.shape[1] - .5
    limits = np.nanmin(parts) / 2, 1
    image = ax.imshow(np.ma.masked_invalid(parts), aspect="auto", cmap="magma_r",
                      interpolation="nearest", norm=mpl.colors.LogNorm(*limits),
                      extent=(*edges, len(keys) - .5, -.5))
    bar = fig.colorbar(image, ax=ax, location="bottom", aspect=60, pad=0.02)
    bar.set_label("part of the layer's values")
    set_error_ticks(mpl, bar.ax.xaxis, limits)
    bar.outline.set_visible(False)
    ax.set_xlabel("e: magnitudes from 2^e to 2^(e + 1)")
    set_whole_axis(mpl, ax.xaxis)
    names = [histograms[key].name for key in keys]
    set_layer_axis(ax, layer_labels(keys, names))
    add_cell_tips(ax, layer_labels(keys, names, 10 ** 6), parts,
                  lambda first, last: "2^%d" % (low + first * share) if (
                      first == last and share == 1) else "2^%d to 2^%d" % (
                          low + first * share, low + (last + 1) * share - 1),
                  edges[0], share)
    return fig


def range_of(form):
    """Returns the binades of the least and the greatest value in a format eEmM with INF
    and subnormals."""
    bits, mantissa = map(int, FORMAT.match(form).groups())
    bias = 2 ** (bits - 1) - 1
    return 1 - bias - mantissa, bias


def parts_lost(binades, form, scales):
    """Returns for each scale 2^k the part of the values other than 0 that the format
    makes 0 or INF. Values in the binade below the least value are rounded up to it."""
    least, greatest = range_of(form)
    total = sum(binades.values())
    return [sum(n for e, n in binades.items()
                if not least - 1 <= e + k <= greatest) / total for k in scales]


def draw_lost(mpl, ax, binades, forms):
    """A curve for each format, over the scales at which any of them loses less than
    all."""
    ranges = [range_of(form) for form in forms]
    scales = range(min(low for low, _ in ranges) - 1 - max(binades),
                   max(high for _, high in ranges) - min(binades) + 1)
    for i, form in enumerate(forms):
        ax.plot(scales, [max(part, LEAST) for part in parts_lost(binades, form, scales)],
                color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)],
                markersize=3, linewidth=1, label=form)
    ax.set_yscale("log")
    ax.set_ylim(LEAST, 1.5)
    set_error_ticks(mpl, ax.yaxis, ax.get_ylim())
    set_whole_axis(mpl, ax.xaxis)
    ax.set_xlabel("scale exponent k: values are multiplied by 2^k")
    ax.set_ylabel("part of rank 0's values that become 0 or INF")
    ax.grid(True)
    ax.legend(frameon=False, fontsize=8, loc="best")


def figure_lost(mpl, _, logs):
    """Draws a panel for each log."""
    fig, axes = mpl.pyplot.subplots(len(logs), 1, figsize=(9, 4.6 * len(logs)),
                                    squeeze=False, layout="constrained")
    for ax, log in zip(axes[:, 0], logs):
        binades = sum((h.binades for h in read_exponents(log).values()),
                      collections.Counter())
        forms = dict.fromkeys((*FORMATS, *filter(FORMAT.match, log.total.formats)))
        ax.set_title("%s: what formats lose, all layers" % shorten(log.label, 50))
        if binades:
            draw_lost(mpl, ax, binades, list(forms))
        else:
            say_nothing(ax, "no histograms of exponents beside this log")
    return fig
