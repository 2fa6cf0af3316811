# SPDX-License-Identifier: BSD-3-Clause
"""Checks that apsmpi_suggest.budget finds the best choice: against all choices of
small problems, and against a programme over whole bytes on large ones. Prints
lines "ok - NAME" and "not ok - NAME"."""

import itertools
import random
import sys
import time

from apsmpi_suggest.budget import allot

KINDS = {   # kind of small problems: an option's cost and error
    "whole numbers": lambda r: (r.randint(1, 20), r.randint(0, 20)),
    "real numbers": lambda r: (20 * r.random(), 20 * r.random()),
    "all equally steep": lambda r: (lambda c: (c, 40 - c))(r.randint(1, 20)),
    "few numbers": lambda r: (r.randint(1, 3), r.randint(0, 3)),
}


def tell(passed, name):
    print("%s - %s" % ("ok" if passed else "not ok", name))
    return passed


def sums(lists, choice):
    chosen = [some[place] for some, place in zip(lists, choice)]
    return sum(cost for cost, _ in chosen), sum(error for _, error in chosen)


def all_choices(lists, budget):
    """Returns the least error, or None."""
    return min((sum(error for _, error in chosen)
                for chosen in itertools.product(*lists)
                if sum(cost for cost, _ in chosen) <= budget), default=None)


def by_bytes(lists, budget):
    """Returns the least error, by a table over whole costs from 0 to the budget."""
    least = [0.0] + [float("inf")] * budget
    for some in lists:
        after = [float("inf")] * (budget + 1)
        for cost, error in some:
            for used in range(budget + 1 - cost):
                value = least[used] + error
                if value < after[used + cost]:
                    after[used + cost] = value
        least = after
    return min(least)


def agrees(lists, budget, wanted):
    found = allot(lists, budget)
    if wanted is None or found is None:
        return wanted is None and found is None
    cost, error = sums(lists, found.choice)
    return (cost <= budget * (1 + 1e-12) and abs(error - wanted) <= 1e-9 * (1 + wanted)
            and found.gap == 0 and abs(found.error - error) <= 1e-9 * (1 + error)
            and abs(found.cost - cost) <= 1e-9 * cost)


def small(kind, number):
    """Returns the number of small problems that are solved wrongly."""
    draw, wrong = random.Random(kind), 0
    for _ in range(number):
        lists = [[KINDS[kind](draw) for _ in range(draw.randint(1, 4))]
                 for _ in range(draw.randint(1, 6))]
        budget = draw.uniform(1, 20 * len(lists))
        wrong += not agrees(lists, budget, all_choices(lists, budget))
    return wrong


def network(draw, layers, unit):
    """Returns layers like those of a network, with formats of 3 to 16 bits and FP32."""
    lists = []
    for _ in range(layers):
        count = unit * draw.choice((1, 1, 2, 3, 4, 8, 16, 32))
        norm = count * 10 ** draw.uniform(-3, 0)
        lists.append([(count * bits, norm * draw.uniform(.5, 2) * 4.0 ** -bits)
                      for bits in (3, 4, 5, 6, 8, 9, 16)] + [(32 * count, 0.0)])
    return lists


def main():
    good = True
    for kind in KINDS:
        wrong = small(kind, 500)
        good &= tell(not wrong, "500 small problems, %s: %d wrong" % (kind, wrong))
    for seed in range(3):
        lists = network(random.Random(seed), 40, 1)
        for part in (.12, .25, .5):
            budget = int(part * sum(some[-1][0] for some in lists))
            good &= tell(agrees(lists, budget, by_bytes(lists, budget)),
                         "40 layers, %g of the bytes (seed %d)" % (part, seed))
    lists = network(random.Random(4), 400, 1009)
    begin = time.process_time()
    found = [allot(lists, part * sum(some[-1][0] for some in lists))
             for part in (.12, .2, .25, .4)]
    taken = time.process_time() - begin
    good &= tell(all(one.gap == 0 for one in found),
                 "400 layers: the choices are proved to be the best (%.1f s)" % taken)
    good &= tell(allot([[(2, 1)], [(3, 1)]], 4.9) is None, "a budget that is too small")
    found = allot([[(2, 1), (1, 1)]], 1e9)
    good &= tell(found.choice == [1] and found.gap == 0, "more than is needed")
    return not good


if __name__ == "__main__":
    sys.exit(main())
