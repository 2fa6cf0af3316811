# SPDX-License-Identifier: BSD-3-Clause
# 1,500 communicators at a time, with a sum on each: MPI has context ids for the
# program's communicators, not for equally many of the library.
. "$top_srcdir/tests/mpi/run.sh"

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/$progress.yaml" <<END
version: 1
min_count: 1
progress: $progress
rules: [{format: e5m10}]
END
    run "progress: $progress, nonblocking" 2 \
        -genv APSMPI_POLICY "$tmp/$progress.yaml" "$mpi/many_communicators" \
        nonblocking
done
run "blocking" 2 -genv APSMPI_POLICY "$tmp/thread.yaml" \
    "$mpi/many_communicators" blocking
run "nonblocking, then blocking" 2 -genv APSMPI_POLICY "$tmp/thread.yaml" \
    "$mpi/many_communicators" both

if [ -n "${APS_TEST_LONG:-}" ]; then
    run "tags that a rank still uses" 2 -genv APSMPI_POLICY "$tmp/thread.yaml" \
        "$mpi/late_tags"
    # a communicator that gets no other block of tags
    said='apsmpi: 9017 eligible calls of MPI_Allreduce, 901[67] rewritten'
    grep -q "^$said" "$tmp/stderr"
    check $? "all but one call, at most, are rewritten"
else
    skip "tags that a rank still uses" "it takes 15 s: make check-long"
fi
finish
