# SPDX-License-Identifier: BSD-3-Clause
"""The page: logs as one HTML file, which needs no other file."""

import math

from apsmpi_log.runs import parse_begin
from apsmpi_log.text import UserError, plural

from .format_changes import other_events
from .line_figures import figure_residuals
from .log_figures import figure_compared, figure_one, figure_steps, shows_ratios
from .page_candidates import candidate_sections
from .page_exponents import exponent_section
from .page_formats import format_sections
from .page_frame import frame
from .page_parts import Figures, columns_table, element, fact, table, words
from .table_layout import key_columns
from .tables import describe, headings_of, notes_of, value_columns
from .text import NOTES_MAX, note, show_bytes, show_error, show_fixed, show_usec
from .trials import time_saved, trials_of

RUN_FACTS = ("apsmpi", "ranks", "nodes", "host", "mpi", "policy", "policy_hash")


def count_desyncs(log):
    return sum(times for text, times in log.events.items() if "desync" in text)


def show_saved(part):
    return "-" if math.isnan(part) else "%.1f %%" % (100 * part)


def facts(log, trials):
    total = log.total
    shown = [
        fact("%s %%" % show_fixed(total.saved_percent(), 1), "of the bytes saved"),
        fact(show_usec(total.usec / total.rows), "time of a sampled reduction"),
        fact(show_error(total.err_mean()), "mean round-off error")
        if not total.compressed else
        fact(show_fixed(total.residual(), 3), "mean residual of compressors"),
        fact(show_fixed(total.snr(), 1) + " dB", "signal-to-noise ratio"),
        fact("%d" % total.overflow, "elements overflowed"),
        fact("%d" % total.redone, "chunks reduced again"),
        fact("%d" % count_desyncs(log), "desync events")]
    saved = time_saved(log, trials)
    if not math.isnan(saved):
        shown.insert(1, fact(show_saved(saved), "of the time saved, by the trials"))
    return element("div", *shown, class_="facts")


def what_ran(log):
    runs = [run for run in log.runs if run]
    rows = []
    for run in runs:
        said = parse_begin(log.begun.get(run, ""))
        rows.append(["%d" % (log.runs[run] + 1), run] +
                    [said.get(name, "-") for name in RUN_FACTS] +
                    ["%d" % log.run_rows[run]])
    if not rows:
        return ""
    text = element("h3", "What ran") + table(
        ("run", "id") + RUN_FACTS + ("rows",), rows, range(1, 9), class_="runs")
    if len(runs) > 1:
        text += element("p", words(
            "The log has the rows of %d runs: numbers and means are those of all "
            "rows; the figures keep runs apart. apsmpi-report --last shows the last "
            "run alone." % len(runs)), class_="note")
    return text


def trial_table(log, trials):
    if not trials:
        return ""
    rows = [[(trial.call + ", " if trial.call else "") +
             "%d to %d" % (trial.low, trial.high), trial.comm, trial.chosen,
             show_usec(trial.times["native"]), show_usec(trial.times[trial.chosen]),
             show_saved(1 - trial.times[trial.chosen] / trial.times["native"])]
            for trial in trials]
    return (element("h3", "Time against native FP32: the trials of reduce: auto") +
            table(("elements", "comm", "chosen", "native", "chosen's", "time saved"),
                  rows, (1, 2), class_="trials"))


def log_table(log, by):
    """Returns the lines of the text's table, with all columns."""
    summary = dict(log.summary().items())
    keys = sorted(summary)
    stats = [summary[key] for key in keys]
    total = log.total
    columns = key_columns(by, keys, stats, total) + value_columns(
        headings_of(log, by), stats + [total])
    return element("h3", words("By " + by)) + columns_table(columns, True,
                                                            class_="lines")


def events(log):
    others = other_events(log)
    if not others:
        return element("h3", "Events") + element(
            "p", "The log has no %sevents." % ("other " if log.events else ""))
    rows = [["%d" % times, text] for text, times in others.items()]
    more = len(rows) - 10 * NOTES_MAX
    return element("h3", "Events") + table(
        ("times", "event"), rows[:10 * NOTES_MAX], (1,), class_="events") + (
        element("p", "and %s" % plural(more, "other kind")) if more > 0 else "")


def notes(log):
    texts = list(notes_of(log))
    if log.malformed:
        texts.append(plural(log.malformed, "malformed line") + " skipped")
    if log.truncated:
        texts.append("The last line is not whole and was ignored: the job may still "
                     "be running, or it was killed.")
    return "".join(element("p", words(text), class_="note") for text in texts)


def section(log, by, several, figure):
    title = element("h2", words(log.label)) if several else ""
    if not log.filled:
        return title + element("p", words("%s: %s" % (log.path, log.why_empty())),
                               class_="note") + events(log)
    rest = [format_sections(log, figure), candidate_sections(log, by, figure),
            exponent_section(log, figure), events(log)]
    if not log.total.rows:
        return "\n".join([title, element("p", words(describe(log))), what_ran(log),
                          notes(log), *rest])
    total, trials = log.total, trials_of(log)
    head = "%s; %s; scale %s" % (describe(log), total.sent(),
                                 "/".join(total.scales))
    parts = [title, element("p", words(head)), what_ran(log), facts(log, trials)]
    if not trials:
        parts.append(element("p", words(
            "The log does not say how long native reductions would have taken; with "
            "reduce: auto in the policy it does."), class_="soft"))
    parts += [
        notes(log), trial_table(log, trials),
        figure("Ratios, residuals and bytes by layer" if shows_ratios([log])
               else "Errors, scale exponents and bytes by layer",
               lambda mpl, np: figure_one(mpl, np, log)),
        figure("Signal-to-noise ratio by step" if shows_ratios([log])
               else "Mean round-off error by step",
               lambda mpl, np: figure_steps(mpl, np, log))]
    if total.residual_rows:
        parts.append(figure("What compressors leave out, by layer and step",
                            lambda mpl, np: figure_residuals(mpl, np, [log])))
    return "\n".join([*parts, log_table(log, by), *rest])


def overview(logs):
    rows = [[log.label, log.total.sent(), "/".join(log.total.scales),
             "%d" % log.total.rows, show_error(log.total.err_mean()),
             show_fixed(log.total.snr(), 1), show_bytes(log.total.wire),
             show_fixed(log.total.saved_percent(), 1),
             show_usec(log.total.usec / log.total.rows), "%d" % log.total.overflow,
             "%d" % log.total.redone, "%d" % count_desyncs(log)] for log in logs]
    return table(("log", "format", "scale", "rows", "err_mean", "snr_db", "sent",
                  "saved%", "time of a call", "overfl", "redone", "desyncs"), rows,
                 (0, 1, 2), class_="overview")


def page(logs, by, figure):
    """Returns the page as text."""
    filled = [log for log in logs if log.total.rows]
    several = len(logs) > 1
    title = "Round-off: " + ", ".join(log.label for log in logs)
    parts = [element("h1", words(title))]
    if figure.missing:
        parts.append(element("p", words("The page has no figures: " + figure.missing),
                             class_="note"))
    if several and filled:
        parts.append(overview(filled))
    if len(filled) > 1:
        parts.append(figure("Logs compared",
                            lambda mpl, np: figure_compared(mpl, np, filled)))
    parts += [section(log, by, several, figure) for log in logs]
    return frame(title, "\n".join(parts))


def write_page(path, logs, by):
    figure = Figures()
    if figure.missing:
        note("%s; %s has no figures" % (figure.missing, path))
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(page(logs, by, figure))
    except OSError as error:
        raise UserError("%s: %s" % (path, error.strerror)) from None
