# SPDX-License-Identifier: BSD-3-Clause
# The miniatures of the papers: the library accepts all policies, every task trains
# in a few steps, and intervals are those of Student's t.
. "$top_srcdir/tests/mpi/run.sh"
data=/usr/share/datasets/fashion-mnist

# result NAME: a check of the line `NAME True` in the output
result()
{
    grep "^$1 " "$tmp/out" >"$tmp/line" || echo "$1 is missing" >"$tmp/line"
    grep -q "^$1 True" "$tmp/line"
    check $? "$2"
    grep -q "^$1 True" "$tmp/line" || sed 's/^/# /' "$tmp/line" >&2
}

cat >"$tmp/intervals_check.py" <<'END'
from intervals import difference, draw, interval, table_of
from rows import FP32

mean, half = interval([1, 2, 3, 4, 5])
print("student", mean == 3 and abs(half - 1.9629) < 1e-3, mean, half)
lines = [{"row": row, "seed": str(seed), "epoch": str(epoch), "loss": "1",
          "accuracy": str(score + seed + epoch), "bytes": "0.25"}
         for row, score in ((FP32, 80), ("other", 79)) for seed in (1, 2, 3)
         for epoch in (1, 2)]
print("paired", difference(lines, "other") == (-1, 0), difference(lines, "other"))
table = table_of(lines, [FP32, "other"])
print("table", table[1]["accuracy"] == 83 and table[1]["bytes %"] == 25, table)
print("picture", draw("task", table).count("<circle") == 2)
END
PYTHONPATH=$top_srcdir/tests/papers "$PYTHON3" "$tmp/intervals_check.py" >"$tmp/out"
result student 'the interval of five seeds is that of Student'
result paired 'differences are between runs with the same seed, in the last epoch'
result table 'the table has means and bytes'
result picture 'the picture has a mark for each row'

# Page and pictures are those of the results, and the claims hold.
cat >"$tmp/results_check.py" <<'END'
import csv
import sys

from claims import CLAIMS
from intervals import draw, draw_curves, table_of
from rows import CURVES, RULES

folder, readme, *tasks = sys.argv[1:]
tables = {}
for task in tasks:
    rows = RULES[task]
    with open(f"{folder}/{task}.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    table = table_of(lines, rows)
    for name, text in ((task, draw(task, table)),
                       (task + "-curves", draw_curves(task, lines, CURVES[task]))):
        with open(f"{folder}/{name}.svg", encoding="utf-8") as file:
            print(name + "-drawn", file.read() == text)
    runs = [sorted((line["seed"], line["epoch"]) for line in lines if line["row"] == row)
            for row in rows]
    print(task + "-seeds", len({seed for seed, _ in runs[0]}) == 5
          and runs == [runs[0]] * len(runs))
    tables[task] = {line["row"]: line for line in table}
    failed = [text for text, holds in CLAIMS[task](lines)
              if not holds] if task in CLAIMS else []
    print(task + "-claims", not failed, failed)

wrong = []
with open(readme, encoding="utf-8") as file:
    for row, *cells in (line.strip("| \n").split(" | ") for line in file
                        if " ± " in line):
        for task, score, digits, cell in (("residual", "accuracy", 2, cells[0]),
                                          ("lstm", "bits", 3, cells[1])):
            line = tables[task][row.split(" (")[0]]
            if cell != "%+.*f ± %.*f" % (digits, line[score + " difference"],
                                         digits, line[score + " +-"]):
                wrong.append((row, cell))
print("readme", not wrong, wrong)
END
results=$top_srcdir/tests/papers/results
tasks=$(cd "$results" && echo *.csv | sed 's/groups-error.csv//; s/\.csv//g')
# shellcheck disable=SC2086 # a list of words
PYTHONPATH=$top_srcdir/tests/papers "$PYTHON3" "$tmp/results_check.py" "$results" \
    "$top_srcdir/README.md" $tasks >"$tmp/out"
result readme 'the README shows these results'
for task in $tasks; do
    result $task-seeds "$task: five seeds and all epochs of each row"
    result $task-claims '... the claims hold'
    result $task-drawn '... the picture shows these results'
    result $task-curves-drawn '... and so do the curves'
done
"$PYTHON3" "$top_srcdir/tests/papers/page.py" "$results" >"$tmp/page" &&
    cmp "$tmp/page" "$top_srcdir/tests/papers/apsmpi-results.7" >&2
check $? 'apsmpi-results(7) shows these results'

PYTHONPATH=$top_builddir/venv/mpi4py-3 /usr/bin/python3 -c 'import torch, mpi4py.MPI' \
    2>/dev/null || { skip training 'python3-torch or mpi4py is missing'; finish; }
[ -d "$data" ] || { skip training "there is no $data"; finish; }

cat >"$tmp/train_check.py" <<'END'
import csv
import os
import subprocess
import sys

from fashion import python_with_torch
from papers import Played, Study
from rows import RULES

folder = sys.argv[1]
apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")
python = python_with_torch()
groups = Played(folder, "groups", python, [1, 2], ["--ranks", "16", "--examples", "64",
                                                   "--batch", "32", "--epochs", "1"])
groups.prepare()
with open(os.path.join(folder, "groups-error.csv")) as file:
    errors = {(line["task"], line["weights"], line["format"], line["reduction"]):
              float(line["l2"]) for line in csv.DictReader(file)}
print("groups-error", len(errors) == 20 and all(
    direct < errors[(*key[:3], "groups of 4")] < errors[(*key[:3], "ring")]
    for key, direct in errors.items() if key[3] == "direct"))
for row in ("FP64", "groups of 4"):
    groups.train(row)
print("groups-trained", len(groups.lines) == 4, groups.lines)
for task, rows in RULES.items():
    if task == "groups":
        continue
    study = Study(folder, task, python, [1, 2],
                  ["--epochs", "1", "--examples", "128", "--batch", "32"])
    study.prepare()
    bad = []
    for row, rules in rows.items():
        if rules:
            run = subprocess.run([apsmpi, "check", study.policy(row)], check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            bad += [run.stderr] if run.returncode else []
    print(task + "-accepted", not bad, *bad)
    base, low, least, most = ("PowerSGD 2", "HBFP 8/64, PowerSGD 2", 0.03, 0.04) \
        if task == "hbfp" else ("FP32, MPI", "e4m3, APS", 0.25, 0.26)
    for row in (base, low):
        study.train(row)
    plain, few = (float(next(line["loss"] for line in study.lines if line["row"] == row))
                  for row in (base, low))
    print(task + "-trained", 0 < abs(few / plain - 1) < 0.02 and len(study.lines) == 4,
          plain, few)
    print(task + "-bytes", least <= float(study.lines[-1]["bytes"]) < most,
          study.lines[-1]["bytes"])
    again = Study(folder, task, python, [1, 2])
    print(task + "-continued", len(again.missing()) == len(rows) - 2)
END
PYTHONPATH=$top_srcdir/tests/papers:$top_srcdir/tests/figures \
    "$PYTHON3" "$tmp/train_check.py" "$tmp" >"$tmp/out"
check $? 'all miniatures train'
for task in residual lars scenes lstm hbfp transformer; do
    result $task-accepted "$task: the library accepts all policies"
    result $task-trained '... few bits change the loss, by less than 2 %'
    result $task-bytes '... the sums have fewer bytes'
    result $task-continued '... a second run would continue with the other rows'
done
result groups-error '16 played ranks: ring, groups of 4, direct by falling error'
result groups-trained '... and train'
finish
