# SPDX-License-Identifier: BSD-3-Clause
# 1,500 communicators at a time, with a sum on each: MPI has context ids for the
# program's communicators, not for as many of the library's.
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
finish
