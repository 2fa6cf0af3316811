# SPDX-License-Identifier: BSD-3-Clause
"""What the page shows of candidates: the table, a map of their errors, the binades
of the values, and a policy that follows from them."""

import html

from apsmpi_log.text import NAN, UserError
from apsmpi_suggest.command import parse_arguments, suggest

from .candidate_tables import candidate_columns, candidate_names
from .exponents import read_exponents
from .page_figures import layer_name
from .page_maps import ERROR_STOPS, EXPONENT_STOPS, LETTER, Scale, draw_map
from .page_parts import figure, table, words
from .svg import INK, element, label, line
from .text import show_fixed

BINADES_MAX = 160       # columns of a map: more share one
LAYERS_MAX = 400        # more have no row


def candidate_table(log, by):
    columns = candidate_columns(log, by)
    left = [i for i, column in enumerate(columns) if column.align == "<"]
    return element("h3", words("Candidates by " + by)) + table(
        [column.heading for column in columns],
        list(zip(*(column.cells for column in columns))), left,
        class_="candidates")


def several_comms(keys):
    return len({key[0] for key in keys}) > 1


def draw_candidates(log):
    """The signal-to-noise ratio by layer and candidate."""
    found = log.candidate_layers
    keys = sorted({key[:-1] for key in found})[:LAYERS_MAX]
    names = candidate_names(sorted({key[-1] for key in found}))
    values = [[found[(*key, c)].snr() if (*key, c) in found else NAN for c in names]
              for key in keys]
    scale = Scale([value for row in values for value in row], ERROR_STOPS[::-1],
                  "linear")
    if scale.empty:
        return None
    stats = {key[:-1]: s for key, s in found.items()}

    def axis(left, width, y):
        cell = width / len(names)
        every = max(1, -(-max(map(len, names.values())) * LETTER // cell))
        return "".join(
            line(left + (i + .5) * cell, y, left + (i + .5) * cell, y + 4, INK) +
            label(left + (i + .5) * cell, y + 16 + 12 * (i % every), text, "middle")
            for i, text in enumerate(names.values()) if i % every < 2)

    return draw_map([layer_name(key, stats[key], several_comms(keys)) for key in keys],
                    list(names.values()), values, scale,
                    "signal-to-noise ratio in dB", axis,
                    "signal-to-noise ratio by layer and candidate")


def draw_exponents(histograms):
    """The share of each layer's values by binade."""
    keys = sorted(histograms)[:LAYERS_MAX]
    exponents = {e for key in keys for e in histograms[key].binades}
    if not exponents:
        return None
    low, high = min(exponents), max(exponents)
    share = -(-(high - low + 1) // BINADES_MAX)
    starts = range(low, high + 1, share)
    values = []
    for key in keys:
        h = histograms[key]
        row = [sum(h.binades.get(e, 0) for e in range(first, first + share))
               for first in starts]
        values.append([n / h.values if n else NAN for n in row])
    scale = Scale([value for row in values for value in row], EXPONENT_STOPS, "log")
    columns = ["2^%d" % first if share == 1 else "2^%d to 2^%d" % (
        first, first + share - 1) for first in starts]

    def axis(left, width, y):
        cell = width / len(starts)
        every = max(1, -(-len(starts) // 24))
        return "".join(
            line(left + (i + .5) * cell, y, left + (i + .5) * cell, y + 4, INK) +
            label(left + (i + .5) * cell, y + 16, first, "middle")
            for i, first in enumerate(starts) if first % (every * share) == 0) + label(
                left + width, y + 32, "e: magnitudes from 2^e to 2^(e + 1)", "end")

    return draw_map([layer_name(key, Named(histograms[key]), several_comms(keys))
                     for key in keys], columns, values, scale,
                    "part of the layer's values", axis,
                    "part of each layer's values by binade")


class Named:
    """A layer's name, as layer_name() asks for it."""

    def __init__(self, histogram):
        self.text = histogram.name

    def name(self):
        return self.text


def exponent_table(histograms):
    rows = []
    several = several_comms(histograms)
    for key, h in sorted(histograms.items()):
        rows.append([layer_name(key, Named(h), several), "%d" % h.samples] + [
            show_fixed(100.0 * part / h.values, 2) if h.values else "-"
            for part in (h.zeros, h.infinite, h.nan)] + [
            "-" if e is None else "%d" % e for e in (
                min(h.binades, default=None), h.quantile(.01), h.quantile(.5),
                h.quantile(.99), max(h.binades, default=None))])
    return table(("layer", "samples", "zero%", "inf%", "nan%", "smallest", "1 %",
                  "median", "99 %", "largest"), rows, (0,), class_="exponents")


def exponent_section(log):
    histograms = read_exponents(log)
    if not histograms:
        return ""
    return (figure("Exponents of the values, before the sum", draw_exponents(
        histograms)) + element("p", words(
            "Binades of rank 0's own values: e of 2^e, and the parts that are no such "
            "number."), class_="soft") + exponent_table(histograms))


def suggestion(log):
    """A policy by the default target, with the command that writes it."""
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


def candidate_sections(log, by):
    """All of it; nothing for a log without candidates."""
    if not log.candidates.rows:
        return ""
    return "\n".join([
        figure("Signal-to-noise ratio by layer and candidate", draw_candidates(log)),
        candidate_table(log, by), exponent_section(log), suggestion(log)])
