#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the all-reduce bench with the library preloaded, on this node or on the
# hosts of scripts/apsmpi-lab; prints its tables, and leaves CSV and picture in
# tests/bench/ of the build directory.
#
#   allreduce.sh node [OPTION...]      two ranks, and more ranks than cores
#   allreduce.sh recorded [OPTION...]  two ranks sum the gradients of two trainings,
#                                      each call those of the next step
#   allreduce.sh record                records the gradients of the first one
#   allreduce.sh lab [OPTION...]       two and four hosts, 1 and 10 Gbit/s
#   allreduce.sh speed [OPTION...]     the rows of README.md's picture, to
#                                      allreduce-speed.csv and .svg
#
# The options are the bench's own (apsmpi bench --help) and follow those below.
# make bench-allreduce and make bench-lab set the environment; by hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/allreduce.sh node
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
PYTHON3=${PYTHON3:-python3}
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR
bench=$top_builddir/pmpi/bench/apsmpi-bench
library=$top_builddir/.libs/libapsmpi.so
report=$top_srcdir/scripts/apsmpi-report
lab=$top_srcdir/scripts/apsmpi-lab
delay=100us

result=0

# run NAME TITLE LAUNCHER OPTION...: one job, its tables and picture; LAUNCHER
# is words before mpiexec's arguments. If it fails, the next jobs still run.
run()
{
    name=$top_builddir/tests/bench/allreduce-$1
    title=$2
    launcher=$3
    shift 3
    rm -f "$name.csv" "$name.png"
    printf '\n=== %s\n' "$title"
    # shellcheck disable=SC2086
    APSMPI_SUMMARY=off \
        timeout -k 5 900 $launcher -genv LD_PRELOAD "$library" \
        "$bench" "$@" --csv "$name.csv" || {
        echo "allreduce.sh: $title: status $?" >&2
        result=1
    }
    printf '\n--- %s\n' "$title"
    "$PYTHON3" "$report" --bench "$name.csv" --bench-title "$title" \
        --plot "$name.png" ||
        "$PYTHON3" "$report" --bench "$name.csv" --bench-title "$title" ||
        result=1
}

# record TASK OPTION...: two ranks of tests/papers/train.py, whose gradients go to the
# files $records.RANK
record()
{
    records=$top_builddir/tests/bench/recorded-$1
    rm -f "$records".*
    RECORD=$records RECORD_MIN=1 OMP_NUM_THREADS=1 \
        PYTHONPATH=$top_builddir/venv/mpi4py-3 \
        timeout -k 5 300 $launch -n 2 \
        -genv LD_PRELOAD "$top_builddir/tests/figures/.libs/record.so" \
        /usr/bin/python3 "$top_srcdir/tests/papers/train.py" "$@" \
        >"$records.log" 2>&1 || {
        echo "allreduce.sh: no gradients of '$1' (python3-torch," \
            "dataset-fashion-mnist): $records.log" >&2
        exit 1
    }
}

# on_hosts HOSTS RANKS GBIT OPTION...: RANKS of each host, GBIT of each link
on_hosts()
{
    hosts=$1 ranks=$2 gbit=$3
    shift 3
    each="$ranks ranks each"
    [ "$ranks" -gt 1 ] || each='one rank each'
    link="--rate ${gbit}gbit --delay ${delay:-none}"
    run "lab-${hosts}x$ranks-${gbit}gbit" \
        "$hosts hosts, $each, $gbit Gbit/s${delay:+ and $delay}" \
        "$lab --hosts $hosts --ranks-per-host $ranks $link --" \
        --wire-gbit "$gbit" "$@"
}

[ $# -gt 0 ] || set -- help
what=$1
shift
few=floor,half
set -- --formats e5m10,e5m2,e4m3,e3m0 "$@"
case $what in
node)
    run node-2 'one node, 2 ranks' "$launch -n 2" \
        --sizes 1Ki,4Ki,16Ki,64Ki,256Ki,1Mi,4Mi,16Mi,25.6Mi \
        --rows pass,$few,copy \
        --tensors "$top_srcdir/config/layers/resnet50-layers.csv" "$@"
    run node-8 'one node, 8 ranks' "$launch -n 8" \
        --sizes 16Ki,256Ki --rows $few,copy "$@"
    ;;
record | recorded)
    record residual --epochs 1 --examples 1280 --batch 32
    [ "$what" = recorded ] || exit 0
    run recorded-residual 'one node, 2 ranks, gradients of a residual network' \
        "$launch -n 2" --recorded "$records" --cold 8 "$@"
    record transformer --epochs 1 --examples 640
    run recorded-transformer 'one node, 2 ranks, gradients of a transformer' \
        "$launch -n 2" --recorded "$records" --cold 8 "$@"
    ;;
lab | speed)
    status=0
    "$lab" --hosts 2 -- sleep 0.2 || status=$?
    if [ $status -eq 77 ]; then
        echo "allreduce.sh: skipped: there can be no lab here"
        exit 0
    fi
    # The kernel has no netem, and the lab no switch of its own.
    "$lab" --hosts 2 --delay "$delay" -- sleep 0.2 || delay=
    if [ "$what" = speed ]; then
        shift 2 # the formats above
        set -- --formats e5m10,e4m3,e3m0 --rows none "$@"
        on_hosts 2 1 1 --sizes 25.6Mi "$@"
        on_hosts 4 1 1 --sizes 25.6Mi "$@"
        delay=
        on_hosts 2 1 10 --sizes 25.6Mi "$@"
        run node-2 'one node, 2 ranks' "$launch -n 2" --sizes 1Mi,25.6Mi "$@"
        [ $result -eq 0 ] || exit $result
        cd "$top_builddir/tests/bench"
        speed=$top_srcdir/tests/bench/speed.py
        "$PYTHON3" "$speed" table allreduce-lab-2x1-1gbit.csv \
            allreduce-lab-4x1-1gbit.csv allreduce-lab-2x1-10gbit.csv \
            allreduce-node-2.csv >allreduce-speed.csv
        "$PYTHON3" "$speed" picture allreduce-speed.csv >allreduce-speed.svg
        exit
    fi
    set -- --sizes 64Ki,1Mi,4Mi,25.6Mi "$@"
    on_hosts 2 1 1 --rows pass,$few "$@"
    on_hosts 4 1 1 --rows $few "$@"
    on_hosts 2 2 1 --rows $few --reduce hierarchical,direct "$@"
    # At this rate a packet takes less time than its timer, which a delay needs.
    delay=
    on_hosts 2 1 10 --rows pass,$few "$@"
    ;;
*)
    sed -n '/^#!/d; /^# SPDX/d; s/^# \{0,1\}//p; /^set/q' "$0" >&2
    exit 2
    ;;
esac
exit $result
