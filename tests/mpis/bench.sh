#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make bench-mpis: `apsmpi bench` with the MPIs below, on two ranks of this node, which
# sum the recorded gradients of a residual network and touch 8 MiB of other memory
# between two calls. Leaves CSV in mpis/ of the build directory, and prints a table.
# MPIS names some of the MPIs; BENCH_FLAGS are more options of the bench. BENCH=calls
# times the other collectives by tests/bench/calls.c.
set -u
unset LD_LIBRARY_PATH

mpis=$top_builddir/mpis
tap=$top_srcdir/tests/tap
records=$top_builddir/tests/bench/recorded-residual
PYTHON3=${PYTHON3:-python3}
export top_srcdir top_builddir PYTHON3
. "$top_srcdir/tests/mpis/rows.sh"

# compiled PROGRAM SOURCE...: true if this MPI compiles the bench
compiled()
{
    program=$1
    shift
    # shellcheck disable=SC2086 # a compiler and its options
    $compiler -std=gnu11 -O2 -w -I"$build" -I"$build/src" -I"$top_srcdir/src" \
        -I"$top_srcdir" -I"$top_srcdir/pmpi" -o "$program" "$@" \
        "$top_srcdir/pmpi/native/element.c" \
        "$top_srcdir/src/cli/arguments.c" "$build/.libs/libpolicy.a" \
        "$build/.libs/libcore.a" "$LIBYAML" -lm -lpthread
}

# measured NAME [ARGUMENT of the bench]...: one MPI
measured()
{
    row "$1"
    result=$mpis/bench-$1
    [ "$BENCH" = allreduce ] || result=$mpis/bench-$BENCH-$1
    shift
    rm -f "$result.csv"
    # shellcheck disable=SC2086 # a list of words
    [ "$reason" ] || compiled "$result" $sources >"$result.log" 2>&1 ||
        reason="cannot compile the bench: $result.log"
    if [ "$reason" ]; then
        echo "bench.sh: $reason" >&2
        return
    fi
    # shellcheck disable=SC2016 # for the shell that reads $tap/mpi.sh
    MPI=$abi MPIEXEC=$launcher sh -c '. "$0/mpi.sh"
        OMPI_MCA_mpi_yield_when_idle=0
        APSMPI_SUMMARY=off
        export APSMPI_SUMMARY
        timeout -k 5 900 $launch -n 2 -genv LD_PRELOAD "$@"' "$tap" \
        "$build/.libs/libapsmpi.so" "$result" --csv "$result.csv" "$@" \
        >"$result.log" 2>&1 || {
        echo "bench.sh: $(tail -n 1 "$result.log")" >&2
        rm -f "$result.csv"
        return 1
    }
}

mkdir -p "$mpis"
BENCH=${BENCH:-allreduce}
MPIS=${MPIS:-mpich-debian mpich-5 intel openmpi-5}
case $BENCH in
allreduce)
    sh "$top_srcdir/tests/bench/allreduce.sh" record || exit
    sources="$(echo "$top_srcdir"/pmpi/bench/*.c) $top_srcdir/pmpi/measure/output.c"
    set -- --formats e4m3 --rows floor,types,copy --cold 8 --recorded "$records" \
        --sizes 1Ki,4Ki,16Ki,64Ki,128Ki,1Mi,4Mi,25.6Mi "$@"
    ;;
calls)
    sources=$top_srcdir/tests/bench/calls.c
    set -- 1024 4096 16384 131072 1048576 4194304 "$@"
    APSMPI_POLICY=$mpis/calls.yaml
    export APSMPI_POLICY
    {
        calls='calls: [reduce, reduce_scatter, allgather, bcast]'
        printf 'version: 1\nmin_count: 1\nrules:\n'
        for n in "$@"; do
            echo "- {$calls, min_count: $n, max_count: $n, format: e4m3, reduce: auto}"
        done
        echo "- {$calls, format: e4m3}"
    } >"$APSMPI_POLICY"
    ;;
esac
status=0
for mpi in $MPIS; do
    (measured "$mpi" "$@") || status=1
done
case $BENCH in
allreduce)
    # shellcheck disable=SC2086 # a list of words
    "$PYTHON3" "$top_srcdir/tests/mpis/bench.py" "$mpis" $MPIS || status=1
    ;;
calls)
    for mpi in $MPIS; do
        [ ! -f "$mpis/bench-calls-$mpi.csv" ] ||
            sed "s/^/$mpi,/" "$mpis/bench-calls-$mpi.csv"
    done
    ;;
esac
exit $status
