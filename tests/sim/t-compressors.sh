#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compressors on two simulated hosts with four ranks each: the same bits on all
# ranks, and the same times whenever they are simulated, whether or not the
# model computes. On the network of ports.h the times are near SimGrid's.
. "${top_srcdir:-.}/tests/sim/simulate.sh"
. "${top_srcdir:-.}/tests/sim/compressors.sh"

skip_without_simgrid
{
    printf 'layer,name,count,shape\n0,a,36864,64x64x3x3\n1,b,1000,1000\n'
    printf '2,c,32768,128x256\n'
} >"$tmp/layers.csv"
policies=$(policies layers.csv)
for run in ports 1 2 3; do
    ports=
    [ $run != ports ] || ports=--ports
    # shellcheck disable=SC2086
    [ $run != 3 ] || policies="--model $(of_known_length $policies)"
    # shellcheck disable=SC2086
    step 2 4 10 $ports $policies >"$tmp/run$run"
    status=$?
    if [ "$status" -ne 0 ]; then
        cat "$tmp/run$run"
        echo "Bail out! simulation $run ended with status $status"
        exit 1
    fi
done
count=$(grep -c '^ok\|^not ok' "$tmp/run1")
sed '/^1\.\./d' "$tmp/run1"
sed '/^1\.\./d; /^ok/d' "$tmp/runports"
# row_times FILE: the rows that both simulate in the same way; native times are
# extrapolated if nothing is computed
row_times()
{
    sed -n '/native\|mstopk-[dh]/!s/\( ms \).* \([0-9.]* MB\)/\1 \2/p' "$tmp/$1"
}

# near FILE FILE: rows of the same names, whose times differ by a tenth at most
near()
{
    awk '
        $NF != "MB" { next }
        FNR == NR { time[$2] = $3; rows++; next }
        $3 > 0.9 * time[$2] && $3 < 1.1 * time[$2] { rows-- }
        END { exit rows != 0 }' "$1" "$2"
}

# verdict NAME COMMAND...
verdict()
{
    count=$((count + 1)) verdict=ok name=$1
    shift
    "$@" || verdict='not ok' result=1
    echo "$verdict $count - $name"
}

result=0
row_times run1 >"$tmp/times1"
row_times run3 >"$tmp/times3"
verdict 'simulated again: the same times' cmp "$tmp/run1" "$tmp/run2"
verdict 'there are times' test -s "$tmp/times1"
verdict 'where nothing is computed: the same times' \
    cmp "$tmp/times1" "$tmp/times3"
# SimGrid sends messages inside a host at the same time, and native ones for free.
grep -v 'native\|mstopk-hierarchical' "$tmp/run1" >"$tmp/flows"
grep -v 'native\|mstopk-hierarchical' "$tmp/runports" >"$tmp/ports"
verdict 'by ports: the same bits on all ranks' \
    sh -c '! grep -q "^not ok" "$1"' sh "$tmp/runports"
verdict 'by ports: times that differ by a tenth at most' \
    near "$tmp/flows" "$tmp/ports"
echo "1..$count"
exit $result
