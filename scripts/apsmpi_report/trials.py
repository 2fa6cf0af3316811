# SPDX-License-Identifier: BSD-3-Clause
"""The trials of `reduce: auto` in the events of a log. A log has no other times of
native reductions."""

import collections
import re

from apsmpi_log.text import NAN


EVENT = re.compile(r"(?:(.*): )?(?:rule [^:]*: )?auto: (?:(\w+), )?"
                   r"(\d+) to (\d+) elements: "
                   r"(\S+) \(([^)]*)\)(?:; .*)?")  # why it is native, perhaps
Trial = collections.namedtuple("Trial", "comm call low high chosen times")


def trials_of(log):
    """Returns the trials in the events of a log. times: {reduction: microseconds}."""
    trials = []
    for text in log.events:
        found = EVENT.fullmatch(text)
        if not found:
            continue
        comm, call, low, high, chosen, times = found.groups()
        comm = re.sub(r": rule .*$", "", comm or "")
        times = {name: float(usec) for name, usec in re.findall(
            r"([a-z]+) ([\d.]+) us", times)}
        if times.get("native") and chosen in times:
            trials.append(Trial(comm, call or "", int(low), int(high), chosen, times))
    return trials


def time_saved(log, trials):
    """Returns the part of the native time that the chosen reductions save, by their
    trials, in the calls with rows in the log. Returns nan without a trial of these
    calls, and for several runs, since an event does not name its run."""
    if len(log.runs) > 1:
        return NAN
    native = ours = 0.0
    for (comm, _, count, call), stats in log.layers.items():
        for trial in trials:
            if (trial.comm == comm and trial.low <= count <= trial.high
                    and trial.call == call):
                native += stats.rows * trial.times["native"]
                ours += stats.rows * trial.times[trial.chosen]
                break
    return 1 - ours / native if native else NAN
