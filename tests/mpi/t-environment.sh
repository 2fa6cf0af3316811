# SPDX-License-Identifier: BSD-3-Clause
# The program's floating-point environment neither changes the results nor is changed.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/environment" policy >"$tmp/policy.yaml"
while read -r name rank when; do
    rm -f "$tmp/log.csv"
    run "$name on rank $rank at $when" 3 \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_LOG "$tmp/log.csv" \
        "$mpi/environment" "$name" "$rank" "$when"
done <<END
default 0 call
flush 1 call
upward 1 call
traps 1 call
traps 0 call
flush 1 init
upward 1 init
upward 0 init
END
finish
