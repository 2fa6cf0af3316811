# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a value over the steps: a panel for each log and word, such as a scale
or a compressor, and in it a line for each layer."""

from apsmpi_log.text import shorten

from .figures import COLOURS, layer_label, say_nothing

LINES_NAMED = 14        # up to so many layers each gets its name
PANELS_WIDE = 2


def lines_of(np, log, numbers, index, values, *others):
    """(word, {layer key: (steps, values, ...)}) of a log, in the order in which the
    words of `index` came, steps in order. Row i has the word with numbers[i];
    rows without a value are left out."""
    layers = np.frombuffer(log.cells.layer, dtype=np.int64)
    steps = np.frombuffer(log.cells.step, dtype=np.int64)
    keys = {stats.index: key for key, stats in log.layers.items()}
    for word, number in index.items():
        lines = {}
        for layer in np.unique(layers[numbers == number]):
            use = (numbers == number) & (layers == layer) & ~np.isnan(values)
            order = np.argsort(steps[use], kind="stable")
            if len(order):
                lines[keys[layer]] = tuple(cells[use][order] for cells in
                                           (steps, values, *others))
        if lines:
            yield word, lines


def draw_lines(mpl, ax, log, title, lines):
    """The first two arrays of each line; returns {layer key: colour}."""
    keys = sorted(lines)
    comms = len({key[0] for key in keys})
    cmap = mpl.colormaps["viridis"]
    colours = {}
    for i, key in enumerate(keys):
        colours[key] = (COLOURS[i % len(COLOURS)] if len(keys) <= len(COLOURS)
                        else cmap(i / (len(keys) - 1)))
        ax.plot(*lines[key][:2], drawstyle="steps-post", color=colours[key],
                linewidth=1.3, marker="o", markersize=2.5,
                label=layer_label(key, log.layers[key], comms))
    ax.set_title("%s: %s" % (shorten(log.label, 40), title))
    ax.set_xlabel("step")
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(
        8, integer=True, steps=[1, 2, 5, 10]))
    ax.grid()
    if len(keys) <= LINES_NAMED:
        ax.legend(title="layer", fontsize=7, title_fontsize=7, frameon=False)
    else:
        bar = ax.figure.colorbar(mpl.cm.ScalarMappable(
            mpl.colors.Normalize(0, len(keys) - 1), cmap), ax=ax, pad=0.02)
        bar.set_label("layer, in order, of %d" % len(keys))
        bar.outline.set_visible(False)
    return colours


def figure_panels(mpl, panels, draw_panel, nothing):
    """draw_panel(ax, *panel) for each panel; `nothing` is said if there is none."""
    columns = min(max(len(panels), 1), PANELS_WIDE)
    rows = max(-(-len(panels) // columns), 1)
    fig, axes = mpl.pyplot.subplots(rows, columns, figsize=(7 * columns, 4 * rows),
                                    squeeze=False, layout="constrained")
    for ax, panel in zip(axes.flat, panels):
        draw_panel(ax, *panel)
    for ax in axes.flat[len(panels):]:
        ax.set_visible(bool(not panels))
    if not panels:
        say_nothing(axes[0][0], nothing)
    return fig
