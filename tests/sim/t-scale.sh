#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Time over size on 256 simulated ranks, on the network of ports.h: the
# reductions give the same bits on all ranks, and a simulation that computes
# nothing gives the same times. The reduction that apsmpi explain expects
# `reduce: auto` to take is the fastest, or at most a tenth slower. Threads of
# ranks save the time that explain predicts.
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

# run NODES RANKS GBIT [--model] [--threads N] COUNT...: leaves $tmp/tap, and the
# rows as $tmp/rows
run()
{
    nodes=$1 ranks=$2 gbit=$3
    shift 3
    (over_size "$nodes" "$ranks" "$gbit" "$@") >"$tmp/tap" || {
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

# is_predicted SCALE FLOATS MS: explain's time of direct with four threads is near MS
is_predicted()
{
    printf 'version: 1\nthreads: 4\n%s\n' \
        "rules: [{format: e5m2, scale: $1, reduce: direct}]" >"$tmp/threads.yaml"
    "$top_builddir/apsmpi" explain "$tmp/threads.yaml" --measured "$machine" \
        --hosts 16 --ranks-per-host 1 --rate 100gbit --counts "$2" --json |
        sed 's/.*"counts":\[{[^}]*"seconds":\([0-9.e-]*\).*/\1/' |
        awk -v ms="$3" '
            { off = 1e3 * $1 / ms }
            END { exit !(off > 0.85 && off < 1.15) }'
}

# shellcheck disable=SC2086
run 4 8 10 $counts
cp "$tmp/rows" "$tmp/computed"
verdict 'the same bits on all ranks' sh -c '! grep -q "^not ok" "$1"' sh "$tmp/tap"
# shellcheck disable=SC2086
run 4 8 10 --model $counts
verdict 'where nothing is computed: the same times' cmp "$tmp/computed" "$tmp/rows"
verdict 'there are times' test -s "$tmp/rows"
# shellcheck disable=SC2086
run 32 8 10 --model $counts
while read -r row; do
    floats=${row%% *}
    name=$(chosen 32 8 "$floats")
    verdict "256 ranks, $floats floats: explain's choice ($name) is fast" \
        is_fast "$row" "$name"
done <"$tmp/rows"
# Threads share slices, and lists of short ones.
for scale in aps aps-tight; do
    tight=
    [ $scale = aps ] || tight=--tight
    # shellcheck disable=SC2086 # one word or none
    run 16 1 100 $tight --threads 4 262144 524288
    verdict "four threads, $scale: the same bits on all ranks" \
        sh -c '! grep -q "^not ok" "$1"' sh "$tmp/tap"
    while read -r floats _ seconds _; do
        verdict "... $floats floats: as explain predicts" \
            is_predicted $scale "$floats" "$seconds"
    done <"$tmp/rows"
    # shellcheck disable=SC2086 # one word or none
    run 16 1 100 --model $tight --threads 4 4194304
    verdict "... 4194304 floats: as explain predicts" \
        is_predicted $scale 4194304 "$(awk '{ print $3 }' "$tmp/rows")"
done
echo "1..$count"
exit $result
