# SPDX-License-Identifier: BSD-3-Clause
"""Checks which orderings of compressors the seeds support.

A claim compares two rows seed by seed. It is asserted only where all of at least
five seeds agree: if the two rows were equal, one of two outcomes would occur five
times in a row with probability 1/32 (a one-sided sign test), for each claim alone.
Runs on one machine are reproducible, so a claim that held continues to hold; the
script prints the other orderings with the number of seeds that agree."""

from compressor_rows import PAIRS, pair_name
from trained import mean

SEEDS = 5       # number of seeds for an assertion


class Claim:
    """`agree` of `seeds` seeds agree; `asserted`: all must agree."""

    def __init__(self, text, agree, seeds, asserted):
        self.text, self.agree, self.seeds = text, agree, seeds
        self.asserted = asserted and seeds >= SEEDS

    def holds(self):
        return self.agree == self.seeds


class Network:
    """The runs with one width of the hidden layers."""

    def __init__(self, runs):
        self.runs = {}
        for run in runs:
            self.runs.setdefault(run["row"], {})[run["seed"]] = run

    def has(self, *rows):
        return all(row in self.runs for row in rows)

    def pairs(self, a, b, key):
        """Yields the values of both rows for each seed that has both."""
        for seed, run in self.runs[a].items():
            if run[key] is not None and self.runs[b][seed][key] is not None:
                yield run[key], self.runs[b][seed][key]

    def below(self, a, b, key, asserted=True, margin=0.0):
        """Claims that a's value is less than b's, by more than the margin."""
        pairs = list(self.pairs(a, b, key))
        text = "%s: %s of %s is below that of %s" % (
            a, key, "all layers" if key == "eq5" else "training", b)
        if key == "accuracy":
            text = "%s: accuracy is below that of %s" % (a, b)
        if margin:
            text += " by more than %g" % margin
        return Claim(text, sum(x < y - margin for x, y in pairs), len(pairs),
                     asserted)

    def near(self, a, b, points, asserted=True):
        """Claims that a's mean accuracy is at most `points` below b's."""
        pairs = list(self.pairs(a, b, "accuracy"))
        less = mean(y - x for x, y in pairs)
        return Claim("%s: mean accuracy at most %g points below %s: %.2f" % (
            a, points, b, less), len(pairs) if less <= points else 0, len(pairs),
            asserted)


def orderings(net):
    """Yields (method of Network, its arguments) of all claims that papers suggest."""
    for rank in (1, 2, 4):
        yield net.near, "fp32, r%d" % rank, "fp32", 0.5, rank > 1
    yield net.below, "fp32, r2", "fp32, r1", "loss"
    yield net.below, "fp32, r4", "fp32, r2", "loss"
    for rank in (1, 2):
        row = "fp32, r%d" % rank
        yield net.below, row, row + ", no feedback", "loss"
        yield net.below, row + ", no feedback", row, "accuracy"
        yield net.below, row, row + ", cold", "loss"
        yield net.below, row, row + ", cold, no feedback", "loss"
    for rank in (1, 2):
        for more, less in ((0.2, 0.1), (0.1, 0.01)):
            yield (net.below, pair_name(more, rank, "off"),
                   pair_name(less, rank, "off"), "loss")
        yield (net.below, pair_name(0.2, rank, "off"), "fp32", "accuracy", True)
    for density in (0.2, 0.1):
        yield (net.below, pair_name(density, 2, "off"), pair_name(density, 1, "off"),
               "loss")
    for density, rank in PAIRS:
        yield (net.below, pair_name(density, rank, "on"),
               pair_name(density, rank, "off"), "loss")
    for fine, coarse in (("bfp7/64", "bfp5/64"), ("bfp5/64", "bfp4/64"),
                         ("bfp4/64", "bfp3/64"), ("bfp7/64", "bfp7/576")):
        yield net.below, fine, coarse, "eq5"
    yield net.near, "bfp7/64", "fp32", 0.5
    yield net.below, "mstopk 0.01", "mstopk 0.01, no feedback", "loss"
    yield net.near, "mstopk 0.01", "topk 0.01", 0.5
    yield net.below, "ternary, no clipping", "ternary", "accuracy", False
    yield net.near, "ternary", "fp32", 0.5
    yield net.near, "qsgd127/512 (8 bits)", "fp32", 0.5
    yield net.near, "qsgd7/512 (4 bits)", "fp32", 0.5
    yield net.below, "qsgd1/128 (2 bits)", "fp32", "accuracy", False
    yield net.below, "sign/64", "fp32", "accuracy"
    yield net.below, "sign/64, feedback", "sign/64", "accuracy"
    yield (net.below, "sign/64, feedback, rate 0.02", "sign/64, rate 0.02", "loss")


def claims(all_runs):
    """Yields the claims of each network; those of FP32's width of 64 are asserted."""
    for hidden in sorted({run["hidden"] for run in all_runs}):
        net = Network(run for run in all_runs if run["hidden"] == hidden)
        for method, a, b, *more in orderings(net):
            if net.has(a, b):
                claim = method(a, b, *more)
                claim.text = "hidden %d, %s" % (hidden, claim.text)
                yield claim


def say(some):
    """Prints the claims. True if all asserted ones hold."""
    good = True
    for claim in some:
        if claim.asserted:
            print("%s %s" % ("holds:" if claim.holds() else "FAILS:", claim.text))
            good &= claim.holds()
        else:
            print("reported: %s (%d of %d seeds)"
                  % (claim.text, claim.agree, claim.seeds))
    return good
