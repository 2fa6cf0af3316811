# SPDX-License-Identifier: BSD-3-Clause
"""Signal-to-noise ratios of formats by scale, which `apsmpi snr` prints: a table of
the best ratio of each format, and a figure."""

import csv
import math

from apsmpi_log.text import UserError

from .figures import COLOURS, MARKERS

PLATEAU = 3.0  # width of the best range below the best ratio, in dB


class Snr:
    """scales: the exponents k; ratios: {format: ratios in dB}."""

    def __init__(self, path):
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError("%s: %s" % (path, getattr(error, "strerror", None)
                                          or error)) from None
        if len(rows) < 2 or rows[0][:1] != ["scale_exp"] or len(rows[0]) < 2:
            raise UserError("%s: not what `apsmpi snr` prints: the first "
                            "line must be scale_exp,FORMAT,..." % path)
        try:
            self.scales = [int(row[0]) for row in rows[1:]]
            columns = [[float(row[i]) for row in rows[1:]]
                       for i in range(1, len(rows[0]))]
        except (ValueError, IndexError) as error:
            raise UserError("%s: %s" % (path, error)) from None
        self.ratios = dict(zip(rows[0][1:], columns))

    def best(self, name):
        """Returns the best ratio, and the first and the last scale within PLATEAU."""
        ratios = self.ratios[name]
        most = max(ratios)
        near = [k for k, ratio in zip(self.scales, ratios)
                if ratio >= most - PLATEAU]
        return most, near[0], near[-1]


def print_snr(snr):
    width = max(6, max(map(len, snr.ratios)))
    print("Signal-to-noise ratio of N(0, 1) times 2^k: the best, and the scales "
          "k\nat which it is within %g dB of that" % PLATEAU)
    print("%-*s %9s   %s" % (width, "format", "best, dB", "k"))
    for name in snr.ratios:
        most, first, last = snr.best(name)
        print("%-*s %9.1f   %d to %d" % (width, name, most, first, last))


def figure_snr(mpl, np, snr):
    fig, ax = mpl.pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for i, (name, ratios) in enumerate(snr.ratios.items()):
        finite = [r if math.isfinite(r) else np.nan for r in ratios]
        ax.plot(snr.scales, finite, color=COLOURS[i % len(COLOURS)],
                marker=MARKERS[i // len(COLOURS) % len(MARKERS)], markersize=3,
                linewidth=1.2, label=name)
    ax.set_title("How well formats hold N(0, 1) times a scale")
    ax.set_xlabel("scale, as a power of two")
    ax.set_ylabel("signal-to-noise ratio, dB")
    ax.set_ylim(bottom=0)
    ax.grid(True)
    ax.legend(frameon=False, ncol=2)
    return fig
