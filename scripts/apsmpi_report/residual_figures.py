# SPDX-License-Identifier: BSD-3-Clause
"""The figure of residuals over time: what compressors leave out."""

from apsmpi_log.candidates import join_sent
from apsmpi_log.text import shorten

from .line_panels import draw_lines, figure_panels, lines_of


def panels_of(np, log):
    """(compressor, {layer key: (steps, residuals)}) of a log."""
    return lines_of(np, log, np.frombuffer(log.cells.compress, dtype=np.int64),
                    log.cells.compress_index,
                    np.frombuffer(log.cells.residual, dtype=float))


def plain_formats(log, lines):
    """Those of a panel's layers that are of no compressor."""
    compressors = {name.split(" ")[0] for name in log.cells.compress_index if name}
    formats = {name: True for key in lines for name in log.layers[key].formats
               if name.split(" ")[0] not in compressors}
    return shorten(join_sent(formats), 40) or "no compressor"


def draw_panel(mpl, ax, log, compress, lines):
    draw_lines(mpl, ax, log, compress or plain_formats(log, lines), lines)
    ax.set_ylabel("residual: norm left out / norm given")
    ax.set_ylim(bottom=0)


def figure_residuals(mpl, np, logs):
    return figure_panels(
        mpl, [(log, *panel) for log in logs for panel in panels_of(np, log)],
        lambda ax, *panel: draw_panel(mpl, ax, *panel),
        "no residuals in the logs")
