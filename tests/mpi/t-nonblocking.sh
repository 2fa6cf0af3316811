# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking and persistent all-reduces: driven by the program's calls or by a
# thread, alone or fused.
. "$top_srcdir/tests/mpi/run.sh"

# Rank 1 runs without the library: rank 0 reports it.
half_there()
{
    timeout 10 "$MPIEXEC" -genv APSMPI_TEST_PATIENCE 1000 \
        -n 1 -env LD_PRELOAD "$library" "$mpi/dlsym_late" : \
        -n 1 "$mpi/dlsym_late" </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    grep -q 'rank 0: waits .* APSMPI_WORLD=off' "$tmp/stderr"
    check $? "the library on rank 0 only: rank 0 reports what it waits for"
}
! can_be_driven || beside half_there

while read -r ranks progress fuse rule; do
    can_be_driven || progress=thread
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
fuse: $fuse
rules: [{reduce: direct, $rule}]
END
    run "$ranks ranks, progress $progress, fuse $fuse, $rule" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/nonblocking"
done <<END
1 calls off format: e8m23
2 calls off format: e8m23
2 calls 40KiB format: e8m23
3 calls off format: e5m2, scale: aps
3 calls 40KiB format: e5m2, scale: aps
2 thread off format: e4m3, scale: aps
3 thread 1MiB format: e4m3, scale: aps
4 calls 100KiB format: e3m0, scale: aps
5 calls 64KiB format: e5m10, scale: {fixed: 1024}
8 calls 64KiB format: e4m3, scale: aps
8 thread off format: e4m3, scale: aps
END

# If MPI was started without threads, the calling rank reports the consequence.
if can_be_driven; then
    printf 'version: 1\nmin_count: 1\nrules: [{format: e8m23}]\n' \
        >"$tmp/policy.yaml"
    run "found late" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/dlsym_late"
    grep -q 'stand still .* initialise MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE' \
        "$tmp/stderr"
    check $? "found late: reports that calls cannot progress without threads"

    # Rank 1 has the policy from rank 0, by MPI_Init.
    timeout 30 "$MPIEXEC" -genv LD_PRELOAD "$library" \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/dlsym_late" : \
        -n 1 "$mpi/dlsym_late" </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    check $? "a policy on rank 0 only: found late on both"
    grep -q 'rank 1: .*stand still' "$tmp/stderr"
    check $? "a policy on rank 0 only: rank 1 says what cannot go on, too"
else
    skip "found late" "$MPI passes such calls"
fi
finish
