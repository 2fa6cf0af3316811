# SPDX-License-Identifier: BSD-3-Clause
# A rank that lacks memory, or whose messages fail, tries again for ten seconds: its
# other calls go on meanwhile.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: calls
rules: [{format: e5m10, reduce: direct, scale: none}]
END

for function in allocation PMPI_Irecv; do
    if can_be_driven; then
        run "$function" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
            "$mpi/patience" $function
    else
        skip "$function" "threads drive all queues with this MPI"
    fi
done
finish
