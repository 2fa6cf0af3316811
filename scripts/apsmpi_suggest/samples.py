# SPDX-License-Identifier: BSD-3-Clause
"""The rows of candidates: the bytes of each candidate in each layer, and its errors in
each epoch."""

import array
import collections
import itertools
import math

from apsmpi_log.columns import COLUMNS, picker
from apsmpi_log.lines import LogFile
from apsmpi_log.runs import calls_of, parse_begin, parse_candidate, parse_end
from apsmpi_log.text import UserError, plural

from .candidates import FIELDS, Candidate, fixed_factor

WINDOWS = 8             # parts of the steps, if no epochs are known
SAMPLES = 10            # samples of a layer in the log of the policy's own run
RUNS_NAMED = 5          # runs in a message, the last ones
Layer = collections.namedtuple("Layer", "layer count name")
VALUES = ("err_mean", "err_l2", "wire_bytes", "fp32_bytes", "ref_l2", "overflow")
READ = ("time", "comm", "step", "layer", "count", "err_mean", "epoch", "name",
        "err_l2", "overflow", "wire_bytes", "fp32_bytes", "run", "rule",
        "ref_l2", "scale_value") + FIELDS


class Sums:
    """Sums over the samples of a layer under one candidate in one epoch."""

    __slots__ = ("place", "number", "errors", "squares", "wire", "fp32", "lost", "all",
                 "overflow", "ratios", "ratio_rows")

    def __init__(self, place):
        """place: the number of the candidate in the list of its rule."""
        self.place = place
        self.number = self.overflow = 0
        self.errors = self.squares = self.wire = self.fp32 = 0.0
        self.lost = self.all = 0.0      # squares of the error, and of the sums
        self.ratios, self.ratio_rows = 0.0, 0   # in dB, of rows with an error

    def add(self, err, l2, wire, fp32, norm, overflow):
        self.number += 1
        self.overflow += overflow
        # A vector of zeros has no error.
        self.errors += err if err == err else 0.0
        square = l2 * l2 if l2 == l2 else 0.0
        self.squares += square
        if square:
            self.ratios -= 10 * math.log10(square)
            self.ratio_rows += 1
        self.wire += wire
        self.fp32 += fp32
        if norm == norm:
            self.all += norm * norm
            self.lost += square * norm * norm

    def l2(self):
        """Returns the root mean square of the relative errors."""
        return math.sqrt(self.squares / self.number)

    def err(self):
        return self.errors / self.number


