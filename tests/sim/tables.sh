#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make sim: the tables of tests/sim/README.md, on 256 simulated ranks.
#
# COUNT is the number of values of the times (default 256 Ki). TABLES names some
# of them: roundoff, times, scale, threads, compressors. Leaves the times of compressors
# as tests/sim/compressors.csv in the build directory.
. "${top_srcdir:-.}/tests/sim/simulate.sh"
. "${top_srcdir:-.}/tests/sim/compressors.sh"

count=${COUNT:-262144}
groups='4 8 16 32 64'

# table TITLE NODES RANKS GBIT PROGRAM ARG...: prints the comments of its TAP.
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

# wanted NAME: true if TABLES has the table.
wanted()
{
    case " ${TABLES:-$1} " in
    *" $1 "*) ;;
    *) return 1 ;;
    esac
}

# scale HOSTS RANKS GBIT [--tight] [--threads N] COUNT...
scale()
{
    hosts=$1 ranks=$2 gbit=$3
    shift 3
    echo "Time over size, hosts and ranks of each: $hosts $ranks, $gbit Gbit/s, $*:"
    (over_size "$hosts" "$ranks" "$gbit" --model "$@") >"$tmp/tap" || {
        cat "$tmp/tap"
        exit 1
    }
    sed -n 's/^# /  /p' "$tmp/tap"
    echo
}

# compressors NAME NODES RANKS [--model] POLICY...: prints the sums of a step with the
# layers NAME at 10 Gbit/s, on the network of ports.h; also as lines of CSV.
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
    ! wanted roundoff || table 'Round-off, Table 9 of the APS paper:' \
        256 1 10 "$sim/roundoff" "$gradients" $groups
    for shape in '256 1' '32 8'; do
        for gbit in 10 100; do
            ! wanted times ||
                table "Time, hosts and ranks of each: $shape, $gbit Gbit/s:" \
                    $shape $gbit "$sim/times" "$gradients" --ports $gbit \
                    "$count" $groups
        done
    done
    for gbit in 10 100; do
        wanted scale || continue
        scale 32 8 $gbit 1024 16384 262144 4194304
        scale 256 1 $gbit 1024 16384 262144 4194304
        scale 128 8 $gbit 16384 1048576
        scale 1024 1 $gbit 16384 1048576
    done
    for gbit in 100 400; do
        for tight in '' --tight; do
            for threads in 1 2 4 8; do
                ! wanted threads || scale 16 1 $gbit $tight --threads $threads \
                    262144 4194304 26843546
            done
        done
    done
    for shape in '256 1' '32 8'; do
        wanted compressors || continue
        compressors ResNet-50 $shape --model \
            $(of_known_length $(policies "$resnet50"))
        compressors '384 Ki values' $shape $(policies small.csv)
    done
}
