#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make sim: the tables of tests/sim/README.md, on 256 simulated ranks.
#
# COUNT is the number of values of the times (default 256 Ki).
. "${top_srcdir:-.}/tests/sim/simulate.sh"

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
}
