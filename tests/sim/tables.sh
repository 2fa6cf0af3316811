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

# compressors NAME NODES RANKS [--model] POLICY...: the sums of a step of the layers of
# that name at 10 Gbit/s, by the network of ports.h; also as lines of CSV.
compressors()
{
    layers=$1 nodes=$2 ranks=$3
    shift 3
    echo "A step's sums, $layers, hosts and ranks of each: $nodes $ranks, 10 Gbit/s:"
    (step "$nodes" "$ranks" 10 --ports "$@") >"$tmp/tap" || {
        cat "$tmp/tap"
        exit 1
    }
    sed -n 's/^# /  /p' "$tmp/tap"
    echo
    awk -v layers="$layers" -v hosts="$nodes" -v ranks="$ranks" '
        $NF == "MB" && $(NF - 3) == "ms" {
            name = $2
            for (i = 3; i < NF - 4; i++)
                name = name " " $i
            gsub(",", "", name)
            print layers "," hosts "," ranks "," name "," $(NF - 4) "," $(NF - 2) \
                "," $(NF - 1)
        }' "$tmp/tap" >>"$sim/compressors.csv"
}

echo layers,hosts,ranks,variant,ms,speed_up,mbytes >"$sim/compressors.csv"
printf 'layer,name,count,shape\n0,a,262144,256x1024\n1,b,131072,512x256\n' \
    >"$tmp/small.csv"
resnet50=$(cd "$top_srcdir" && pwd)/config/layers/resnet50-layers.csv
# shellcheck disable=SC2046,SC2086 # $groups is a list, and so are policies
{
    table 'Round-off, Table 9 of the APS paper:' \
        256 1 10 "$sim/roundoff" "$gradients" $groups
    for shape in '256 1' '32 8'; do
        for gbit in 10 100; do
            table "Time, hosts and ranks of each: $shape, $gbit Gbit/s:" \
                $shape $gbit "$sim/times" "$gradients" "$count" $groups
        done
    done
    for shape in '256 1' '32 8'; do
        compressors ResNet-50 $shape --model \
            $(of_known_length $(policies "$resnet50"))
        compressors '384 Ki values' $shape $(policies small.csv)
    done
}
