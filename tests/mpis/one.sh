#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The short list of tests for one MPI: matrix.sh has built the programs in
# $top_builddir/tests/mpi with it. $apsmpi_run is apsmpi-run; $benchmarks is a folder
# with Intel's MPI benchmarks for this MPI, or empty.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/exact" policy >"$tmp/exact.yaml"
for nodes in 1 2; do
    run "exact sums, 4 ranks, nodes $nodes" 4 -genv APSMPI_POLICY "$tmp/exact.yaml" \
        -genv APSMPI_TEST_NODES $nodes "$mpi/exact"
done

progress=calls
can_be_driven || progress=thread
printf 'version: 1\nmin_count: 1\nprogress: %s\nrules: [{format: e4m3, scale: aps}]\n' \
    $progress >"$tmp/nonblocking.yaml"
run "nonblocking sums" 3 -genv APSMPI_POLICY "$tmp/nonblocking.yaml" "$mpi/nonblocking"
if [ -x "$mpi/persistent" ]; then
    printf 'version: 1\nrules: [{format: e3m0, scale: none, reduce: direct}]\n' \
        >"$tmp/persistent.yaml"
    run "persistent sums" 2 -genv APSMPI_POLICY "$tmp/persistent.yaml" \
        "$mpi/persistent" held
else
    skip "persistent sums" "$MPI has none"
fi
"$mpi/other_collectives" policy >"$tmp/others.yaml"
run "reduce-scatters, reductions and all-gathers" 3 \
    -genv APSMPI_POLICY "$tmp/others.yaml" "$mpi/other_collectives"

# job NAME WORD ARG...: runs a job of other programs; $tmp/stdout has the word
printf 'version: 1\nmin_count: 1\nrules: [{format: e4m3}]\n' >"$tmp/policy.yaml"
job()
{
    job_name=$1
    job_word=$2
    shift 2
    timeout "$seconds" "$@" </dev/null >"$tmp/stdout" 2>"$tmp/stderr" &&
        grep -q -e "$job_word" "$tmp/stdout"
    check $? "$job_name"
    grep -q ' rewritten (' "$tmp/stderr"
    check $? "$job_name: is rewritten"
}
# shellcheck disable=SC2086 # a launcher and its options
job "apsmpi-run" '3 sums right' "$apsmpi_run" -p "$tmp/policy.yaml" $MPIEXEC -n 2 \
    "$mpi/probe" sums 3
if [ -x "$mpi/sums" ]; then
    # shellcheck disable=SC2086
    job "a Fortran program" 'right T' $launch -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -n 2 "$mpi/sums"
else
    skip "a Fortran program" "this MPI's compiler wrapper has none"
fi
for benchmark in IMB-MPI1,Allreduce IMB-NBC,Iallreduce; do
    if [ -x "$benchmarks/${benchmark%,*}" ]; then
        # shellcheck disable=SC2086
        job "${benchmark#*,} of Intel's MPI benchmarks" '# Benchmarking' $launch \
            -genv LD_PRELOAD "$library" -genv APSMPI_POLICY "$tmp/policy.yaml" -n 2 \
            "$benchmarks/${benchmark%,*}" -npmin 2 -iter 20 "${benchmark#*,}"
    else
        skip "${benchmark#*,} of Intel's MPI benchmarks" "no package for this MPI"
    fi
done
finish
