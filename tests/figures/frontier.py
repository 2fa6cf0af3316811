#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Error over bits: frontier.py FOLDER

writes FOLDER/frontier.csv and FOLDER/frontier.png, and prints the ways to
reduce on the frontier. A line of the CSV is one way to reduce on one data set,
8 ranks, `reduce: direct`:

  set, format, scale, rounding
  bits        a value on the wire, with headers and with messages before the data,
              as count.c counts them
  nmse        mean over steps and tensors of |sum - exact|^2 / |exact|^2
  frontier    yes: no other way has both fewer bits and less error
"""
import math
import os

from gradients import SETS, prepare
from output import draw_sets, folder_given, write_csv
from replay import measure
from words import (BLOCKS, FEW_FLOATS, FLOATS, MX, OCP_FLOATS, OTHERS, ROUNDINGS,
                   SCALES, variants)

BARS = ["mx-e2m1fn", "mx-e2m3fn", "mx-e3m2fn", "mx-e4m3fn"]
WIDEST = 9.5        # bits


def chosen():
    """All formats up to 9 bits, with the scales that follow the data of the call
    itself and with all roundings; and some of the formats with the other
    scales, whose exponents differ by some powers of two."""
    formats = FLOATS + OCP_FLOATS + BLOCKS + MX + OTHERS
    formats = [f for f in formats if f not in ("e5m10", "e8m7", "flex16")]
    direct = ["-", "aps", "aps-tight"]
    yield from variants(formats, direct, ROUNDINGS)
    yield from variants([f for f in FEW_FLOATS + ["flex8"] if f in formats],
                        [s for s in SCALES if s not in direct], ROUNDINGS)


def family(row):
    """Returns the colour of a row."""
    if row["format"].startswith("mx-"):
        return "OCP MX"
    if row["format"].startswith(("bfp", "nvfp")):
        return "other blocks"
    if row["scale"] in ("aps", "aps-tight"):
        return "floats, " + row["scale"]
    return "other scales"


def words(row):
    return ", ".join(row[key] for key in ("format", "scale", "rounding")
                     if row[key] not in ("-", "nearest"))


def frontier_of(rows):
    """Returns the rows to which no other is better in bits and error, by bits."""
    best, least = [], math.inf
    for row in sorted(rows, key=lambda r: (float(r["bits"]), float(r["nmse"]))):
        if float(row["nmse"]) < least:
            least = float(row["nmse"])
            best.append(row)
    return best


def rows_of(folder, name, some):
    """Returns the CSV's rows of one data set, as dictionaries."""
    prefix, tensors = prepare(folder, name)
    rows = [{"set": name, "format": variant.format, "scale": variant.scale,
             "rounding": variant.rounding, "bits": "%.5g" % (8 * m.bytes()),
             "nmse": "%.5g" % m.mean_nmse(), "frontier": "no"}
            for variant, m in zip(some, measure(folder, prefix, tensors, some))]
    for row in frontier_of(rows):
        row["frontier"] = "yes"
    return rows


def say_frontier(name, rows):
    """Prints the frontier, and the library's best way at each MX format's bits."""
    print("%s: the frontier" % name)
    for row in frontier_of(rows):
        if float(row["bits"]) <= WIDEST:
            print("  %6.3f bits  %-9.3g %s" % (
                float(row["bits"]), float(row["nmse"]), words(row)))
    for bar in BARS:
        for mx in rows:
            if mx["format"] != bar or mx["rounding"] != "nearest":
                continue
            ours = [r for r in rows if not r["format"].startswith("mx-")]
            alike = [r for r in ours if float(r["bits"]) <= float(mx["bits"])]
            exact = [r for r in ours if float(r["nmse"]) <= float(mx["nmse"])]
            least = min(alike, key=lambda r: float(r["nmse"]), default=None)
            small = min(exact, key=lambda r: float(r["bits"]), default=None)
            print("  %s: %s bits, %s; at most these bits: %s; at most this "
                  "error: %s" % (
                      bar, mx["bits"], mx["nmse"],
                      least and "%s %s" % (words(least), least["nmse"]),
                      small and "%s %s bits" % (words(small), small["bits"])))


def draw_set(mpl, ax, rows):
    families = ["floats, aps-tight", "floats, aps", "other scales",
                "other blocks", "OCP MX"]
    colours = dict(zip(families, ("#0072B2", "#56B4E9", "#AAAAAA", "#009E73",
                                  "#D55E00")))
    markers = dict(zip(ROUNDINGS, "osD"))
    for part in families:
        for rounding in ROUNDINGS:
            mine = [r for r in rows if family(r) == part
                    and r["rounding"] == rounding
                    and float(r["nmse"]) < 1 and float(r["bits"]) < WIDEST]
            if mine:
                ax.scatter([float(r["bits"]) for r in mine],
                           [float(r["nmse"]) for r in mine],
                           color=colours[part], marker=markers[rounding],
                           s=14 if part != "OCP MX" else 40,
                           label="%s, %s" % (part, rounding),
                           zorder=3 if part == "OCP MX" else 2)
    best = [r for r in frontier_of(rows)
            if float(r["bits"]) < WIDEST and float(r["nmse"]) < 1]
    ax.step([float(r["bits"]) for r in best], [float(r["nmse"]) for r in best],
            where="post", color="#333333", linewidth=1)
    for r in best:
        ax.annotate(words(r).replace(", aps-tight", " tight")
                    .replace(", correlated", " corr."),
                    (float(r["bits"]), float(r["nmse"])), xytext=(-4, -4),
                    fontsize=6.5, va="top", ha="right",
                    textcoords="offset points")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda y, _: "%g" % y))
    ax.set_xlabel("bits a value on the wire, measured")


def main():
    folder = folder_given()
    some = list(chosen())
    rows = []
    for name in SETS:
        rows += rows_of(folder, name, some)
        say_frontier(name, [r for r in rows if r["set"] == name])
    write_csv(os.path.join(folder, "frontier.csv"), rows)
    draw_sets(os.path.join(folder, "frontier.png"), rows, draw_set, (16, 9),
              "normalised mean squared error of the sum of 8 ranks", ncol=5)


if __name__ == "__main__":
    main()
