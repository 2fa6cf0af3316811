# SPDX-License-Identifier: BSD-3-Clause
# The library's reductions in FP32 are the FP32 sum in rank order.
. "$top_srcdir/tests/mpi/run.sh"

"$mpi/exact" policy >"$tmp/policy.yaml"
while read -r ranks nodes handoff; do
    run "$ranks ranks, nodes $nodes${handoff:+, }$handoff" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_HANDOFF "$handoff" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/exact"
done <<END
1 1
2 1
2 2
3 1 stream
3 2
4 1
4 2:cyclic
7 1
7 3 stream
8 1
8 2
8 3:cyclic
END
finish
