#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A C++ program with MPI_THREAD_MULTIPLE.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

compiler=$(echo "$MPICC" | sed 's/mpicc/mpicxx/')
"$compiler" -std=c++17 -O1 -o sums "$top_srcdir/tests/e2e/sums.cpp" -pthread \
    >reason 2>&1 ||
    skip_all "no C++ compiler for MPI: $(tail -n 1 reason)"
diag "compiled by $compiler"

native 2 ./sums
check 'it works without the library' has out right

policy exact.yaml 'format: e8m23'
policy threads.yaml -t 'progress: thread' 'format: e8m23'
for ranks in 1 2 3 4; do
    for policy in exact threads; do
        job "$ranks" APSMPI_POLICY="$policy.yaml" ./sums
        check "$policy.yaml, $ranks ranks: exact sums" has out right
        check '... and a good end' status_is 0
        [ "$ranks" -eq 1 ] || check '... all rewritten' \
            has err ' 200 rewritten (100.0 %, '
    done
done

finish
