#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws types.svg, the picture beside apsmpi-policy(5):

    python3 tests/sim/types_picture.py tests/sim/types.csv tests/sim/types.svg
"""
import csv
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "apsmpi", "svg.fonttype": "none"})
import matplotlib.pyplot as plt  # noqa: E402

MARKS = {"native": "o-", "bf16": "s--", "fp16": "s--", "e4m3 aps": "^:"}


def main(table, picture):
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    _, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, kind in zip(axes, ("bf16", "fp16")):
        for name in dict.fromkeys(r["sum"] for r in rows if r["type"] == kind):
            points = [(int(r["ranks"]), float(r["l2"])) for r in rows
                      if (r["type"], r["sum"]) == (kind, name)]
            axis.loglog(*zip(*points), MARKS[name],
                        label=name if name == "native" else "format: " + name)
        axis.set(title="sums of " + kind, xlabel="ranks", xticks=[2, 8, 32, 256],
                 xticklabels=["2", "8", "32", "256"])
        axis.minorticks_off()
        axis.grid(True, alpha=.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("relative error (L2), against FP64")
    plt.savefig(picture, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
