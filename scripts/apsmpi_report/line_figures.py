# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a value over the steps: of scale exponents, and of the residuals that
compressors leave out. A panel for each log and scale or compressor has a line for
each layer."""

from apsmpi_log.candidates import join_sent
from apsmpi_log.text import shorten

from .figures import COLOURS, RED, layer_labels, say_nothing, set_whole_axis

LINES_NAMED = 14        # largest number of layers that all have their names
POINTS_MAX = 5000       # more points of a panel are drawn as pixels
PANELS_WIDE = 2


def lines_of(np, log, numbers, index, values, *others):
    """Yields (word, {layer key: (steps, values, ...)}) for each word of `index`, steps
    in order. Row i of the log has the word with the number numbers[i]; rows without a
    value are left out."""
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
    """Draws the first two arrays of each line."""
    keys = sorted(lines)
    cmap = mpl.colormaps["viridis"]
    many = sum(len(line[0]) for line in lines.values()) > POINTS_MAX
    for i, (key, label) in enumerate(zip(keys, layer_labels(
            keys, [log.layers[key].name() for key in keys]))):
        ax.plot(*lines[key][:2], drawstyle="steps-post", linewidth=1.3, marker="o",
                markersize=2.5, label=label, rasterized=many,
                color=COLOURS[i % len(COLOURS)] if len(keys) <= len(COLOURS)
                else cmap(i / (len(keys) - 1)))
    ax.set_title("%s: %s" % (shorten(log.label, 40), title))
    ax.set_xlabel("step")
    set_whole_axis(mpl, ax.xaxis)
    ax.grid()
    if len(keys) <= LINES_NAMED:
        ax.legend(title="layer", fontsize=7, title_fontsize=7, frameon=False)
    else:
        bar = ax.figure.colorbar(mpl.cm.ScalarMappable(
            mpl.colors.Normalize(0, len(keys) - 1), cmap), ax=ax, pad=0.02)
        bar.set_label("layer, in order, of %d" % len(keys))
        bar.outline.set_visible(False)


def figure_panels(mpl, np, logs, panels_of, draw_panel, nothing):
    """Draws each panel, or the text `nothing` if there is none."""
    panels = [(log, *panel) for log in logs for panel in panels_of(np, log)]
    columns = min(max(len(panels), 1), PANELS_WIDE)
    rows = max(-(-len(panels) // columns), 1)
    fig, axes = mpl.pyplot.subplots(rows, columns, figsize=(7 * columns, 4 * rows),
                                    squeeze=False, layout="constrained")
    for ax, panel in zip(axes.flat, panels):
        draw_panel(mpl, ax, *panel)
    for ax in axes.flat[len(panels):]:
        ax.set_visible(bool(not panels))
    if not panels:
        say_nothing(axes[0][0], nothing)
    return fig


# --- scale exponents ----------------------------------------------------------

def scale_panels(np, log):
    """Yields (scale, {layer key: (steps, exponents, chunks reduced again)})."""
    return lines_of(np, log, np.frombuffer(log.cells.scale, dtype=np.int64),
                    log.cells.scale_index, np.frombuffer(log.cells.exp, dtype=float),
                    np.frombuffer(log.cells.redone, dtype=np.int64))


def draw_scales(mpl, ax, log, scale, lines):
    draw_lines(mpl, ax, log, scale or "no scale named", lines)
    again = 0
    for steps, exponents, redone in lines.values():
        use = redone > 0
        again += int(redone.sum())
        ax.scatter(steps[use], exponents[use], s=44, marker="x", color=RED,
                   zorder=4)
    if again:
        ax.set_xlabel("step (red: %d chunks reduced again)" % again)
    ax.set_ylabel("scale exponent f: values times 2^f")
    set_whole_axis(mpl, ax.yaxis)


def figure_scales(mpl, np, logs):
    return figure_panels(mpl, np, logs, scale_panels, draw_scales,
                         "no scale exponents in the logs")


# --- residuals ----------------------------------------------------------------

def residual_panels(np, log):
    """Yields (compressor, {layer key: (steps, residuals)})."""
    return lines_of(np, log, np.frombuffer(log.cells.compress, dtype=np.int64),
                    log.cells.compress_index,
                    np.frombuffer(log.cells.residual, dtype=float))


def plain_formats(log, lines):
    """Returns the formats of a panel's layers that are not compressors'."""
    compressors = {name.split(" ")[0] for name in log.cells.compress_index if name}
    formats = {name: True for key in lines for name in log.layers[key].formats
               if name.split(" ")[0] not in compressors}
    return shorten(join_sent(formats), 40) or "no compressor"


def draw_residuals(mpl, ax, log, compress, lines):
    draw_lines(mpl, ax, log, compress or plain_formats(log, lines), lines)
    ax.set_ylabel("residual: norm left out / norm given")
    ax.set_ylim(bottom=0)


def figure_residuals(mpl, np, logs):
    return figure_panels(mpl, np, logs, residual_panels, draw_residuals,
                         "no residuals in the logs")
