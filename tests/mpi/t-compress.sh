# SPDX-License-Identifier: BSD-3-Clause
# Layers that PowerSGD takes: the same bits on all ranks, low ranks whole, what
# was left out comes later, INF and NaN arrive and harm nothing.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/layers.csv" <<END
layer,name,count,shape
0,one,3072,64x48
1,two,2310,33x7x10
2,vector,500,500
3,square,16384,
END
while read -r ranks nodes rank feedback rule; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
table: layers.csv
rules:
  - {compress: {powersgd: {rank: $rank, min_ratio: 1}},
     feedback: $feedback, $rule}
END
    run "$ranks ranks, nodes $nodes, rank $rank, feedback $feedback, $rule" \
        "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/compress" "$rank" "$feedback"
done <<END
2 1 1 on reduce: direct
3 1 2 on reduce: hierarchical
4 2 4 on reduce: hierarchical, node: fp32
3 1 3 off reduce: ring
2 1 4 off reduce: gather
4 1 2 on reduce: master, group: 2
END
finish
