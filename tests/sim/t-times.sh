#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every reduction on two simulated hosts with eight ranks each: the same bits on
# all ranks, and the same times whenever it is simulated.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

skip_without_simgrid
for run in 1 2; do
    simulate 2 8 10 "$sim/times" "$gradients" 65536 3 8 >"$tmp/run$run"
    status=$?
    if [ "$status" -ne 0 ]; then
        cat "$tmp/run$run"
        echo "Bail out! simulation $run ended with status $status"
        exit 1
    fi
done
count=$(grep -c '^ok\|^not ok' "$tmp/run1")
sed '/^1\.\./d' "$tmp/run1"
verdict=ok
cmp -s "$tmp/run1" "$tmp/run2" || verdict='not ok'
echo "$verdict $((count + 1)) - simulated again: the same times"
echo "1..$((count + 1))"
[ "$verdict" = ok ]
