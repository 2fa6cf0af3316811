# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a run keeps the target of its policy. suggest_met.py snr|err|bytes VALUE
LOG [FP32] prints the run's value, and exits with 1 if that is worse than VALUE. The
value is the worst mean of a layer in an epoch, or the bytes of all rows in per cent
of FP32 bytes; layers in FP32, which have no rows, are added to both."""

import collections
import csv
import sys


def main():
    kind, wanted = sys.argv[1], float(sys.argv[2])
    with open(sys.argv[3], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    if kind == "bytes":
        steps = len({row["step"] for row in rows})
        left = steps * float(sys.argv[4])
        sent, fp32 = (sum(int(row[name]) for row in rows)
                      for name in ("wire_bytes", "fp32_bytes"))
        value = 100 * (sent + left) / (fp32 + left)
        print("%.2f %% of the bytes, at most %g" % (value, wanted))
        return value > wanted
    means = collections.defaultdict(list)
    column = {"snr": "snr_db", "err": "err_mean"}[kind]
    for row in rows:
        means[int(row["layer"]), int(row["epoch"])].append(float(row[column]))
    means = {place: sum(some) / len(some) for place, some in means.items()}
    place = (min if kind == "snr" else max)(means, key=means.get)
    print("layer %d, epoch %d: %s %g, the target is %g" % (
        *place, kind, means[place], wanted))
    return means[place] < wanted if kind == "snr" else means[place] > wanted


if __name__ == "__main__":
    sys.exit(main())
