# SPDX-License-Identifier: BSD-3-Clause
"""Reads round-off logs in one pass. Only sums are held in memory, and a few numbers for
each row if a figure is asked for."""

import bisect
import collections
import os
import re

from apsmpi_log.candidates import candidate_name, sent_name
from apsmpi_log.columns import COLUMNS, picker
from apsmpi_log.lines import LogFile
from apsmpi_log.runs import LastRun, layer_keys, parse_candidate, parse_end

from .cells import Cells, numbers_of
from .line_store import LineStore
from .statistics import Share, Stats, merge
from .text import note

# Functions that return the key of each row's line of the table: (comm, layer, step,
# epoch or format, ...).
KEYS = {
    "layer": layer_keys,
    "step": lambda columns: list(zip(columns["comm"], columns["step"])),
    "epoch": lambda columns: list(zip(columns["comm"], columns["epoch"])),
    "format": lambda columns: list(zip(columns["comm"], columns["sent"])),
}


Candidate = collections.namedtuple("Candidate", "number name reduce")


def candidates_of(columns, plans):
    """Returns the Candidate of each row."""
    kinds = list(zip(*(columns[name] for name in (
        "shadow", "format", "scale", "compress", "reduce", "run", "rule"))))
    names = {kind: Candidate(kind[0], candidate_name(*kind[1:4], plans.get(
        (kind[5], kind[6], "%d" % kind[0]))), kind[4]) for kind in set(kinds)}
    return [names[kind] for kind in kinds]


def add_sent(columns):
    """Adds a column `sent`: the text that a table shows as the format."""
    if columns.same.get("compress") == "":
        columns.values["sent"] = columns["format"]
        if "format" in columns.same:
            columns.same["sent"] = columns.same["format"]
        return
    kinds = list(zip(columns["format"], columns["compress"]))
    names = {kind: sent_name(*kind) for kind in set(kinds)}
    columns.values["sent"] = [names[kind] for kind in kinds]


def rows_by(keys):
    """Returns {key: numbers of its rows}, in the order of the keys."""
    groups = collections.defaultdict(list)
    for row, key in enumerate(keys):
        groups[key].append(row)
    return groups


