#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Seconds of 300 nonblocking sums that their ranks test in a loop, with fewer cores than
# ranks. Prints medians of JOBS (5) jobs: native MPI, native MPI whose ranks give their
# cores away while they wait (tests/tap/yield.c), and the library with and without a
# progress thread. By hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/polled.sh
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
library=${APS_TEST_LIBRARY:-$top_builddir/.libs/libapsmpi.so}
bench=$top_builddir/tests/bench/polled
JOBS=${JOBS:-5}

for progress in calls thread; do
    printf 'version: 1\nprogress: %s\nrules: [{format: e4m3, scale: aps}]\n' \
        $progress >"$bench-$progress.yaml"
done

# measure VARIANT RANKS CORES CALL
measure()
{
    ours="-genv LD_PRELOAD $library -genv APSMPI_SUMMARY off"
    ours="$ours -genv APSMPI_POLICY $bench-$1.yaml"
    case $1 in
    native) ours= ;;
    yielding) ours="-genv LD_PRELOAD $top_builddir/tests/tap/.libs/yield.so" ;;
    esac
    # shellcheck disable=SC2086 # lists of words
    timeout -k 5 120 taskset -c "$3" $launch $ours -n "$2" "$bench" "$4" \
        </dev/null >>"$bench-$1.txt"
}

printf '%-24s %8s %8s %8s %8s\n' '' native yielding calls thread
for ranks in '2 0' '4 0,1'; do
    for call in test testall testsome; do
        rm -f "$bench"-*.txt
        for _ in $(seq "$JOBS"); do
            for variant in native yielding calls thread; do
                # shellcheck disable=SC2086 # two words
                measure $variant $ranks $call
            done
        done
        printf '%-24s' "${ranks% *} ranks on ${ranks#* }, $call"
        for variant in native yielding calls thread; do
            sort -n "$bench-$variant.txt" | awk '{ x[NR] = $1 }
                END { printf " %8.3f", x[int((NR + 1) / 2)] }'
        done
        echo
    done
done
