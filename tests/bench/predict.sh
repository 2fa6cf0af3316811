#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Times that apsmpi explain predicts beside measured ones.
#
#   predict.sh lab     on hosts of scripts/apsmpi-lab: apsmpi measure, then the
#                      bench of all-reduces, some minutes
#   predict.sh sim     256 simulated ranks (tests/sim), ten minutes
#
# make predict-table gives the environment; by hand, say
#
#   top_srcdir=. top_builddir=build sh tests/bench/predict.sh lab
#
# HOSTS="2 4" and GBIT="1 10" choose; nothing else should run meanwhile.
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
PYTHON3=${PYTHON3:-python3}
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR
lab=$top_srcdir/scripts/apsmpi-lab
apsmpi=$top_builddir/apsmpi
bench=$top_builddir/tests/bench/allreduce
table="$PYTHON3 $top_srcdir/tests/bench/predict.py $apsmpi"
files=$top_builddir/tests/bench/predict
count=262144

# on_hosts HOSTS GBIT DELAY
on_hosts()
{
    name=$files-$1x1-$2
    title="$1 hosts, one rank each, $2 Gbit/s"
    link="--rate $2gbit --delay $3"
    options='--sizes 64Ki,1Mi,4Mi --formats e5m10,e4m3,e3m0 --reduce direct,ring
        --no-tensors --no-floor --no-half --no-pass --seconds 1'
    # shellcheck disable=SC2086
    {
        timeout -k 5 200 "$lab" --hosts "$1" $link -- "$apsmpi" measure \
            --output "$name-measured.yaml"
        "$bench" policy $options >"$name.yaml"
        APSMPI_POLICY=$name.yaml APSMPI_SUMMARY=off timeout -k 5 300 \
            "$lab" --hosts "$1" $link -- \
            -genv LD_PRELOAD "$top_builddir/.libs/libapsmpi.so" \
            "$bench" $options --csv "$name.csv" >"$name.txt"
        $table lab "$title" "$name-measured.yaml" "$name.csv"
    }
}

# in_simulation HOSTS RANKS GBIT
in_simulation()
{
    simulate "$1" "$2" "$3" "$sim/times" "$gradients" --ports "$3" $count \
        4 8 16 32 64 |
        sed -n "s/^# /$1x$2 $3 $count /p"
}

case ${1-} in
lab)
    status=0
    "$lab" --hosts 2 -- true || status=$?
    if [ $status -eq 77 ]; then
        echo "predict.sh: skipped: there can be no lab here"
        exit 0
    fi
    for gbit in ${GBIT:-1 10}; do
        for hosts in ${HOSTS:-2 4}; do
            # A delay takes a timer a packet, which is too much at 10 Gbit/s.
            delay=none
            [ "$gbit" -gt 1 ] || delay=100us
            on_hosts "$hosts" "$gbit" $delay
        done
    done
    ;;
sim)
    . "$top_srcdir/tests/sim/simulate.sh"
    skip_without_simgrid
    for shape in '256 1' '32 8'; do
        for gbit in 10 100; do
            # shellcheck disable=SC2086
            in_simulation $shape $gbit
        done
    done | $table sim "$top_srcdir/tests/bench/predict-sim.yaml"
    ;;
*)
    sed -n '/^#!/d; /^# SPDX/d; s/^# \{0,1\}//p; /^set/q' "$0" >&2
    exit 2
    ;;
esac
