# SPDX-License-Identifier: BSD-3-Clause
"""The page about candidates: their errors, the table, the binades of the values, and
a policy that follows from them."""

import html

from apsmpi_log.text import UserError
from apsmpi_suggest.command import parse_arguments, suggest

from .candidate_figures import figure_candidates, figure_exponents
from .candidate_tables import candidate_columns
from .exponents import read_exponents
from .figures import layer_labels
from .page_parts import columns_table, element, table, words
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
        lambda mpl, np: figure_exponents(mpl, np, histograms))
    return (drawn or "") + element("p", words(
        "Binades of rank 0's own values: exponents e of 2^e, and the parts that have "
        "none."), class_="soft") + exponent_table(histograms)


def suggestion(log):
    """Returns a policy by the default target, with the command that writes it."""
    options = log.options
    arguments = [log.path] + (["--run", "last"] if options.last else []) + (
        ["--comm", options.comm] if options.comm else [])
    command = "apsmpi suggest --target snr=20dB -o suggested.yaml " + " ".join(
        arguments[1:] + [log.path])
    try:
        text = suggest(parse_arguments(arguments), say=lambda _: None)
    except UserError as error:
        return element("h3", "A policy") + element("p", words(
            "%s: %s" % (command, error)), class_="note")
    return element("h3", "A policy that keeps 20 dB in each layer") + element(
        "p", element("code", words(command))) + element(
            "pre", html.escape(text), class_="policy")


def candidate_sections(log, by, figure):
    """Returns all parts about candidates; "" for a log without candidates."""
    if not log.candidates.rows:
        return ""
    return "\n".join([
        figure("Errors of candidates",
               lambda mpl, np: figure_candidates(mpl, [log])),
        element("h3", words("Candidates by " + by)),
        columns_table(candidate_columns(log, by), class_="candidates"),
        exponent_section(log, figure), suggestion(log)])
