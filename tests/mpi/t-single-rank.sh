# SPDX-License-Identifier: BSD-3-Clause
# MPI_Comm_idup of a communicator of one process while nonblocking reductions begin.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    for ranks in 2 3; do
        run "progress $progress, $ranks ranks" $ranks \
            -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/single_rank"
    done
done
finish
