# SPDX-License-Identifier: BSD-3-Clause
# Layers that compressors take: the same bits on all ranks; nothing is lost except by
# design; later steps send what feedback kept; INF and NaN arrive, and harm nothing.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/layers.csv" <<END
layer,name,count,shape
0,one,3072,64x48
1,two,2310,33x7x10
2,vector,500,500
3,square,16384,
END
while read -r ranks nodes whole feedback rule; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
table: layers.csv
rules: [{feedback: $feedback, $rule}]
END
    case $rule in
    *'reduce: hierarchical'*) groups=$nodes ;;
    *) groups=1 ;;
    esac
    run "$ranks ranks, nodes $nodes, feedback $feedback, $rule" \
        "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/compress" "$whole" "$feedback" "$groups"
done <<END
2 1 1 on reduce: direct, compress: {powersgd: {rank: 1, min_ratio: 1}}
3 1 2 on reduce: hierarchical, compress: {powersgd: {rank: 2, min_ratio: 1}}
4 2 4 on reduce: hierarchical, node: fp32, compress: {powersgd: {rank: 4, min_ratio: 1}}
3 1 3 off reduce: ring, compress: {powersgd: {rank: 3, min_ratio: 1}}
2 1 4 off reduce: gather, compress: {powersgd: {rank: 4, min_ratio: 1}}
4 1 2 on reduce: master, group: 2, compress: {powersgd: {rank: 2, min_ratio: 1}}
2 1 0 on compress: {mstopk+powersgd: {rank: 8, density: 0.3, min_ratio: 1}}
3 1 2 off compress: {mstopk+powersgd: {rank: 2, density: 1, min_ratio: 1}}
2 1 0 on format: e3m0
3 1 0 on format: e3m0, scale: aps
4 1 0 on format: sign/64, reduce: direct
3 1 0 on format: bfp3/64
2 1 0 on compress: {mstopk: 0.05}
3 1 0 on format: e4m3, reduce: gather, compress: {mstopk: 0.05}
3 1 0 off compress: {topk: 0.1}
2 1 0 on format: bf16, scale: none, compress: {topk: 0.1}
2 1 0 on compress: {threshold: {value: 1.2, density: 0.3}}
2 1 0 on reduce: direct, compress: {mstopk: 0.05}
3 1 0 on format: e4m3, scale: aps-tight, reduce: direct, compress: {topk: 0.05}
4 1 0 off reduce: direct, compress: {topk: 0.1}
3 1 0 on reduce: direct, compress: {threshold: {value: 1.2, density: 0.3}}
3 1 5 on reduce: direct, compress: {topk: 1}
2 1 0 on reduce: hierarchical, compress: {mstopk: 0.05}
4 2 0 on format: e4m3, scale: aps-tight, reduce: hierarchical, compress: {topk: 0.05}
3 2 0 off reduce: hierarchical, compress: {topk: 0.1}
4 2 5 on reduce: hierarchical, compress: {topk: 1}
2 1 0 on reduce: direct, compress: {chunks: {density: 0.3, size: 64}}
3 1 0 on format: e4m3, scale: aps, compress: {chunks: {density: 0.3, size: 64}}
4 2 0 off format: bf16, scale: aps, reduce: hierarchical, compress: {chunks: {density: 0.3, size: 64}}
2 1 5 on compress: {mstopk: 1}
3 1 5 off compress: {topk: 1}
END
printf 'version: 1\nmin_count: 1\nrules: [{compress: {mstopk: 0.05}, feedback: off}]\n' \
    >"$tmp/policy.yaml"
run "counts that vary without end" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/compress" counts
finish
