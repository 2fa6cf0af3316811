# SPDX-License-Identifier: BSD-3-Clause
"""The runs of jobs in a log: which rows belong to the last one, and what the log
says of each at its start."""

import re

# Calls other than all-reduces have no layers; the column `reduce` names them.
CALLS = ("reduce_scatter", "allgather", "reduce", "bcast")


def calls_of(columns):
    """Returns the call of each row, or "" for an all-reduce."""
    if columns.same.get("reduce", "") not in CALLS and "reduce" in columns.same:
        return [""] * columns.rows
    return [reduce if reduce in CALLS else "" for reduce in columns["reduce"]]


def layer_keys(columns):
    """For each row what tells its layer from others."""
    return list(zip(columns["comm"], columns["layer"], columns["count"],
                    calls_of(columns)))


class LastRun:
    """Which rows belong to the run that began last."""

    def __init__(self):
        self.runs = {}      # runs that have begun, in order
        self.steps = {}     # last step by communicator, or of what is numbered
                            # by itself; where a log has no column `run`

    def select(self, columns):
        """(rows of the run that was last when they came; the row that the last of
        several runs begins with, or None)."""
        run = columns.same.get("run")
        if run and self.runs and run == next(reversed(self.runs)):
            return range(columns.rows), None
        kept, begin = [], None
        for row, (run, step, key) in enumerate(zip(
                columns["run"], columns["step"], layer_keys(columns))):
            if self.begins(run, step, key):
                begin = row
            elif run != next(reversed(self.runs)):
                continue
            kept.append(row)
        return kept, begin

    def begins(self, run, step, key):
        """True if this row is the first row of a run."""
        new = run not in self.runs
        if not run:
            comm, layer = key[:2]
            place = comm if layer >= 0 else key
            new = new or step < self.steps.get(place, step)
            if new:
                self.runs.pop(run, None)
                self.steps.clear()
            self.steps[place] = step
        self.runs[run] = True
        return new


def parse_begin(text):
    """Returns the first event of a run as {key: value}; see apsmpi-log(5)."""
    return {key: re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] == '"' else value
            for key, value in re.findall(
                r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]*)', text)}


def parse_candidate(text):
    """Returns the event of a candidate as {key: value}, or None for another event."""
    return parse_begin(text) if re.match(r"candidate run=\S+ rule=", text) else None


def parse_end(text):
    """The id of the run that ends with this event, or None."""
    found = re.fullmatch(r"end run=(\S+)", text)
    return found and found[1]
