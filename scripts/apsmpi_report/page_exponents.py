# SPDX-License-Identifier: BSD-3-Clause
"""The page about the exponents of the values, before the sum."""

from .exponent_figures import figure_exponents, figure_lost
from .exponents import read_exponents
from .figures import layer_labels
from .page_parts import element, table, words
from .text import show_fixed


def exponent_table(histograms):
    rows, keys = [], sorted(histograms)
    labels = layer_labels(keys, [histograms[key].name for key in keys])
    for key, label in zip(keys, labels):
        h = histograms[key]
        rows.append([label, "%d" % h.samples] + [
            show_fixed(100.0 * part / h.values, 2) if h.values else "-"
            for part in (h.zeros, h.infinite, h.nan)] + [
            "-" if e is None else "%d" % e for e in (
                min(h.binades, default=None), h.quantile(.01), h.quantile(.5),
                h.quantile(.99), max(h.binades, default=None))])
    return table(("layer", "samples", "zero%", "inf%", "nan%", "smallest", "1 %",
                  "median", "99 %", "largest"), rows, (0,), class_="exponents")


def exponent_section(log, figure):
    histograms = read_exponents(log)
    if not histograms:
        return ""
    drawn = any(h.binades for h in histograms.values()) and figure(
        "Exponents of the values, before the sum",
        lambda mpl, np: figure_exponents(mpl, np, histograms)) + figure(
            "What formats lose of them", lambda mpl, np: figure_lost(mpl, np, [log]))
    return (drawn or "") + element("p", words(
        "Binades of rank 0's own values: exponents e of 2^e, and the parts that have "
        "none."), class_="soft") + exponent_table(histograms)
