# SPDX-License-Identifier: BSD-3-Clause
# Persistent all-reduces, in different orders, and with a policy on one rank.
. "$top_srcdir/tests/mpi/run.sh"

if ! grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' "$top_builddir/config.h"; then
    skip "persistent all-reduces" "$MPI has none"
    finish
fi
printf 'version: 1\nrules: [{format: e3m0, scale: none, reduce: direct}]\n' \
    >"$tmp/policy.yaml"

for ranks in 2 4; do
    run_mpiexec "a policy on rank 0 only, $ranks ranks" \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/persistent" held : \
        -n $((ranks - 1)) "$mpi/persistent" held
done
printf 'version: 1\nrules: [{format: e8m23}]\n' >"$tmp/exact.yaml"
run reused 2 -genv APSMPI_POLICY "$tmp/exact.yaml" "$mpi/persistent" reused
for what in swapped mixed; do
    run "$what" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/persistent" $what
    says 'persistent all-reduces are left to MPI' 1 "$what: one line says why"
    case $what in swapped) starts=6 ;; *) starts=3 ;; esac
    says "passed: $starts (persistent, by mpi_f08 or without an asserted order)" 1 \
        "$what: each start is counted"
done
run "no policy" 2 "$mpi/persistent" swapped
says '6 calls of MPI_Allreduce, none rewritten (no policy)' 1 \
    "no policy: each start is counted"
finish
