# SPDX-License-Identifier: BSD-3-Clause
"""Chooses an option for each layer under a budget: one of each list, such that the
costs add up to at most the budget and the errors to as little as can be.

This is the multiple-choice knapsack problem, and it is solved exactly, without a grid
of costs: a dynamic programme over the layers (as L-GreCo has one, Alimohammadi et al.
2023) keeps the pairs of cost and error that no other pair betters. It drops pairs
that cannot lead to a better choice than the best known one: a relaxation, in which a
layer may have a mixture of two options, the steps of its lower convex hull, bounds
the error that the remaining layers can reach."""

import bisect
import collections
import itertools

WIDTHS = (200, 5000)    # states at a time; few find a good choice soon
TRIED = 3               # number of states of a layer that are completed
SMALL = 1e-12           # relative: errors that differ by less are equal

# choice: the place in each list; gap: the error minus a lower bound of any choice's
# error, 0 if the choice is proved to be the best.
Allotment = collections.namedtuple("Allotment", "choice cost error gap")
Option = collections.namedtuple("Option", "cost error place")
State = collections.namedtuple("State", "cost error option before")


def undominated(options):
    """Returns the options that no other option betters, by cost. options: pairs (cost,
    error)."""
    kept = []
    for place, (cost, error) in sorted(enumerate(options), key=lambda o: o[1]):
        if not kept or error < kept[-1].error:
            kept.append(Option(cost, error, place))
    return kept


def convex_hull(options):
    """Returns the undominated options on their lower convex hull."""
    hull = []
    for option in options:
        while len(hull) > 1 and (
                (hull[-1].error - option.error) * (hull[-1].cost - hull[-2].cost)
                >= (hull[-2].error - hull[-1].error) * (option.cost - hull[-1].cost)):
            hull.pop()
        hull.append(option)
    return hull


def total(options):
    return sum(o.cost for o in options), sum(o.error for o in options)


class Layers:
    """The remaining layers, and the least error that they can reach."""

    def __init__(self, lists):
        self.lists = lists
        hulls = [convex_hull(options) for options in lists]
        self.cheapest = [hull[0] for hull in hulls]
        self.cost, self.error = total(self.cheapest)
        self.steps = sorted(
            ((after.cost - before.cost) / (before.error - after.error), layer,
             before, after)
            for layer, hull in enumerate(hulls)
            for before, after in zip(hull, hull[1:]))
        self.costs = list(itertools.accumulate(
            (after.cost - before.cost for _, _, before, after in self.steps),
            initial=self.cost))
        self.errors = list(itertools.accumulate(
            (after.error - before.error for _, _, before, after in self.steps),
            initial=self.error))

    def bound(self, budget):
        """Returns the least error with mixtures. The budget is at least self.cost."""
        place = bisect.bisect_right(self.costs, budget) - 1
        if place == len(self.steps):
            return self.errors[-1]
        return self.errors[place] - (budget - self.costs[place]) / self.steps[place][0]

    def complete(self, budget):
        """Returns options within the budget, chosen step by step and then by the
        largest gain."""
        chosen, left, stopped = list(self.cheapest), budget - self.cost, set()
        for _, layer, _, after in self.steps:
            cost = after.cost - chosen[layer].cost
            if layer in stopped or cost > left:
                stopped.add(layer)
                continue
            left -= cost
            chosen[layer] = after
        while stopped:
            gain, layer, option = max(
                (chosen[layer].error - option.error, layer, option)
                for layer in stopped for option in self.lists[layer]
                if option.cost - chosen[layer].cost <= left)
            if gain <= 0:
                break
            left -= option.cost - chosen[layer].cost
            chosen[layer] = option
        return chosen


class Programme:
    """The dynamic programme. `order`: layers with the largest steps come first, so
    that later layers can use the rest of the budget."""

    def __init__(self, lists, budget):
        self.order = sorted(range(len(lists)), reverse=True,
                            key=lambda i: lists[i][-1].cost - lists[i][0].cost)
        self.lists = [lists[i] for i in self.order]
        self.budget = budget
        self.chosen = Layers(self.lists).complete(budget)
        self.least = total(self.chosen)[1]
        self.dropped = self.least   # the least bound of what was not looked at

    def extend(self, states, options, behind):
        """Yields the states after one more layer, as pairs (bound, state)."""
        found = sorted(
            (state.cost + option.cost, state.error + option.error, option, number)
            for number, state in enumerate(states) for option in options
            if state.cost + option.cost + behind.cost <= self.budget)
        kept, least = [], float("inf")
        for cost, error, option, number in found:
            if error < least:
                least = error
                kept.append((error + behind.bound(self.budget - cost),
                             State(cost, error, option, number)))
        return kept

    def improve(self, columns, states, behind):
        """Completes the most promising states."""
        for _, state in states[:TRIED]:
            rest = behind.complete(self.budget - state.cost)
            if state.error + total(rest)[1] < self.least * (1 - SMALL):
                self.chosen = [*self.trace(columns, state), *rest]
                self.least = total(self.chosen)[1]

    @staticmethod
    def trace(columns, state):
        """Returns the options that led to a state after these columns of states."""
        chosen = [state.option]
        for column in reversed(columns[1:]):
            state = column[state.before]
            chosen.append(state.option)
        return reversed(chosen)

    def run(self, width):
        """Runs the programme. width: the largest number of states in a column."""
        columns, self.dropped = [[State(0.0, 0.0, None, 0)]], float("inf")
        for place, options in enumerate(self.lists):
            behind = Layers(self.lists[place + 1:])
            states = sorted(self.extend(columns[-1], options, behind),
                            key=lambda pair: pair[0])
            self.improve(columns, states, behind)
            limit = self.least * (1 - SMALL)
            states = list(itertools.takewhile(lambda s: s[0] < limit, states))
            if len(states) > width:
                self.dropped = min(self.dropped, states[width][0])
                states = states[:width]
            columns.append([state for _, state in states])
        self.dropped = min(self.dropped, self.least)

    def gap(self):
        """Returns the largest possible difference to the error of an untried choice."""
        return max(0.0, self.least * (1 - SMALL) - self.dropped)

    def places(self):
        """Returns the places of the chosen options, in the layers' own order."""
        places = dict(zip(self.order, (option.place for option in self.chosen)))
        return [places[layer] for layer in range(len(places))]


def allot(lists, budget):
    """Returns an Allotment, or None if the cheapest options exceed the budget. lists:
    the options of each layer, pairs of cost and error, both finite."""
    lists = [undominated(options) for options in lists]
    if sum(options[0].cost for options in lists) > budget:
        return None
    programme = Programme(lists, budget)
    for width in WIDTHS:
        programme.run(width)
        if not programme.gap():
            break
    cost, error = total(programme.chosen)
    return Allotment(programme.places(), cost, error, programme.gap())
