# SPDX-License-Identifier: BSD-3-Clause
"""Claims of the papers that the miniatures show, as pairs (text, True if it holds)."""

from intervals import decimals, difference, last_scores, score_of
from rows import FP32


class Scores:
    """Compares rows of a task, seed by seed. `sign` is -1 where less is better."""

    def __init__(self, lines, sign=1):
        self.lines, self.sign = lines, sign

    def better(self, row, other):
        """The row is better with every seed, and the interval excludes 0."""
        own, base = last_scores(self.lines, row), last_scores(self.lines, other)
        mean, half = difference(self.lines, row, other)
        return "%s is better than %s: %s" % (
            row, other, self.shown(mean, half)), all(
            self.sign * (own[seed] - base[seed]) > 0 for seed in own) and (
            self.sign * mean > half)

    def near(self, row, points, other=FP32):
        """The interval is above -points (or below, where less is better)."""
        mean, half = difference(self.lines, row, other)
        return "%s is at most %g worse than %s: %s" % (
            row, points, other, self.shown(mean, half)), \
            self.sign * mean - half > -points

    def shown(self, mean, half):
        name = score_of(self.lines)
        return "%s +- %s" % (decimals(mean, name, "+"), decimals(half, name))


def lars(lines):
    """APS paper, Table 5: with LARS, few bits train only with APS."""
    scores = Scores(lines)
    for format in ("e3m2", "e3m0"):
        yield scores.better(f"{format}, APS", f"{format}, no scale")
    for format in ("e5m2", "e3m2"):
        yield scores.near(f"{format}, APS", 3)


def residual(lines):
    """APS paper, Tables 4 and 6; and the scales of the other papers."""
    scores = Scores(lines)
    for format in ("e3m2", "e3m0"):
        yield scores.better(f"{format}, APS", f"{format}, no scale")
        yield scores.near(f"{format}, APS", 1.5)
    for scale in ("backoff", "logmax", "underflow", "unit", "delayed"):
        yield scores.better(f"e3m2, {scale}", "e3m2, no scale")
    yield scores.better("e4m3, APS", "e4m3, fixed 2^10")
    yield scores.near("e4m3, no scale", 1)


def scenes(lines):
    """APS paper, Table 3."""
    scores = Scores(lines)
    for format in ("e3m2", "e3m0"):
        yield scores.better(f"{format}, APS", f"{format}, no scale")
    yield scores.near("e4m3, APS", 1)


def lstm(lines):
    """GC-HBFP, Table IV: blocks; and what APS says of scales."""
    scores = Scores(lines, sign=-1)
    for format in ("e4m3", "e3m2"):
        yield scores.better(f"{format}, APS", f"{format}, no scale")
    yield scores.near("bf16", 0.001)
    for row in ("e5m2, APS", "e4m3, APS", "mx-e4m3fn", "bfp7/64"):
        yield scores.near(row, 0.01)
    for row in ("e3m2, APS", "mx-e2m1fn", "bfp4/64", "bfp3/64"):
        yield scores.near(row, 0.03)


def hbfp(lines):
    """GC-HBFP: products of 8 bits cost little, with compressed sums, too; Accuracy
    Boosters: more bits at the end."""
    scores = Scores(lines, sign=-1)
    for block in (64, 576):
        yield scores.near(f"HBFP 8/{block}", 0.02)
    for rank, points in ((2, 0.1), (1, 0.2)):
        yield scores.near(f"HBFP 8/64, PowerSGD {rank}", points, f"PowerSGD {rank}")
    yield scores.better("HBFP 6/64", "HBFP 5/64")
    yield scores.better("HBFP 4/64, 6/64 last", "HBFP 4/64")
    yield scores.better("HBFP 4/64, stochastic", "HBFP 6/64")


def transformer(lines):
    """APS paper on BERT; unit scaling paper, Fig. 4."""
    scores = Scores(lines, sign=-1)
    for format in ("e4m3", "e3m2"):
        yield scores.better(f"{format}, APS", f"{format}, no scale")
    yield scores.near("bf16", 0.001)
    for row in ("e5m2, APS", "e4m3, APS", "e4m3, unit"):
        yield scores.near(row, 0.005)
    yield scores.near("e3m2, APS", 0.02)


CLAIMS = {"hbfp": hbfp, "lars": lars, "lstm": lstm, "residual": residual,
          "scenes": scenes, "transformer": transformer}
