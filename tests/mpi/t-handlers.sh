# SPDX-License-Identifier: BSD-3-Clause
# The program's error handlers while the library waits in place of MPI.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/policy.yaml" <<END
version: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    run "progress $progress" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/handlers"
done
finish
