#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Time over size on 256 simulated ranks, on the network of ports.h: the
# reductions give the same bits on all ranks, and a simulation that computes
# nothing gives the same times. The reduction that apsmpi explain expects
# `reduce: auto` to take is the fastest, or at most a tenth slower.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

skip_without_simgrid
counts='16384 65536'
machine=$top_srcdir/tests/bench/predict-sim.yaml
count=0 result=0

# verdict NAME COMMAND...
verdict()
{
    count=$((count + 1)) verdict=ok name=$1
    shift
    "$@" || verdict='not ok' result=1
    echo "$verdict $count - $name"
}

# run NODES RANKS [--model] COUNT...: leaves $tmp/tap, and the rows as $tmp/rows
run()
{
    nodes=$1 ranks=$2
    shift 2
    (over_size "$nodes" "$ranks" 10 "$@") >"$tmp/tap" || {
        cat "$tmp/tap"
        echo "Bail out! no simulation of $nodes hosts with $ranks ranks"
        exit 1
    }
    sed -n 's/^# *\([0-9].*\)/\1/p' "$tmp/tap" | tr -d '()' >"$tmp/rows"
    sed -n 's/^# /#   /p' "$tmp/tap"
}

# chosen NODES RANKS COUNT: prints auto's choice there, by explain
chosen()
{
    printf 'version: 1\nmin_count: 1\n%s\n' \
        'rules: [{format: e5m2, scale: aps, reduce: auto}]' >"$tmp/auto.yaml"
    "$top_builddir/apsmpi" explain "$tmp/auto.yaml" --measured "$machine" \
        --hosts "$1" --ranks-per-host "$2" --rate 10gbit --counts "$3" |
        sed -n 's/.*auto (\([a-z]*\)).*/\1/p'
}

# is_fast ROW NAME: FLOATS NATIVE DIRECT FASTER HIERARCHICAL FASTER RING FASTER
is_fast()
{
    echo "$1" | awk -v name="$2" '{
        time["direct"] = $3; time["hierarchical"] = $5; time["ring"] = $7
        for (one in time)
            if (!least || time[one] < least)
                least = time[one]
        exit !(name in time) || time[name] > 1.1 * least
    }'
}

# shellcheck disable=SC2086
run 4 8 $counts
cp "$tmp/rows" "$tmp/computed"
verdict 'the same bits on all ranks' sh -c '! grep -q "^not ok" "$1"' sh "$tmp/tap"
# shellcheck disable=SC2086
run 4 8 --model $counts
verdict 'where nothing is computed: the same times' cmp "$tmp/computed" "$tmp/rows"
verdict 'there are times' test -s "$tmp/rows"
# shellcheck disable=SC2086
run 32 8 --model $counts
while read -r row; do
    floats=${row%% *}
    name=$(chosen 32 8 "$floats")
    verdict "256 ranks, $floats floats: explain's choice ($name) is fast" \
        is_fast "$row" "$name"
done <"$tmp/rows"
echo "1..$count"
exit $result
