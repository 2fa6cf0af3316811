#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A PyTorch program on images of clothes, tests/apps/fashion.py, if Debian's
# python3-torch and dataset-fashion-mnist are installed.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# The Python that has torch, and mpi4py for this MPI: its own, or that of
# scripts/setup, which another Python of the same version can load.
torch=
modules=$top_builddir/venv/mpi4py-3
for python in "$PYTHON3" /usr/bin/python3; do
    PYTHONPATH=$modules "$python" -c 'import torch, mpi4py.MPI' 2>/dev/null &&
        { torch=$python; break; }
done
[ -n "$torch" ] || skip_all 'no Python has both torch (Debian: python3-torch)' \
    'and mpi4py for this MPI'
data=/usr/share/datasets/fashion-mnist
[ -d "$data" ] || skip_all "there is no $data (Debian: dataset-fashion-mnist)"

limit=150
set -- PYTHONPATH="$modules" "$torch" \
    "$top_srcdir/tests/apps/fashion.py" --images 1024 --epochs 1

cp "$top_srcdir/tests/apps/fashion-layers.csv" .
table='layers: fashion-layers.csv'
policy exact.yaml 'format: e8m23'
policy named.yaml -t "$table" -t 'log: {file: named.csv, every: 2}' \
    'layers: "fc2.*", format: fp32' 'format: e4m3, scale: aps'
policy factors.yaml -t "$table" -t 'log: {file: factors.csv, every: 2}' \
    'layers: "fc2.*", format: fp32' \
    'compress: {powersgd: {rank: 4}}, format: bf16'

native 4 "$@" --sum rank-order
check 'it trains without the library' status_is 0
cp out in-order
job 4 APSMPI_POLICY=exact.yaml "$@"
check 'e8m23: the losses are those of sums in the order of the ranks' \
    cmp out in-order
check '... and all 64 sums are rewritten' rewritten 64
job 4 APSMPI_POLICY=named.yaml "$@"
check 'e4m3 with APS by names: all ranks end with the same weights' status_is 0
check '... three quarters less is sent' has err '(75.0 % saved)'
check '... the log has every layer but the last by its name' equal \
    "$(column name named.csv 'v["step"] == 2 && v["format"] == "e4m3"' |
        tr '\n' ' ')" 'conv1.weight conv1.bias conv2.weight conv2.bias '"\
fc1.weight fc1.bias "
job 4 APSMPI_POLICY=factors.yaml "$@"
check 'PowerSGD: all ranks end with the same weights' status_is 0
check '... matrices travel as factors' equal \
    "$(distinct name factors.csv 'v["compress"] == "powersgd rank 4"' |
        tr ' ' '\n' | sort | tr '\n' ' ')" 'conv2.weight fc1.weight '

finish
