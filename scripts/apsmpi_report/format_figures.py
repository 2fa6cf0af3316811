# SPDX-License-Identifier: BSD-3-Clause
"""The figure of formats that were chosen while the program ran: the format of each
layer over the steps."""

import math

from .figures import (COLOURS, PALE, add_legend, add_tip, figure_height, legend_height,
                      set_layer_axis, set_whole_axis)


def colours_of(changes):
    """Returns {format: colour}, in the order of bytes, FP32 last."""
    parts = {}
    for some in changes.values():
        for change in some:
            part = 2.0 if change.after == "fp32" else change.part
            if not part >= parts.get(change.after, math.inf):
                parts[change.after] = part
    names = sorted(parts, key=lambda name: (parts[name], name))
    colours = dict(zip((name for name in names if name != "fp32"),
                       COLOURS * len(names)))
    return {name: colours.get(name, PALE) for name in names}


def last_step(log, run, changes):
    """Returns the last step of a run in its rows and its changes."""
    last = max(change.step for some in changes.values() for change in some)
    index, cells = log.runs.get(run), log.cells
    return max([last] + [step for step, one in zip(cells.step, cells.run)
                         if one == index])


def spans(changes, end):
    """Yields (change, step after its last one) for each change with a step."""
    ends = [change.step for change in changes[1:]] + [end]
    return ((change, after) for change, after in zip(changes, ends)
            if after > change.step)


def figure_formats(mpl, changes, end, colours):
    """changes: {Place: [Change]} of one run; end: the step after its last one."""
    labels = [place.label() for place in changes]
    height, below = figure_height(len(labels)), legend_height(len(colours))
    fig = mpl.pyplot.figure(figsize=(14, height), layout="constrained")
    spec = fig.add_gridspec(2, 1, height_ratios=(height - below, below))
    ax = fig.add_subplot(spec[0])
    for row, (label, some) in enumerate(zip(labels, changes.values())):
        for change, after in spans(some, end):
            ax.barh(row, after - change.step, left=change.step, height=.9,
                    color=colours[change.after])
            text = "%s: %s, steps %d to %d" % (label, change.after, change.step,
                                               after - 1)
            if not math.isnan(change.quality):
                text += ", %s %.3g when it was measured" % (change.unit,
                                                            change.quality)
            add_tip(ax, text, (change.step, after), (row - .5, row + .5))
    ax.set_xlim(min(some[0].step for some in changes.values()), end)
    ax.set_xlabel("step")
    set_whole_axis(mpl, ax.xaxis)
    set_layer_axis(ax, labels)
    add_legend(fig.add_subplot(spec[1]), "center left", [
        mpl.patches.Patch(color=colour) for colour in colours.values()], list(colours))
    return fig
