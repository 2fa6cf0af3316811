# SPDX-License-Identifier: BSD-3-Clause
# Every reduction in block formats: a block's bits depend only on the layer, not
# on ranks, groups or neighbours.
. "$top_srcdir/tests/mpi/run.sh"

turn=0
while read -r ranks nodes cpu; do
    "$mpi/blocks" $turn policy >"$tmp/policy.yaml"
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/blocks" $turn
    turn=$((turn + 4))
done <<END
2 1 plain
3 2 avx2
4 2:cyclic
7 3
END

"$mpi/blocks" 2 policy >"$tmp/policy.yaml"
run "INF and NaN" 4 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    -genv APSMPI_TEST_NODES 2 "$mpi/blocks" 2 nonfinite
finish
