#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Round-off of sums of bf16, fp16 and double on 256 simulated ranks, and on 2, 8 or 32
# for SIM_RANKS. The rows of the 16-bit types are those of types.csv.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

skip_without_simgrid
simulate "${SIM_RANKS:-256}" 1 10 "$sim/types" "$gradients" >"$tmp/out"
status=$?
sed '/^1\.\./d' "$tmp/out"
others=$(sed -n '/^# [bf][fp]16 /{ s/^# //; s/, aps/-aps/; s/  */,/g; s/-/ /; p; }' \
    "$tmp/out" | grep -v -x -F -f "$top_srcdir/tests/sim/types.csv")
if [ -z "$others" ]; then
    echo "ok 11 - the errors are those of the manual"
else
    echo "not ok 11 - the errors are those of the manual"
    printf '%s\n' "$others" | sed 's/^/# not in types.csv: /' >&2
    status=1
fi
echo 1..11
exit $status
