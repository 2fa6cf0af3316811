#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the times that apsmpi explain predicts with measured ones.
#
#   predict.sh lab     on hosts of scripts/apsmpi-lab: apsmpi measure, then the
#                      bench of all-reduces, a minute a case
#   predict.sh sim     256 simulated ranks (tests/sim), some minutes
#
# make predict-table and make predict-table-sim set the environment; by hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/predict.sh lab
#
# HOSTS="2" and RATE="1gbit" choose cases of the lab, SIZES=1Mi, FORMATS=e4m3 and
# REDUCE=direct rows. A link's burst of 128 KiB, which the lab's shaping does not delay,
# is a small part of the bytes of a call at these sizes. Four hosts share the cores of
# this machine: with 100 Mbit/s their links bound them, with more the cores' time for
# MPICH's waits.
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
PYTHON3=${PYTHON3:-python3}
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR
lab=$top_srcdir/scripts/apsmpi-lab
apsmpi=$top_builddir/apsmpi
bench=$top_builddir/pmpi/bench/apsmpi-bench
table="$PYTHON3 $top_srcdir/tests/bench/predict.py $apsmpi"
files=$top_builddir/tests/bench/predict
count=262144

# on_hosts HOSTS RATE DELAY SIZES
on_hosts()
{
    name=$files-$1x1-$2
    title="$1 hosts, one rank each, $2, $(nproc) cores"
    link="--rate $2 --delay $3"
    options="--sizes ${SIZES:-$4} --formats ${FORMATS:-e5m10,e4m3,e3m0}
        --reduce ${REDUCE:-direct,ring} --rows none --seconds 1"
    # shellcheck disable=SC2086
    {
        timeout -k 5 200 "$lab" --hosts "$1" $link -- "$apsmpi" measure \
            --output "$name-measured.yaml"
        APSMPI_SUMMARY=off timeout -k 5 300 \
            "$lab" --hosts "$1" $link -- \
            -genv LD_PRELOAD "$top_builddir/.libs/libapsmpi.so" \
            "$bench" $options --csv "$name.csv" >"$name.txt"
        $table lab "$title" "$name-measured.yaml" "$name.csv"
    }
}

# A delay needs a timer for each packet, which is too slow at 10 Gbit/s.
cases()
{
    cat <<'CASES'
2 1gbit 100us 1Mi,4Mi,16Mi
2 10gbit none 1Mi,4Mi,16Mi
4 100mbit 100us 256Ki,1Mi
4 1gbit 100us 1Mi,4Mi
4 10gbit none 1Mi,4Mi
CASES
}

# wanted WORD LIST: true if LIST is empty or has WORD
wanted()
{
    case " ${2:-$1} " in
    *" $1 "*) ;;
    *) return 1 ;;
    esac
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
    "$lab" --hosts 2 -- sleep 0.2 || status=$?
    if [ $status -eq 77 ]; then
        echo "predict.sh: skipped: there can be no lab here"
        exit 0
    fi
    cases | while read -r hosts rate delay sizes; do
        ! wanted "$hosts" "${HOSTS-}" || ! wanted "$rate" "${RATE-}" ||
            on_hosts "$hosts" "$rate" "$delay" "$sizes" </dev/null
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
