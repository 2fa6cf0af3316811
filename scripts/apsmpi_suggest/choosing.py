# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the candidate of each layer, with the reasons."""

import collections
import math

from apsmpi_log.text import UserError

from .budget import allot
from .text import percent_above

ALIKE = 1e-9            # relative: bytes that differ by less are equal
TIMES_ALIKE = 0.05      # relative: predicted times that differ by less are equal

# A candidate on a layer: bytes of a call; the worst epoch's value under a bound, and
# that epoch; the part of the squared error of the whole gradient. Then its numbers in
# the lists of candidates; the predicted seconds of a call, or None; the sum and number
# of the ratios in dB.
Measured = collections.namedtuple(
    "Measured", "candidate bytes worst where part places seconds ratios ratio_rows")
# A rule: candidate (None: FP32), its layers with the Measured of each, or None, and the
# reasons against cheaper candidates.
Rule = collections.namedtuple("Rule", "candidate layers cheaper")


def by_place(layer):
    """Returns the key that sorts layers by index or, without one, by size."""
    return (layer.layer, layer.count, layer.name)


class Problem:
    """The candidates of each layer, measured."""

    def __init__(self, samples, bound=None, times=None):
        """samples: {layer: {candidate: {window: Sums}}}, see samples.py; times: a
        Times if time counts, or None."""
        self.times = times
        self.layers = sorted(samples, key=by_place)
        self.fp32 = {layer: mean(samples[layer], "fp32") for layer in self.layers}
        self.total = sum(self.fp32.values())
        whole = whole_gradient(samples)
        # The name of a window: an epoch, or a part of the run.
        self.period = ("epoch" if any(epoch >= 0 for _, epoch in whole)
                       else "part of the run")
        self.weighed = all(norm == norm and norm > 0 for norm in whole.values())
        self.measured = {layer: measure(samples[layer], bound, whole, (
            lambda candidate, layer=layer: times and times.of(candidate, layer.count)))
                         for layer in self.layers}

    def candidates(self):
        return sorted({m.candidate for some in self.measured.values() for m in some},
                      key=lambda candidate: candidate.ties())

    def of(self, layer, candidate):
        """Returns the measurement of a candidate on a layer, or None."""
        return next((m for m in self.measured[layer] if m.candidate == candidate),
                    None)

    def native(self, layer):
        """Returns the predicted seconds of native MPI, or None if not known."""
        return self.times and self.times.native.get(layer.count)

    def pays(self, layer, m):
        """True if it sends fewer bytes than FP32 and, if time counts, is faster."""
        if m.bytes >= self.fp32[layer]:
            return False
        return self.times is None or (m.seconds is not None
                                      and m.seconds < self.native(layer))

    def costs_less(self, m, taken):
        """Returns the cost of a candidate: seconds if time counts, otherwise bytes."""
        if self.times:
            return m.seconds is not None and m.seconds < taken.seconds
        return m.bytes < taken.bytes * (1 - ALIKE)

    def seconds(self, rules):
        """Returns the seconds of a step under the rules and in FP32, if time counts."""
        taken = [(m.seconds if m else self.native(layer), self.native(layer))
                 for rule in rules for layer, m in rule.layers]
        return tuple(math.nan if None in part else sum(part) for part in zip(*taken))


def mean(candidates, field):
    """Returns the mean of a number of bytes over all samples of a layer."""
    sums = [s for windows in candidates.values() for s in windows.values()]
    return sum(getattr(s, field) for s in sums) / sum(s.number for s in sums)


def whole_gradient(samples):
    """Returns {window: sum of the squares of all layers' sums in a step}, nan if the
    log lacks them."""
    whole = collections.defaultdict(float)
    for candidates in samples.values():
        norms = collections.defaultdict(list)
        for windows in candidates.values():
            for window, sums in windows.items():
                norms[window].append(sums.all / sums.number if sums.all else math.nan)
        for window, some in norms.items():
            known = [norm for norm in some if norm == norm]
            whole[window] += sum(known) / len(known) if known else math.nan
    return whole


def measure(candidates, bound, whole, seconds):
    """Returns [Measured] for the candidates that were sampled in every window."""
    everywhere = set().union(*candidates.values())
    found = []
    for candidate, windows in candidates.items():
        if set(windows) != everywhere:
            continue
        number = sum(sums.number for sums in windows.values())
        worst, where = max(((bound.value(sums) if bound else sums.l2(), window)
                            for window, sums in windows.items()),
                           key=lambda pair: pair[0])
        part = sum(sums.lost / sums.number / whole[window] if whole[window]
                   else math.nan for window, sums in windows.items())
        found.append(Measured(candidate,
                              sum(sums.wire for sums in windows.values()) / number,
                              worst, where, part / len(windows),
                              {sums.place for sums in windows.values()},
                              seconds(candidate),
                              sum(sums.ratios for sums in windows.values()),
                              sum(sums.ratio_rows for sums in windows.values())))
    return sorted(found, key=lambda m: (m.bytes, m.candidate.ties()))


