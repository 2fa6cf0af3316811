#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make sim: the tables of tests/sim/README.md, on 256 simulated ranks.
#
# COUNT is the number of values of the times (default 256 Ki). Leaves what
# compressors take as tests/sim/compressors.csv in the build directory.
. "${top_srcdir:-.}/tests/sim/simulate.sh"
. "${top_srcdir:-.}/tests/sim/compressors.sh"

count=${COUNT:-262144}
groups='4 8 16 32 64'

# table TITLE NODES RANKS GBIT PROGRAM ARG...: the comments of its TAP.
table()
{
    echo "$1"
    shift
    simulate "$@" >"$tmp/tap" || {
        cat "$tmp/tap"
        exit 1
    }
    sed -n 's/^# /  /p' "$tmp/tap"
    echo
}

# compressors NODES RANKS: the sums of a step of ResNet-50 at 10 Gbit/s, also as
# lines of CSV.
compressors()
{
    echo "A step's sums, ResNet-50, hosts and ranks of each: $1 $2, 10 Gbit/s:"
    # shellcheck disable=SC2086 # $policies is a list
    step "$1" "$2" 10 --model $policies >"$tmp/tap" || {
        cat "$tmp/tap"
        exit 1
    }
    sed -n 's/^# /  /p' "$tmp/tap"
    echo
    awk -v hosts="$1" -v ranks="$2" '
        $NF == "MB" && $(NF - 3) == "ms" {
            name = $2
            for (i = 3; i < NF - 4; i++)
                name = name " " $i
            gsub(",", "", name)
            print hosts "," ranks "," name "," $(NF - 4) "," $(NF - 2) \
                "," $(NF - 1)
        }' "$tmp/tap" >>"$sim/compressors.csv"
}

policies=$(policies "$(cd "$top_srcdir" && pwd)/config/layers/resnet50-layers.csv")
echo hosts,ranks,variant,ms,speed_up,mbytes >"$sim/compressors.csv"
# shellcheck disable=SC2086 # $groups is a list
{
    table 'Round-off, Table 9 of the APS paper:' \
        256 1 10 "$sim/roundoff" "$gradients" $groups
    for shape in '256 1' '32 8'; do
        for gbit in 10 100; do
            table "Time, hosts and ranks of each: $shape, $gbit Gbit/s:" \
                $shape $gbit "$sim/times" "$gradients" "$count" $groups
        done
    done
    compressors 256 1
    compressors 32 8
}
