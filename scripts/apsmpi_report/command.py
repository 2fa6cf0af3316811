# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of apsmpi-report, and the work of the command."""

import argparse
import datetime
import fnmatch
import os
import re

from apsmpi_log.command import print_safely, status_of
from apsmpi_log.library import VERSION
from apsmpi_log.outputs import keep_inputs
from apsmpi_log.text import INF

from .bench import Bench
from .bench_figures import figure_bench
from .bench_tables import print_bench
from .candidate_figures import figure_candidates
from .exponent_figures import figure_lost
from .exponents import exponents_path
from .figures import draw
from .follow import follow
from .line_figures import figure_residuals, figure_scales
from .log_figures import figure_compared, figure_one
from .reading import KEYS, Log, set_labels
from .page import write_page
from .snr import Snr, figure_snr, print_snr
from .tables import print_report, write_csv
from .text import note


def figure_errors(mpl, np, logs):
    """Errors of the program's sums, or of candidates if there are no others."""
    if not logs[0].total.rows:
        return figure_candidates(mpl, logs)
    return figure_one(mpl, np, logs[0]) if len(logs) == 1 \
        else figure_compared(mpl, np, logs)


# kind of figure: (option, figure(mpl, np, logs), help, true if it shows candidates)
PLOTS = {
    "errors": ("--plot", figure_errors, "errors, scales and bytes", True),
    "scales": ("--plot-scales", figure_scales,
               "the scale exponents of each layer over the steps", False),
    "residuals": ("--plot-residuals", figure_residuals,
                  "what compressors leave out of each layer over the steps", False),
    "lost": ("--plot-lost", figure_lost,
             "the part of the values that formats lose, over the scale", True)}


def parse_layers(text):
    """Returns a predicate of (layer, name) for a text such as 0-3,7,10-,conv*."""
    ranges, globs = [], []
    for item in text.split(","):
        item = item.strip()
        match = re.fullmatch(r"(-1|\d+)|(\d+)-(\d*)", item)
        if not item:
            raise argparse.ArgumentTypeError("empty item in '%s'" % text)
        if not match:
            globs.append(item)
            continue
        if match.group(1):
            low = high = int(match.group(1))
        else:
            low = int(match.group(2))
            high = int(match.group(3)) if match.group(3) else INF
        if high < low:
            raise argparse.ArgumentTypeError("'%s' runs backwards" % item)
        ranges.append((low, high))

    def wanted(layer, name):
        return (any(low <= layer <= high for low, high in ranges) or
                any(fnmatch.fnmatchcase(name, glob) for glob in globs))
    return wanted