# --- a bound that each layer keeps


def acceptable(problem, bound):
    """Returns {layer: the cheapest Measured within the bound}, without layers for which
    FP32 is as cheap. If time counts, the fastest are the cheapest, and of these the
    ones of fewest bytes."""
    found = {}
    for layer in problem.layers:
        within = [m for m in problem.measured[layer]
                  if m.worst <= bound.allowed and problem.pays(layer, m)]
        if problem.times:
            least = min((m.seconds for m in within), default=0)
            within = [m for m in within if m.seconds <= least * (1 + TIMES_ALIKE)]
        least = min((m.bytes for m in within), default=0)
        found[layer] = [m for m in within if m.bytes <= least * (1 + ALIKE)]
    return found


def merge_runs(layers, choices):
    """Joins neighbours with a common choice, in as few runs as possible. choices:
    {layer: set}; the empty set means FP32. Returns pairs of layers and their common
    choices."""
    runs = []
    for layer in layers:
        if runs and runs[-1][0]:
            common = runs[-1][1] & choices[layer]
            if common or not (runs[-1][1] or choices[layer]):
                runs[-1] = (runs[-1][0] + [layer], common)
                continue
        runs.append(([layer], choices[layer]))
    return runs


def choose_bound(problem, bound):
    """Returns [Rule]: for each layer the candidate of fewest bytes within the bound."""
    within = acceptable(problem, bound)
    sets = {layer: {m.candidate for m in some} for layer, some in within.items()}
    chosen = {}
    for layers, common in merge_runs(problem.layers, sets):
        best = min(common, default=None, key=lambda candidate: (
            max(problem.of(layer, candidate).worst for layer in layers),
            candidate.ties()))
        chosen.update(dict.fromkeys(layers, best))
    return rules_of(problem, chosen)


def rules_of(problem, chosen):
    """Returns rules in the layers' order. Layers with one choice share a rule."""
    groups = {}
    for layer in problem.layers:
        groups.setdefault(chosen[layer], []).append(layer)
    rules = []
    for candidate, layers in groups.items():
        measured = [(layer, candidate and problem.of(layer, candidate))
                    for layer in layers]
        cheaper = collections.defaultdict(list)
        for layer, taken in measured:
            for m in problem.measured[layer]:
                if taken and problem.costs_less(m, taken):
                    cheaper[m.candidate].append((layer, m))
        rules.append(Rule(candidate, measured, dict(cheaper)))
    return rules


# --- a budget of bytes


def choose_budget(problem, budget):
    """Returns ([Rule], Allotment) with the least squared error within the bytes."""
    if not problem.weighed:
        raise UserError("the log does not have the column ref_l2, the norms of the "
                        "sums, which a target in bytes needs: layers cannot be "
                        "compared without it")
    lists, options = [], []
    for layer in problem.layers:
        measured = [m for m in problem.measured[layer]
                    if math.isfinite(m.part) and problem.pays(layer, m)]
        options.append([*(m.candidate for m in measured), None])
        lists.append([*((m.bytes, m.part) for m in measured),
                      (problem.fp32[layer], 0.0)])
    most = budget.part * problem.total
    found = allot(lists, most)
    if found is None:
        least = percent_above(sum(min(cost for cost, _ in some) for some in lists)
                              / problem.total, 2)
        raise UserError(
            "%s: the fewest bytes that the candidates allow are %.2f %%%s Ask for "
            "--target bytes=%.2f%%, or measure a candidate of fewer bits, too" % (
                budget, least, ", where none may be slower than native MPI."
                if problem.times else ". What exceeds the bits of the values are "
                "headers and scales.", least))
    chosen = {layer: some[place] for layer, some, place in zip(
        problem.layers, options, found.choice)}
    return rules_of(problem, chosen), found


# --- to compare with


def totals(problem, rules):
    """Returns (bytes of a step, part of the squared error) under the rules."""
    sent = sum(m.bytes if m else problem.fp32[layer]
               for rule in rules for layer, m in rule.layers)
    return sent, sum(m.part for rule in rules for _, m in rule.layers if m)


def mean_ratio(rules):
    """Returns the mean of the rows' ratios in dB, like apsmpi-report; nan without
    rows."""
    some = [m for rule in rules for _, m in rule.layers if m and m.ratio_rows]
    return (sum(m.ratios for m in some) / sum(m.ratio_rows for m in some) if some
            else math.nan)


def best_single(problem, good):
    """Returns (candidate, bytes, part) for the best candidate in all layers, or None.
    good(bytes, part, [Measured]) returns the number to minimize, or None."""
    best = None
    for candidate in problem.candidates():
        some = [problem.of(layer, candidate) for layer in problem.layers]
        if not all(some):
            continue
        sent, part = sum(m.bytes for m in some), sum(m.part for m in some)
        value = good(sent, part, some)
        if value is not None and (best is None or value < best[0]):
            best = (value, (candidate, sent, part))
    return best and best[1]
