# SPDX-License-Identifier: BSD-3-Clause
# Roundings are where they are said to be, and nowhere else.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/rounded" policy >"$tmp/policy.yaml"
while read -r ranks nodes cpu; do
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/rounded"
done <<END
2 1 plain
3 2
4 1
5 2:cyclic
END
finish
