# SPDX-License-Identifier: BSD-3-Clause
# Stochastic and correlated rounding in reductions.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/drawn" policy >"$tmp/policy.yaml"
while read -r ranks nodes cpu; do
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/drawn"
done <<END
2 1
4 1
4 2 plain
5 1
END
finish
