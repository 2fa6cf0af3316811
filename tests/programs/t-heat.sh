#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Heat's operation on bf16 (DASO), which has MPI's type of 16-bit integers.
. "${top_srcdir:-.}/tests/programs/lib.sh"

install_heat()
{
    pip 'numpy<2' scipy && pip_mpi4py && pip --no-deps heat==1.5.1
}
debian python3-venv python3-dev gcc libmpich-dev python3-torch python3-torchvision \
    dataset-fashion-mnist
environment heat install_heat --system-site-packages

program=$here/heat_train.py
native 2 "$python" "$program"
check 'native: learns' learned 70
what="Heat $(version heat), bf16: native $(accuracy) %"
for format in e4m3 bf16; do
    policy $format.yaml -t 'operations: probe' "format: $format"
    job 2 APSMPI_POLICY=$format.yaml "$python" "$program"
    check "$format: learns" learned 70
    what="$what, $format $(accuracy) %"
    check '... the operation is recognised' has err 'sums bf16 and rounds each addition'
    check '... all calls are rewritten' share 100
done
diag "$what"
policy off.yaml 'format: e4m3'
job 2 APSMPI_POLICY=off.yaml "$python" "$program"
check 'without a probe the calls are left to MPI' rewritten 0
finish
