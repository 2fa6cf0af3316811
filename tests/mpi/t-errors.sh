# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments get MPI's own answer.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/policy.yaml" <<END
version: 1
rules: [{format: e5m2}]
END
run "2 ranks" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/errors"
library=$library:$mpi/.libs/behind.so
run "2 ranks, a profiler behind" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/errors" behind
finish
