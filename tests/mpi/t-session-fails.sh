# SPDX-License-Identifier: BSD-3-Clause
# A session that fails to begin is not counted, and one that fails to end still is: the
# library prints the summary when the last session ends, not when the process does.
. "$top_srcdir/tests/mpi/run.sh"

library=$library:$mpi/.libs/preload_after.so
printf 'version: 1\nrules: [{format: e5m10}]\n' >"$tmp/policy.yaml"
run "mpi_f08" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/session_fails"
if ! grep -q "^1..0" "$tmp/stdout"; then
    sed '/^# the session has ended/q' "$tmp/stderr" |
        grep -q '^apsmpi: 1 eligible call of MPI_Allreduce'
    check $? "the summary comes when the session ends"
fi
finish