def parse_since(text):
    """Returns seconds since 1970 for a number of them or an ISO 8601 time."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        # Python 3.9 and 3.10 know no Z and only fractions of 3 or 6 digits.
        iso = re.sub("[zZ]$", "+00:00", text)
        iso = re.sub(r"\.(\d{1,6})\d*", lambda m: "." + m[1].ljust(6, "0"), iso)
        when = datetime.datetime.fromisoformat(iso)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "'%s' is neither seconds since the epoch nor an ISO 8601 time"
            % text) from None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.timezone.utc)
    return when.timestamp()


def parse_plot(text):
    if os.path.splitext(text)[1].lower() not in (".png", ".svg"):
        raise argparse.ArgumentTypeError(
            "'%s' ends neither in .png nor in .svg" % text)
    return text


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="apsmpi-report",
        description="Summarise the round-off logs that libapsmpi writes. "
        "Several logs are compared side by side.")
    parser.add_argument("logs", metavar="LOG", nargs="*", help="a round-off log")
    parser.add_argument("--bench", metavar="FILE",
                        help="instead of logs: what apsmpi-bench "
                        "wrote by its --csv, as tables and, with --plot, as a "
                        "figure")
    parser.add_argument("--bench-title", metavar="TEXT",
                        help="the title of both, instead of ranks, hosts and "
                        "links")
    parser.add_argument("--snr", metavar="FILE",
                        help="instead of logs: what `apsmpi snr` printed, as a "
                        "table and, with --plot, as a figure")
    parser.add_argument("--by", choices=list(KEYS), default="layer",
                        help="the table has a line for each of these "
                        "(default: layer)")
    for option, _, what, _ in PLOTS.values():
        parser.add_argument(option, metavar="FILE", action="append", default=[],
                            type=parse_plot, help="draw %s, .png or .svg; may be given "
                            "several times (needs matplotlib)" % what)
    parser.add_argument("--csv", metavar="FILE",
                        help="write the table as CSV, in full precision")
    parser.add_argument("--follow", action="store_true",
                        help="show the table while a job writes the LOG, until "
                        "Ctrl-C")
    parser.add_argument("--html", metavar="FILE",
                        help="write a page with figures, tables and events, which "
                        "a browser shows without a network")
    parser.add_argument("--comm", metavar="NAME",
                        help="only the rows of this communicator")
    parser.add_argument("--layers", metavar="LIST", type=parse_layers,
                        help="only these layers: indices, ranges and name "
                        "patterns, as in 0-52,60,100-,layer4.*")
    parser.add_argument("--since", metavar="TIME", type=parse_since,
                        help="only rows from TIME on: seconds since the epoch "
                        "or ISO 8601, UTC unless it says otherwise")
    parser.add_argument("--last", action="store_true",
                        help="only the last run in each log, by the column "
                        "`run`")
    parser.add_argument("--version", action="version",
                        version="apsmpi-report " + VERSION)
    options = parser.parse_args(arguments)
    if not options.bench and not options.snr and not options.logs:
        parser.error("no LOG")
    if options.bench and (options.logs or options.csv):
        parser.error("--bench takes neither LOG nor --csv")
    if options.bench or options.snr:
        for option, _, paths in plots_of(options):
            if paths and option != "--plot":
                parser.error("%s draws logs alone" % option)
        if options.html:
            parser.error("--html shows logs alone")
    if options.follow and (
            len(options.logs) != 1 or options.bench or options.snr or options.csv
            or options.html or any(paths for _, _, paths in plots_of(options))):
        parser.error("--follow takes one LOG, and writes no file")
    if options.snr and (options.logs or options.csv or options.bench):
        parser.error("--snr takes neither LOG, --bench nor --csv")
    return options


def plots_of(options):
    """Returns (option, kind, paths) for each of PLOTS."""
    return [(option, kind, getattr(options, option[2:].replace("-", "_")))
            for kind, (option, *_) in PLOTS.items()]


def shown_by(kind, logs):
    """Returns the logs that a figure of this kind shows."""
    return [log for log in logs if log.total.rows] or [
        log for log in logs if PLOTS[kind][3] and log.filled and log.candidates.rows]


def keep_what_is_read(options):
    """Raises UserError if an output file is also an input file."""
    outputs = [("--csv", options.csv), ("--html", options.html),
               *((option, path) for option, _, paths in plots_of(options)
                 for path in paths)]
    keep_inputs(outputs, [*options.logs, *map(exponents_path, options.logs),
                          options.bench, options.snr])


def main_bench(options):
    bench = Bench(options.bench)
    if options.plot:
        draw("--plot", options.plot, lambda mpl, np: figure_bench(
            mpl, np, bench, options.bench_title))
    return print_safely(lambda: print_bench(bench, options.bench_title))


def main_snr(options):
    snr = Snr(options.snr)
    if options.plot:
        draw("--plot", options.plot, lambda mpl, np: figure_snr(mpl, np, snr))
    return print_safely(lambda: print_snr(snr))


def main_follow(options):
    return print_safely(lambda: follow(options.logs[0], options, note))


def write_files(options, logs):
    """Writes the files that the options name, from logs that have been read."""
    if options.csv:
        write_csv(options.csv, logs, options.by)
    if options.html:
        write_page(options.html, logs, options.by)
    left = []
    for option, kind, paths in plots_of(options):
        shown = shown_by(kind, logs)
        if paths and shown:
            draw(option, paths, lambda mpl, np: PLOTS[kind][1](mpl, np, shown))
        elif paths:
            left += paths
    if left:
        note("no rows to draw: %s not written" % ", ".join(left))


def read_logs(options, figures):
    logs = [Log(path, options, figures) for path in options.logs]
    for log in logs:
        log.read()
    set_labels(logs)
    return logs


def main_logs(options):
    logs = read_logs(options, bool(
        options.html or any(paths for _, _, paths in plots_of(options))))
    # Files first: a reader who leaves early (head) still gets them.
    write_files(options, logs)
    if (not any(log.filled for log in logs) and any(log.has_rows for log in logs)):
        for log in logs:
            note("%s: %s" % (log.path, log.why_empty()))
        return 1
    return print_safely(lambda: print_report(logs, options.by))


def main(arguments):
    options = parse_arguments(arguments)

    def work():
        keep_what_is_read(options)
        if options.bench:
            return main_bench(options)
        if options.snr:
            return main_snr(options)
        return main_follow(options) if options.follow else main_logs(options)
    return status_of(work, note)
