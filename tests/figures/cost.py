#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of each format with each scale: cost.py FOLDER

writes FOLDER/cost.csv and FOLDER/cost.png. A line of the CSV is one way to
reduce on one data set; 8 ranks on one node, `reduce: direct`, so that all bytes
go through MPI:

  set, format, scale, rounding
  wire_bytes      bytes an element that rank 0 sends, by the library's log, of
                  what would be 4 in FP32
  sent_bytes      the same by the messages that a library in front of it counts,
                  mean of the ranks: with those that precede the data
  messages, collectives   that a rank sends and takes part in, in a call; direct
                  alone sends 2 messages to each other rank
  eq5, snr_db     error and signal-to-noise ratio, by the log, means over steps
                  and tensors
  overflow        elements of the result that overflowed
  redone          chunks that were reduced again
"""
import os

from gradients import prepare
from output import draw_sets, folder_given, write_csv
from replay import measure, measure_by_log
from words import (FEW_BLOCKS, FEW_FLOATS, MX, OCP_FLOATS, OTHERS, ROUNDINGS,
                   SCALES, variants)

def chosen():
    """All formats with all scales; roundings other than to nearest have only the
    scale that they change least."""
    formats = FEW_FLOATS + OCP_FLOATS + FEW_BLOCKS + MX + OTHERS
    yield from variants(formats, SCALES, ROUNDINGS[:1])
    yield from variants(formats, ["-", "aps"], ROUNDINGS[1:])


def rows_of(folder, name, some):
    """Yields the CSV's rows of one data set, as dictionaries."""
    prefix, tensors = prepare(folder, name)
    measured = measure(folder, prefix, tensors, some)
    logged = measure_by_log(folder, prefix, tensors, some)
    for variant, m, log in zip(some, measured, logged):
        yield {
            "set": name, "format": variant.format, "scale": variant.scale,
            "rounding": variant.rounding,
            "wire_bytes": "%.5g" % log.bytes(),
            "sent_bytes": "%.5g" % m.bytes(),
            "messages": "%.4g" % m.per_call(m.messages),
            "collectives": "%.4g" % m.per_call(m.collectives),
            "eq5": "%.5g" % log.mean_eq5(), "snr_db": "%.4g" % log.snr(),
            "overflow": log.overflow, "redone": log.redone}


def draw_set(mpl, ax, rows):
    """Draws SNR over bytes, a colour for each scale."""
    scales = [s for s in SCALES if any(r["scale"] == s for r in rows)]
    colours = mpl.colormaps["tab20"].colors
    for i, scale in enumerate(scales):
        mine = [r for r in rows if r["scale"] == scale
                and r["rounding"] == "nearest" and float(r["snr_db"]) > -30]
        ax.scatter([float(r["wire_bytes"]) for r in mine],
                   [float(r["snr_db"]) for r in mine], s=26,
                   color=colours[i % 20], marker="osD^vPX"[i % 7],
                   label="in blocks" if scale == "-" else scale)
    best = {}
    for r in rows:
        snr = float(r["snr_db"])
        if r["rounding"] == "nearest" and snr > best.get(r["format"], (-30,))[0]:
            best[r["format"]] = snr, float(r["wire_bytes"])
    for format, (snr, size) in best.items():
        ax.annotate(format, (size, snr), xytext=(2, 4), fontsize=6,
                    textcoords="offset points")
    ax.set_xscale("log", base=2)
    ax.set_xticks([0.5, 0.75, 1, 1.5, 2], ["0.5", "0.75", "1", "1.5", "2"])
    ax.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    ax.set_xlabel("bytes an element on the wire, measured (FP32: 4)")


def main():
    folder = folder_given()
    some = list(chosen())
    rows = []
    for name in ("sim", "digits"):
        rows += rows_of(folder, name, some)
    write_csv(os.path.join(folder, "cost.csv"), rows)
    draw_sets(os.path.join(folder, "cost.png"), rows, draw_set, (14, 7),
              "SNR of the sum of 8 ranks, dB", ncol=7)


if __name__ == "__main__":
    main()