class Samples(LogFile):
    """The candidates' rows of one run in one log."""

    columns = {name: COLUMNS[name] for name in READ}

    def __init__(self, path, run, comm, say):
        """run: an id, "last", or None for the only run of a log."""
        super().__init__(path, say)
        self.wanted, self.comm = run, comm
        self.rows = 0                   # number of rows, the program's included
        self.others = 0                 # candidates' rows for other calls
        self.begun = {}                 # {run: text of its first event}
        self.ended = set()              # runs whose ends are in the log
        self.plans = {}                 # {(run, rule, candidate): a rule as text}
        self.desyncs = collections.Counter()    # events by the latest run
        self.runs, self.comms = {}, {}  # as ordered sets
        self.kinds, self.layers = {}, {}        # {kind or layer: number}
        # One entry a row: numbers of run, layer and kind, and values.
        self.run, self.layer, self.kind = (array.array("l") for _ in range(3))
        self.epoch, self.step = array.array("q"), array.array("q")
        self.values = [array.array("d") for _ in VALUES]

    def read_event(self, line):
        text = line[1:].strip()
        candidate, ended = parse_candidate(text), parse_end(text)
        if text.startswith("run="):
            said = parse_begin(text)
            self.begun[said["run"]] = said
        elif candidate:
            self.plans[candidate["run"], candidate["rule"],
                       candidate.get("shadow")] = candidate.get("plan")
        elif ended:
            self.ended.add(ended)
        elif ": order any: " in text and self.begun:
            self.begun[next(reversed(self.begun))]["order"] = "any"
        elif ": desync" in text:
            self.desyncs[next(reversed(self.begun), None)] += 1
        return None

    def take_events(self, events):
        """Does nothing: events have been read at their places."""

    def read_rows(self, columns, events):
        self.rows += columns.rows
        if columns.same.get("shadow") == 0:
            self.runs.update(dict.fromkeys(columns["run"]))
            return
        calls = calls_of(columns)
        factors = map(fixed_factor, columns["scale"], columns["scale_value"])
        kinds = zip(*(columns[name] for name in FIELDS), factors, columns["run"],
                    columns["rule"])
        layers = zip(columns["layer"], columns["count"], columns["name"])
        kept = []
        for row, (kind, layer, run, comm, call) in enumerate(zip(
                kinds, layers, columns["run"], columns["comm"], calls)):
            number = self.runs.setdefault(run, len(self.runs))
            if kind[0] == 0 or (self.comm is not None and comm != self.comm):
                continue
            if call:
                self.others += 1
                continue
            self.comms.setdefault(comm, {}).setdefault(layer[0], layer)
            self.run.append(number)
            self.layer.append(self.layers.setdefault(layer, len(self.layers)))
            self.kind.append(self.kinds.setdefault(kind, len(self.kinds)))
            kept.append(row)
        pick = picker(kept)
        self.epoch.extend(pick(columns["epoch"]))
        self.step.extend(pick(columns["step"]))
        for values, name in zip(self.values, VALUES):
            values.extend(pick(columns[name]))

    # --- which rows count

    def chosen_run(self):
        """Returns the id of the selected run, which has candidates."""
        runs = list(self.runs)
        shadowed = [runs[i] for i in sorted(set(self.run))]
        if self.wanted == "last":
            return shadowed[-1]
        these = "\n".join(
            "  %s  %s" % (run, self.begun.get(run, {}).get("policy", ""))
            for run in shadowed[-RUNS_NAMED:])
        if self.wanted is not None:
            if self.wanted not in shadowed:
                raise UserError("%s: %s '%s'; those with candidates are:\n%s" % (
                    self.path, "no candidates in the run" if self.wanted in runs
                    else "has no run", self.wanted, these))
            return self.wanted
        if len(shadowed) > 1:
            raise UserError(
                "%s: candidates of %d runs; choose one by --run ID or --run last:\n%s"
                % (self.path, len(shadowed), these))
        return shadowed[0]

    def check(self):
        """Raises UserError: the log has no candidates."""
        if not self.rows:
            raise UserError("%s: a header and no rows" % self.path)
        if not self.run:
            if self.comm is not None:
                raise UserError("%s: no candidates on the communicator '%s'"
                                % (self.path, self.comm))
            if self.others:
                raise UserError("%s: all candidates are for calls other than "
                                "all-reduces" % self.path)
            raise UserError(
                "%s: no rows of candidates: all %s about reductions that the program "
                "got. Run the program once with candidates, which leave its results "
                "as they are: apsmpi-run --shadow 'e4m3 e5m2' ..., or `shadow: [e4m3, "
                "e5m2]` in its policy; see apsmpi-policy(5)"
                % (self.path, plural(self.rows, "row") + (
                    " is" if self.rows == 1 else " are")))
        places = collections.defaultdict(dict)
        for comm, layers in self.comms.items():
            for number, layer in layers.items():
                if number >= 0:
                    places[number].setdefault(layer, comm)
        for number, found in sorted(places.items()):
            if len(found) > 1:
                (one, first), (two, second) = itertools.islice(found.items(), 2)
                raise UserError(
                    "%s: layer %d has %s on the communicator '%s', and %d on '%s': "
                    "choose one by --comm" % (self.path, number, plural(
                        one[1], "element"), first, two[1], second))

    def gather(self, into):
        """Adds the rows to {layer: {candidate: {(path, epoch): Sums}}}. Returns the
        first event of the run."""
        self.check()
        run = self.chosen_run()
        number = self.runs[run]
        candidates = self.candidates()
        layers = [Layer(*layer) for layer in self.layers]
        kept = [row for row, its in enumerate(self.run) if its == number]
        window, kinds = self.windows(kept), list(self.kinds)
        found = {}
        for row in kept:
            place = (self.layer[row], self.kind[row], window(row))
            if place not in found:
                found[place] = Sums(kinds[self.kind[row]][0])
            found[place].add(*(values[row] for values in self.values))
        for (layer, kind, epoch), sums in found.items():
            into.setdefault(layers[layer], {}).setdefault(candidates[kind], {})[
                self.path, epoch] = sums
        self.say_broken(run)
        return {**self.begun.get(run, {"run": run}),
                "epoch_steps": self.epoch_steps(kept),
                "run_steps": self.run_steps(kept)}

    def say_broken(self, run):
        """Yields notes on an incomplete run."""
        if run in self.begun and run not in self.ended:
            self.say("%s: the log does not say that run %s ended: the job still runs, "
                     "or it was cut and later rows are missing" % (self.path, run))
        if self.desyncs[run]:
            self.say("%s: %s: where the step was lost, calls passed through and have "
                     "no rows, and layers of equal size may stand for one another; "
                     "check the layer table, `steps` and `order` of the policy"
                     % (self.path, plural(self.desyncs[run], "desync event")))

    def run_steps(self, rows):
        """Returns the steps of the run, or the calls of a size: the fewest of a layer
        with enough of them for the wanted samples, or None."""
        last = {}
        for row in rows:
            layer = self.layer[row]
            last[layer] = max(last.get(layer, 0), self.step[row] + 1)
        return min((steps for steps in last.values() if steps >= SAMPLES), default=None)

    def epoch_steps(self, rows):
        """Estimates the steps of an epoch, or the calls of a size, by the last row of
        each layer in the last epoch. Returns None for a log of one epoch."""
        last = {}
        for row in rows:
            place = last.setdefault(self.layer[row], row)
            if self.step[place] < self.step[row]:
                last[self.layer[row]] = row
        return min(((self.step[row] + 1) // (self.epoch[row] + 1)
                    for row in last.values() if self.epoch[row] > 0), default=None)

    def candidates(self):
        """Returns the Candidate of each kind of rows. Its number in the rule's list is
        used if nothing else tells two candidates of a list apart."""
        lists = collections.Counter((kind[1:]) for kind in self.kinds)
        found = []
        for kind in self.kinds:
            number, fields, run, rule = kind[0], kind[1:-2], kind[-2], kind[-1]
            plan = self.plans.get((run, rule, "%d" % number))
            alone = plan is not None or lists[kind[1:]] == 1
            found.append(Candidate(0 if alone else number, *fields, plan))
        return found

    def windows(self, rows):
        """A function from a row to its epoch, or, where the log has one epoch alone,
        to its part of the steps. The parts have equal numbers of steps, not of
        samples: samples that follow each other closely belong to one part. A part
        without samples does not count."""
        if len({self.epoch[row] for row in rows}) > 1:
            return lambda row: self.epoch[row]
        steps = sorted({self.step[row] for row in rows})
        length = steps[-1] + 1 - steps[0]
        part = {step: (step - steps[0]) * WINDOWS // length for step in steps}
        first = {}
        for step in steps:
            first.setdefault(part[step], step)
        return lambda row: -1 - first[part[self.step[row]]]
