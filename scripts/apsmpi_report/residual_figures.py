# SPDX-License-Identifier: BSD-3-Clause
"""The figure of residuals over time: what compressors leave out."""

from .line_panels import draw_lines, figure_panels, lines_of


def panels_of(np, log):
    """(compressor, {layer key: (steps, residuals)}) of a log."""
    return lines_of(np, log, np.frombuffer(log.cells.compress, dtype=np.int64),
                    log.cells.compress_index,
                    np.frombuffer(log.cells.residual, dtype=float))


def draw_panel(mpl, ax, log, compress, lines):
    draw_lines(mpl, ax, log, compress, lines)
    ax.set_ylabel("residual: norm left out / norm given")
    ax.set_ylim(bottom=0)


def figure_residuals(mpl, np, logs):
    return figure_panels(
        mpl, [(log, *panel) for log in logs for panel in panels_of(np, log)],
        lambda ax, *panel: draw_panel(mpl, ax, *panel),
        "no residuals in the logs")
