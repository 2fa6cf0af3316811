# SPDX-License-Identifier: BSD-3-Clause
# A program that tests its requests in a loop leaves the core to other ranks.
. "$top_srcdir/tests/mpi/run.sh"

for progress in calls thread; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
rules: [{format: e4m3, scale: aps}]
END
    run "progress: $progress" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/polled"
done
finish
