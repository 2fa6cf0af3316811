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
print("table", table[1]["accuracy"] == "83.000" and table[1]["bytes %"] == "25.0", table)
print("picture", draw("task", table).count("<circle") == 2)
END
PYTHONPATH=$top_srcdir/tests/papers "$PYTHON3" "$tmp/intervals_check.py" >"$tmp/out"
result student 'the interval of five seeds is that of Student'
result paired 'differences are between runs with the same seed, in the last epoch'
result table 'the table has means and bytes'
result picture 'the picture has a mark for each row'

PYTHONPATH=$top_builddir/venv/mpi4py-3 /usr/bin/python3 -c 'import torch, mpi4py.MPI' \
    2>/dev/null || { skip training 'python3-torch or mpi4py is missing'; finish; }
[ -d "$data" ] || { skip training "there is no $data"; finish; }

cat >"$tmp/train_check.py" <<'END'
import os
import subprocess
import sys

from fashion import python_with_torch
from papers import Study
from rows import RULES

folder = sys.argv[1]
apsmpi = os.path.join(os.environ["top_builddir"], "apsmpi")
python = python_with_torch()
for task, rows in RULES.items():
    study = Study(folder, task, python, [1, 2],
                  ["--epochs", "1", "--examples", "128", "--batch", "32"])
    study.prepare()
    bad = []
    for row, rules in rows.items():
        if rules:
            run = subprocess.run([apsmpi, "check", study.policy(rules)], check=False,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            bad += [run.stderr] if run.returncode else []
    print(task + "-accepted", not bad, *bad)
    for row in ("FP32, MPI", "e4m3, APS"):
        study.train(row)
    plain, few = (float(next(line["loss"] for line in study.lines if line["row"] == row))
                  for row in ("FP32, MPI", "e4m3, APS"))
    print(task + "-trained", abs(few / plain - 1) < 0.02 and len(study.lines) == 4,
          plain, few)
    print(task + "-bytes", 0.25 <= float(study.lines[-1]["bytes"]) < 0.26,
          study.lines[-1]["bytes"])
    again = Study(folder, task, python, [1, 2])
    print(task + "-continued", len(again.missing()) == len(rows) - 2)
END
PYTHONPATH=$top_srcdir/tests/papers:$top_srcdir/tests/figures \
    "$PYTHON3" "$tmp/train_check.py" "$tmp" >"$tmp/out"
check $? 'all miniatures train'
for task in residual lars scenes lstm transformer; do
    result $task-accepted "$task: the library accepts all policies"
    result $task-trained '... the loss in e4m3 with APS is near that in FP32'
    result $task-bytes '... a quarter of the bytes is sent'
    result $task-continued '... a second run would continue with the other rows'
done
finish
