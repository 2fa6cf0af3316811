#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Layer tables of PyTorch's DistributedDataParallel: what it sums, and which layers a
# policy then rounds.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# --- a program whose calls are those of DistributedDataParallel -----------------

# The layers of a small network, as its file has them.
cat >parameters.py <<'END'
import numpy as np
np.savez("net.npz", **{
    "conv1.weight": np.zeros((64, 8, 3, 3), np.float32),
    "conv1.bias": np.zeros(64, np.float32),
    "bn1.weight": np.zeros(64, np.float32), "bn1.bias": np.zeros(64, np.float32),
    "conv2.weight": np.zeros((64, 64, 3, 3), np.float32),
    "conv2.bias": np.zeros(64, np.float32),
    "fc1.weight": np.zeros((512, 576), np.float32),
    "fc1.bias": np.zeros(512, np.float32),
    "fc2.weight": np.zeros((10, 512), np.float32),
    "fc2.bias": np.zeros(10, np.float32)})
END
if ! "$PYTHON3" -c 'import numpy, mpi4py' 2>/dev/null; then
    skip_all 'there is no numpy or no mpi4py'
fi
"$PYTHON3" parameters.py
timed "$layers_command" --order ddp --bucket-mb 1 --output ddp.csv net.npz
check 'apsmpi-layers --order ddp writes a table' status_is 0
check '... in the order of the backward pass' equal \
    "$(grep -v '^#' ddp.csv | cut -d, -f2 | tr '\n' ' ')" \
    'name fc2.bias fc2.weight fc1.bias fc1.weight conv2.weight conv2.bias bn1.weight bn1.bias conv1.weight conv1.bias '
check '... with the order of the first step' equal \
    "$(grep -v '^#' ddp.csv | cut -d, -f5 | tr '\n' ' ')" 'first 9 8 7 6 4 5 2 3 0 1 '
check '... and the calls of later steps' has ddp.csv 'by 300554, 41728 elements'

cat >ddp.py <<'END'
"""Sums the layers of ddp.csv as DistributedDataParallel does, in three steps. Prints
the step and the layers whose sums are exact."""
import csv
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = list(csv.DictReader(line for line in open("ddp.csv") if line[0] != "#"))
by_first = sorted(rows, key=lambda row: int(row["first"]))
draw = np.random.default_rng(1)
for step in range(3):
    calls = [by_first] if step == 0 else [rows[:4], rows[4:]]
    exact = []
    for call in calls:
        counts = [int(row["count"]) for row in call]
        values = draw.standard_normal((comm.size, sum(counts)), np.float32)
        values = np.round(values * 64) / 64
        total = values.sum(0)
        comm.Allreduce(MPI.IN_PLACE, mine := values[comm.rank].copy())
        at = 0
        for row, count in zip(call, counts):
            if (mine[at:at + count] == total[at:at + count]).all():
                exact.append(row["name"])
            at += count
    if comm.rank == 0:
        print(step, *sorted(exact))
END
policy ddp.yaml -t 'table: ddp.csv' 'layers: ["*.bias", conv1.*], format: fp32' \
    'format: e3m0, scale: aps'
job 2 APSMPI_POLICY=ddp.yaml "$PYTHON3" ddp.py
check 'the policy spares its layers in each step, the first one, too' equal \
    "$(cat out)" "$(for step in 0 1 2; do
        echo "$step bn1.bias conv1.bias conv1.weight conv2.bias fc1.bias fc2.bias"
    done)"
check '... without desync' not has err desync
policy backward.yaml -t 'table: ddp.csv' -t 'steps: {order: backward}' 'format: e4m3'
timed "$apsmpi" check backward.yaml
check 'apsmpi check warns of the order of other tables' has err \
    "backward.yaml:4:1: warning: order: backward reverses the rows of a table"

# --- DistributedDataParallel itself ----------------------------------------------

python=$PYTHON3
"$python" -c 'import torch' 2>/dev/null || python=/usr/bin/python3
awk '/^\.\\" python/ { wanted = 1 }
    /^\.Ed/ { wanted = inside = 0 }
    inside { gsub(/\\e/, "\\"); print }
    wanted && /^\.Bd/ { inside = 1 }' "$top_srcdir/pmpi/apsmpi-recipes.7" >recipe.py
timed "$python" "$top_srcdir/tests/e2e/ddp_order.py" recipe.py
if ! [ -s recurrent.calls ]; then
    skip 'tables of DistributedDataParallel' "$(tail -n 1 out)"
    finish
fi
for model in convolutions residual recurrent; do
    timed "$layers_command" --order ddp --bucket-mb 1 $model.npz
    grep -v '^#' out | tail -n +2 >rows
    check "$model: the rows have the order of DistributedDataParallel" equal \
        "$(cut -d, -f2 rows | tr '\n' ' ')" \
        "$(sed -n 's/^1 //p' $model.calls | tr '\n' ' ')"
    cut -d, -f1-5 rows >wanted
    tail -n +2 $model.csv >written
    check '... as the table of the recipe has it' cmp wanted written
    check '... and of its first step' equal \
        "$(sort -t, -k5n rows | cut -d, -f2 | tr '\n' ' ')" \
        "$(sed -n 's/^0 //p' $model.calls | tr '\n' ' ')"
    check '... and as many calls' equal \
        "$(sed -n 's/^# from the second step on, by \(.*\) elements.*/\1/p' out |
            wc -w)" "$(grep -c '^1 ' $model.calls)"
done
finish
