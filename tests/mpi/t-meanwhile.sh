# SPDX-License-Identifier: BSD-3-Clause
# What blocks while a nonblocking reduction is under way lets it go on.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/policy.yaml" <<END
version: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    for mode in calls threads; do
        run "progress $progress, $mode" 2 \
            -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/meanwhile" $mode
    done
    run "progress $progress, 4 MiB of thread-local variables" 2 \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/meanwhile_locals" calls
done
finish
