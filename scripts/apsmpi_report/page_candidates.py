# SPDX-License-Identifier: BSD-3-Clause
"""The page about candidates: their errors, the table, and a policy that follows from
them."""

import html

from apsmpi_log.text import UserError
from apsmpi_suggest.command import parse_arguments, suggest

from .candidate_figures import figure_candidates
from .candidate_tables import candidate_columns
from .page_parts import columns_table, element, words


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
        suggestion(log)])
