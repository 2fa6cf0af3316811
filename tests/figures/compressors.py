#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of few bytes for training: compressors.py FOLDER [HIDDEN
[SEEDS [EPOCHS]]]

trains tests/apps/digits on 8 ranks under each policy of compressor_rows.py:
with hidden layers of 64 on five seeds, 20 epochs, and a part of the rows with
hidden layers of 512 on three seeds, 10 epochs, which take ten times as long.
With arguments, only the network with HIDDEN, SEEDS and EPOCHS. Writes

  FOLDER/compressors.csv        a line a run: loss, accuracy in percent, and what
                                trained.py measures (the first seed counts bytes,
                                the others have a log)
  FOLDER/compressors-table.csv  a line a row: means and, of the accuracy, the least
                                and the greatest; how many times fewer bytes than
                                FP32; what the paper claims; also printed
  FOLDER/compressors.png        accuracy over bytes, where there is matplotlib

and says which orderings the seeds support (compressor_claims.py): exit status 1 if
one that is asserted does not hold.

After the miniature of Tables I and III of "Gradient-Compressed HBFP for Distributed
Deep Learning Workloads" (S3 below), and of the tables of QSGD (Alistarh et al.
2017) and TernGrad (Wen et al. 2017). S3's HBFP rows are of training whose matrix
products are in HBFP; here the gradients alone are.
"""
import os
import sys

from compressor_claims import claims, say
from compressor_rows import ROWS
from output import draw_picture, write_csv
from replay import fail
from trained import mean, train

RANKS = 8
# Hidden width, seeds, epochs.
NETWORKS = [(64, 5, 20), (512, 3, 10)]


def runs(folder, hidden, seeds, epochs):
    """Yields a dictionary for each run."""
    for row in ROWS:
        if hidden > 64 and not row.wide:
            continue
        for seed in range(1, 1 + seeds):
            run = train(folder, hidden, row.rules(epochs),
                        ["--epochs", str(epochs), "--lr", str(row.rate),
                         "--seed", str(seed)], RANKS, logged=seed > 1)
            yield {"hidden": hidden, "table": row.table, "row": row.name,
                   "seed": seed, "loss": run.loss, "accuracy": run.accuracy,
                   "bytes": run.sent, "eq5": run.eq5, "residual": run.residual}


def given(values):
    return [value for value in values if value is not None]


def table_of(all_runs):
    """Returns a dictionary for each network and row, in the order of the runs."""
    lines, full = [], {}
    for row in ROWS:
        for hidden in sorted({run["hidden"] for run in all_runs}):
            mine = [run for run in all_runs if run["row"] == row.name
                    and run["hidden"] == hidden]
            if not mine:
                continue
            sent = mean(given(run["bytes"] for run in mine))
            full.setdefault(hidden, sent)
            points = [run["accuracy"] for run in mine]
            eq5, residual = (mean(given(run[key] for run in mine))
                             for key in ("eq5", "residual"))
            lines.append({
                "hidden": hidden, "table": row.table, "row": row.name,
                "seeds": len(mine), "accuracy": "%.2f" % mean(points),
                "least": min(points), "most": max(points),
                "loss": "%.4g" % mean(run["loss"] for run in mine),
                "bytes": "%.0f" % sent, "fewer": "%.2f" % (full[hidden] / sent),
                "claimed": row.claimed or "",
                "eq5": "" if eq5 is None else "%.3g" % eq5,
                "residual": "" if residual is None else "%.3g" % residual})
    return sorted(lines, key=lambda line: line["hidden"])


def print_table(table):
    print("Accuracy in percent, of the mean and of the worst and best seed; bytes of "
          "all %d ranks in a step.\n%-6s %-34s %5s %6s %6s %8s %8s %6s %8s %9s"
          % (RANKS, "hidden", "row", "mean", "worst", "best", "loss", "bytes",
             "fewer", "claimed", "residual"))
    for line in table:
        print("%-6d %-34s %5s %6.2f %6.2f %8s %8s %5sx %8s %9s" % (
            line["hidden"], line["row"], line["accuracy"], line["least"],
            line["most"], line["loss"], line["bytes"], line["fewer"],
            line["claimed"] and "%gx" % line["claimed"], line["residual"]))


def draw_table(path, table):
    """Draws a part for each network: accuracy over bytes, a colour for each table."""
    widths = sorted({line["hidden"] for line in table})
    tables = list(dict.fromkeys(row.table for row in ROWS))

    def figure(mpl, _):
        fig, axes = mpl.pyplot.subplots(1, len(widths), figsize=(
            7 * len(widths), 6), layout="constrained", squeeze=False)
        for ax, hidden in zip(axes[0], widths):
            for i, name in enumerate(tables):
                mine = [line for line in table
                        if line["hidden"] == hidden and line["table"] == name]
                points = [float(line["accuracy"]) for line in mine]
                ax.errorbar([float(line["fewer"]) for line in mine], points,
                            [[p - line["least"] for p, line in zip(points, mine)],
                             [line["most"] - p for p, line in zip(points, mine)]],
                            fmt="osD^vP*"[i], color="C%d" % i, markersize=5,
                            elinewidth=0.7, capsize=2, label=name)
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(
                mpl.ticker.FuncFormatter(lambda x, _: "%g" % x))
            ax.set_ylim(86, 99)
            ax.set_title("64-%d-%d-10" % (hidden, hidden))
            ax.set_xlabel("FP32 bytes over bytes, measured")
            ax.grid()
        axes[0][0].set_ylabel(
            "test accuracy, %: mean, worst and best seed (cut off at 86)")
        axes[0][0].legend(fontsize=8, loc="lower left")
        return fig
    draw_picture(path, figure)


def networks_given():
    if not 2 <= len(sys.argv) <= 5:
        fail("usage: compressors.py FOLDER [HIDDEN [SEEDS [EPOCHS]]]")
    if len(sys.argv) == 2:
        return NETWORKS
    numbers = [int(text) for text in sys.argv[2:]]
    known = {network[0]: network for network in NETWORKS}
    default = known.get(numbers[0], NETWORKS[0])
    return [(*numbers, *default[len(numbers):])]


def main():
    networks = networks_given()
    folder = sys.argv[1]
    all_runs = [run for network in networks for run in runs(folder, *network)]
    table = table_of(all_runs)
    print_table(table)
    write_csv(os.path.join(folder, "compressors.csv"), all_runs)
    write_csv(os.path.join(folder, "compressors-table.csv"), table)
    kept = say(claims(all_runs))
    draw_table(os.path.join(folder, "compressors.png"), table)
    sys.exit(not kept)


if __name__ == "__main__":
    main()
