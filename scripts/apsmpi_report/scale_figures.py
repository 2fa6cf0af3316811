# SPDX-License-Identifier: BSD-3-Clause
"""The figure of scale exponents over time, and the steps in which chunks were
reduced again."""

from .figures import RED
from .line_panels import draw_lines, figure_panels, lines_of


def panels_of(np, log):
    """(scale, {layer key: (steps, exponents, chunks done again)}) of a log."""
    return lines_of(np, log, np.frombuffer(log.cells.scale, dtype=np.int64),
                    log.cells.scale_index, np.frombuffer(log.cells.exp, dtype=float),
                    np.frombuffer(log.cells.redone, dtype=np.int64))


def draw_panel(mpl, ax, log, scale, lines):
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
    ax.yaxis.set_major_locator(mpl.ticker.MaxNLocator(8, integer=True))


def figure_scales(mpl, np, logs):
    return figure_panels(
        mpl, [(log, *panel) for log in logs for panel in panels_of(np, log)],
        lambda ax, *panel: draw_panel(mpl, ax, *panel),
        "no scale exponents in the logs")
