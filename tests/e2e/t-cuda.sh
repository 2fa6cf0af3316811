#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A CUDA program that gives MPI pointers to device memory trains on a GPU like
# the same program on the host.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

program=$top_builddir/tests/apps/digits-cuda
[ -e "$program" ] || skip_all "there is no $program: built without CUDA"
[ -e /dev/nvidiactl ] || skip_all 'no GPU here'
cuda="$program --data $top_srcdir/tests/apps/digits.csv"

# Prints the final accuracy of a job.
accuracy()
{
    sed -n 's/^final test accuracy \(.*\)%$/\1/p' "$1"
}

# near FILE: the last job ended within two per cent of it
near()
{
    awk -v a="$(accuracy out)" -v b="$(accuracy "$1")" '
        BEGIN { print a, "and", b; exit !(a > 90 && a - b < 2 && b - a < 2) }'
}

policy aps.yaml 'format: e4m3, scale: aps'
job 2 $digits
cp out native
job 2 APSMPI_POLICY=aps.yaml $digits
cp out aps

job 2 $cuda
check 'without a policy it trains' trained 20
check '... as on the host' near native
job 2 APSMPI_POLICY=aps.yaml $cuda
check 'in e4m3 with APS it trains' trained 20
check '... as on the host' near aps
check '... with all gradients rewritten' rewritten 1320
cp out first
job 2 APSMPI_POLICY=aps.yaml $cuda
check 'a second run gives the same bits' cmp first out
job 2 APSMPI_POLICY=aps.yaml APSMPI_CUDA=none $cuda
check 'encoded by the host it gives the same bits' cmp first out
check '... and reports it' lines 1 err 'encoded by the host'
finish
