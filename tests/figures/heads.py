#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the heads that each scale loses: heads.py FOLDER [SEEDS]

trains tests/apps/heads, whose second head has gradients 2^-12 times as large as the
first one's, in 8 and in 6 bits with every scale, and eleven constants. A head is
lost by a run if it ends more than LOST points below the same seed in FP32. Writes

  FOLDER/heads.csv          a line a run: format, scale, seed, test accuracies of
                            both heads in percent, steps that the program left out
  FOLDER/heads-table.csv    a line a format and scale: means, and runs that lost a
                            head; also printed

and checks claims about all seeds (make check-heads): exit status 1 if one
fails. After the miniature of gradient scaling (Zhao et al., "Reducing
Underflow in Mixed Precision Training by Gradient Scaling", IJCAI 2020), where
one loss scale for a whole model fails and one a layer does not.
"""
import os
import sys

from output import write_csv
from replay import fail, launch, library
from words import Variant, is_known

RANKS, EPOCHS, HIDDEN, WEIGHT = 4, 8, 32, -12
LOST = 5.0
FORMATS = ["e4m3", "e3m2"]
CONSTANTS = ["fixed 2^%d" % k for k in range(0, 21, 2)]

# Name in the table, words of the policy, and True if the program skips steps
# whose gradient is not finite.
SCALES = [("none", "none", False)]
SCALES += [(name, "{fixed: %s}" % name.split()[1], False) for name in CONSTANTS]
SCALES += [(word + where, "{%s: {scope: %s}}" % (word, scope), False)
           for word in ("backoff", "logmax")
           for where, scope in ((", model", "model"), (", layer", "layer"))]
SCALES += [("backoff, model, inf", "{backoff: {scope: model, on_overflow: inf}}",
            True)]
SCALES += [(word, word, False) for word in (
    "underflow", "unit", "autoflex", "delayed", "dfxp", "aps", "aps-tight")]
BY_LAYER = ["backoff, layer", "logmax, layer", "underflow", "unit", "autoflex",
            "delayed", "dfxp", "aps", "aps-tight"]
BY_MODEL = ["backoff, model", "logmax, model", "backoff, model, inf"]


def train(folder, rule, seed, skip):
    """Returns (digit, odd, steps left out) of one run."""
    policy, output = (os.path.join(folder, name)
                      for name in ("heads.yaml", "heads.out"))
    with open(policy, "w") as file:
        file.write("version: 1\nmin_count: 1\nsteps: {calls: 6}\n"
                   "rules: [{reduce: direct, %s}]\n" % rule)
    launch([os.path.join(os.environ["top_builddir"], "tests/apps/heads"),
            os.path.join(os.environ["top_srcdir"], "tests/apps/digits.csv"),
            str(seed), str(EPOCHS), str(HIDDEN), str(WEIGHT)] + ["skip"] * skip,
           [library("libapsmpi.so")],
           {"APSMPI_POLICY": policy, "APSMPI_DISCOVERY": "off"}, output, RANKS)
    with open(output) as file:
        words = file.read().split()
    return float(words[1]), float(words[3]), int(words[5])


def runs(folder, seeds):
    """Yields a dictionary for each run, of all known formats and scales."""
    apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")
    ways = [("e8m23", "none", "none", False)]
    ways += [(format, *scale) for format in FORMATS for scale in SCALES
             if is_known(apsmpi, Variant(format, scale[1], "nearest"))]
    for format, name, words, skip in ways:
        for seed in seeds:
            digit, odd, skipped = train(
                folder, "format: %s, scale: %s" % (format, words), seed, skip)
            yield {"format": format, "scale": name, "seed": seed,
                   "digit": digit, "odd": odd, "skipped": skipped}


def table_of(rows):
    """Returns a dictionary for each format and scale."""
    full = {r["seed"]: r for r in rows if r["format"] == "e8m23"}
    table = {}
    for r in rows:
        line = table.setdefault((r["format"], r["scale"]), {
            "format": r["format"], "scale": r["scale"], "runs": 0, "digit": 0.0,
            "odd": 0.0, "digit_lost": 0, "odd_lost": 0, "skipped": 0})
        line["runs"] += 1
        line["skipped"] += r["skipped"]
        for head in ("digit", "odd"):
            line[head] += r[head]
            line[head + "_lost"] += r[head] < full[r["seed"]][head] - LOST
    for line in table.values():
        for head in ("digit", "odd"):
            line[head] = round(line[head] / line["runs"], 2)
    return table


def claims(table):
    """Yields (text, True if it holds) of the claims about all seeds."""
    def lost(format, scale):
        line = table.get((format, scale))
        return line and line["digit_lost"] + line["odd_lost"]

    def keeps(format, scale):
        return lost(format, scale) in (0, None)

    def loses(format, scale):
        line = table.get((format, scale))
        return not line or line["runs"] == max(line["digit_lost"],
                                               line["odd_lost"])

    yield "none loses a head in e4m3 and e3m2", \
        loses("e4m3", "none") and loses("e3m2", "none")
    yield "in e3m2 each of eleven constants loses a head", \
        all(loses("e3m2", name) for name in CONSTANTS)
    for scale in BY_MODEL:
        yield "e3m2, %s loses a head" % scale, loses("e3m2", scale)
    for format in FORMATS:
        for scale in BY_LAYER:
            yield "%s, %s keeps both heads" % (format, scale), \
                keeps(format, scale)


def main():
    if len(sys.argv) not in (2, 3):
        fail("usage: heads.py FOLDER [SEEDS]")
    seeds = range(1, 1 + int(sys.argv[2] if len(sys.argv) > 2 else 5))
    rows = list(runs(sys.argv[1], seeds))
    table = table_of(rows)
    print("%-8s %-20s %9s %9s  lost in %d runs: digit, odd  skipped" % (
        "format", "scale", "digit %", "odd %", len(seeds)))
    for line in table.values():
        print("%-8s %-20s %9.2f %9.2f  %d, %d  %d" % (
            line["format"], line["scale"], line["digit"], line["odd"],
            line["digit_lost"], line["odd_lost"], line["skipped"]))
    write_csv(os.path.join(sys.argv[1], "heads.csv"), rows)
    write_csv(os.path.join(sys.argv[1], "heads-table.csv"), list(table.values()))
    failed = False
    for text, holds in claims(table):
        print("%s %s" % ("holds:" if holds else "FAILS:", text))
        failed |= not holds
    sys.exit(failed)


if __name__ == "__main__":
    main()
