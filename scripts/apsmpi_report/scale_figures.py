# SPDX-License-Identifier: BSD-3-Clause
"""The figure of scale exponents over time: a panel for each log and scale, a line
for each layer, and the steps in which chunks were reduced again."""

from .figures import COLOURS, RED, layer_label, say_nothing
from .text import shorten

LINES_NAMED = 14        # up to so many layers each gets its name
PANELS_WIDE = 2


def panels_of(np, log):
    """(scale, {layer key: (steps, exponents, chunks done again)}) of a log, in the
    order in which the scales came, steps in order."""
    scales = np.frombuffer(log.cell_scale, dtype=np.int64)
    layers = np.frombuffer(log.cell_layer, dtype=np.int64)
    steps = np.frombuffer(log.cell_step, dtype=np.int64)
    exponents = np.frombuffer(log.cell_exp, dtype=float)
    redone = np.frombuffer(log.cell_redone, dtype=np.int64)
    keys = {stats.index: key for key, stats in log.layers.items()}
    for scale, number in log.scale_index.items():
        lines = {}
        for layer in np.unique(layers[scales == number]):
            use = (scales == number) & (layers == layer) & ~np.isnan(exponents)
            order = np.argsort(steps[use], kind="stable")
            if len(order):
                lines[keys[layer]] = tuple(values[use][order] for values in
                                           (steps, exponents, redone))
        if lines:
            yield scale, lines


def draw_panel(mpl, np, ax, log, scale, lines):
    keys = sorted(lines)
    comms = len({key[0] for key in keys})
    cmap = mpl.colormaps["viridis"]
    again = 0
    for i, key in enumerate(keys):
        steps, exponents, redone = lines[key]
        colour = (COLOURS[i % len(COLOURS)] if len(keys) <= len(COLOURS)
                  else cmap(i / (len(keys) - 1)))
        ax.plot(steps, exponents, drawstyle="steps-post", color=colour,
                linewidth=1.3, marker="o", markersize=2.5,
                label=layer_label(key, log.layers[key], comms))
        use = redone > 0
        again += int(redone.sum())
        ax.scatter(steps[use], exponents[use], s=44, marker="x", color=RED,
                   zorder=4)
    ax.set_title("%s: %s" % (shorten(log.label, 40), scale or "no scale named"))
    ax.set_xlabel("step" + (" (red: %d chunks reduced again)" % again
                            if again else ""))
    ax.set_ylabel("scale exponent f: values times 2^f")
    ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(
        8, integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_locator(mpl.ticker.MaxNLocator(8, integer=True))
    ax.grid()
    if len(keys) <= LINES_NAMED:
        ax.legend(title="layer", fontsize=7, title_fontsize=7, frameon=False)
    else:
        bar = ax.figure.colorbar(mpl.cm.ScalarMappable(
            mpl.colors.Normalize(0, len(keys) - 1), cmap), ax=ax, pad=0.02)
        bar.set_label("layer, in order, of %d" % len(keys))
        bar.outline.set_visible(False)


def figure_scales(mpl, np, logs):
    panels = [(log, *panel) for log in logs for panel in panels_of(np, log)]
    columns = min(max(len(panels), 1), PANELS_WIDE)
    rows = max(-(-len(panels) // columns), 1)
    fig, axes = mpl.pyplot.subplots(rows, columns, figsize=(7 * columns, 4 * rows),
                                    squeeze=False, layout="constrained")
    for ax, panel in zip(axes.flat, panels):
        draw_panel(mpl, np, ax, *panel)
    for ax in axes.flat[len(panels):]:
        ax.set_visible(bool(not panels))
    if not panels:
        say_nothing(axes[0][0], "no scale exponents in the logs")
    return fig