class Log(LogFile):
    """One log file, summarised."""

    columns = {name: column for name, column in COLUMNS.items() if name not in (
        "group", "node", "accumulate", "ref_l2", "agree_usec")}   # nothing shows these

    def __init__(self, path, options, figures=False):
        """figures: true to keep the numbers of each row that figures need."""
        super().__init__(path, note)
        self.label = path
        self.options = options
        self.figures = figures
        self.has_rows = False   # before any filter
        self.begun = {}         # {run: text of its first event}
        self.ended = {}         # runs whose ends are in the log
        self.plans = {}         # {(run, rule, candidate): a rule as text}
        self.last_run = LastRun() if options.last else None
        self.pending = []       # events since the last row
        self.clear()

    def clear(self):
        """Forgets all rows, at the start of a new run under --last."""
        self.groups = (LineStore("step") if self.options.by == "step" else {})
        self.layers = {}
        # For rows of candidates; the keys end with a Candidate.
        self.candidate_groups = {}
        self.candidate_layers = {}
        self.layer_keys = {}
        self.first = self.last = None
        self.events = collections.Counter()
        self.runs = {}          # {id: number}
        self.run_rows = collections.Counter()
        self.cells = Cells(self.runs) if self.figures else None
        self.merged = self.merged_candidates = None

    @property
    def total(self):
        if self.merged is None:
            self.merged = merge(self.summary().values())
        return self.merged

    @property
    def candidates(self):
        """Returns the Stats of all candidates together."""
        if self.merged_candidates is None:
            self.merged_candidates = merge(self.candidate_summary().values())
        return self.merged_candidates

    @property
    def filled(self):
        return bool(self.run_rows)

    def cut_runs(self):
        """Returns the ids of runs in the table that have begun and not ended."""
        return [run for run in self.runs if run in self.begun and run not in self.ended]

    def summary(self):
        """Returns {key: Stats}, or the LineStore of a large table by steps."""
        if self.options.by == "layer":
            return self.layers
        if self.options.by == "step" and not self.groups.large:
            return self.groups.live
        return self.groups

    def candidate_summary(self):
        return (self.candidate_layers if self.options.by == "layer"
                else self.candidate_groups)

    def why_empty(self):
        return ("no row matches the filters" if self.has_rows
                else "a header and no rows")

    def read_event(self, line):
        """Returns the text of an event, or None for the start or end of a run and for
        the plan of a candidate."""
        text = line[1:].strip()
        ended = parse_end(text)
        if ended:
            self.ended[ended] = True
        candidate = parse_candidate(text)
        if candidate:
            self.plans[candidate["run"], candidate["rule"],
                       candidate.get("shadow")] = candidate.get("plan")
        if ended or candidate:
            return None
        run = re.match(r"run=(\S+) (.*)", text)
        if not run:
            return text
        self.begun[run[1]] = run[2]
        return None

    def take_events(self, texts):
        """Takes events after which no row has come yet. With --last and --since they
        belong to the next row."""
        self.pending += [text for text in texts if text is not None]
        if not self.last_run and self.options.since is None:
            self.events.update(self.pending)
            self.pending = []

    def end(self):
        self.events.update(self.pending)
        self.pending = []

    def read_rows(self, columns, events):
        """events: pairs of the number of the row after an event, and its text."""
        self.has_rows = True
        events = [(0, text) for text in self.pending] + [
            (row, text) for row, text in events if text is not None]
        self.pending = []
        kept, begin = range(columns.rows), None
        if self.last_run:
            kept, begin = self.last_run.select(columns)
        counted = []
        for row, text in events:
            place = bisect.bisect_left(kept, row)
            if place == len(kept):
                self.pending.append(text)
            elif ((begin is None or kept[place] >= begin)
                  and not self.is_old(columns["time"][kept[place]])):
                counted.append(text)
        if begin is not None:
            self.clear()
            kept = kept[bisect.bisect_left(kept, begin):]
        self.events.update(counted)
        kept = self.filter(columns, kept)
        if kept:
            self.add(columns.select(kept) if len(kept) < columns.rows else columns)

    def is_old(self, time):
        return self.options.since is not None and time < self.options.since

    def filter(self, columns, rows):
        """Returns the rows that the options select."""
        options = self.options
        if options.since is not None:
            times = columns["time"]
            rows = [row for row in rows if times[row] >= options.since]
        if options.comm is not None:
            comms = columns["comm"]
            rows = [row for row in rows if comms[row] == options.comm]
        if options.layers:
            layers = list(zip(columns["layer"], columns["name"]))
            wanted = {layer: options.layers(*layer) for layer in set(layers)}
            rows = [row for row in rows if wanted[layers[row]]]
        return rows

    def add(self, columns):
        times, runs = columns["time"], columns["run"]
        self.first = min([min(times)] + [self.first] * (self.first is not None))
        self.last = max([max(times)] + [self.last] * (self.last is not None))
        if "run" in columns.same:
            self.run_rows[runs[0]] += columns.rows
        else:
            self.run_rows.update(runs)
        numbers_of(self.run_rows, self.runs)
        self.merged = self.merged_candidates = None
        add_sent(columns)
        shadow = columns["shadow"]
        if columns.same.get("shadow") == 0:
            self.add_own(columns)
            return
        own = [row for row, number in enumerate(shadow) if number == 0]
        if own:
            self.add_own(columns.select(own))
        measured = [row for row, number in enumerate(shadow) if number != 0]
        self.add_candidates(columns.select(measured) if own else columns)

    def add_candidates(self, columns):
        """Adds rows about reductions that the program did not get."""
        layers = layer_keys(columns)
        candidates = candidates_of(columns, self.plans)
        by = self.options.by
        if by == "layer" or self.figures:
            self.gather(self.candidate_layers, "layer",
                        [(*key, c) for key, c in zip(layers, candidates)], layers,
                        columns)
        if by != "layer":
            self.gather(self.candidate_groups, by,
                        [(*key, c) for key, c in zip(KEYS[by](columns), candidates)],
                        layers, columns)

    def add_own(self, columns):
        """Adds rows of the reductions that the program got."""
        layers = layer_keys(columns)
        by = self.options.by
        if by == "layer" or self.figures:
            self.gather(self.layers, "layer", layers, layers, columns)
        if by != "layer":
            # One object for equal keys: many lines hold the same layers.
            layers = [self.layer_keys.setdefault(key, key) for key in layers]
            self.gather(self.groups, by, KEYS[by](columns), layers, columns)
        if self.figures:
            self.cells.add(columns, [self.layers[key].index for key in layers])

    def gather(self, groups, by, keys, layers, columns):
        """Adds each row to the line of the table with its key."""
        share = Share(columns, by)
        rows_of = rows_by(keys)
        for key, rows in rows_of.items():
            stats = groups.get(key)
            if stats is None:
                stats = groups[key] = Stats(by)
                stats.index = len(groups) - 1
            pick = picker(rows) if len(rows_of) > 1 else lambda values: values
            stats.add(share, len(rows), pick, pick(layers))


def set_labels(logs):
    """Gives each log a short name: the file's, and longer if two are equal."""
    for depth in range(1, 64):
        labels = []
        for log in logs:
            stem = os.path.splitext(os.path.normpath(log.path))[0]
            labels.append("/".join(stem.split(os.sep)[-depth:]))
        if len(set(labels)) == len(labels):
            break
    for index, (log, label) in enumerate(zip(logs, labels), 1):
        log.label = label if labels.count(label) == 1 else "%s#%d" % (label, index)
