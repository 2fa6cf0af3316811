# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking all-reduces that are reduced together have the results of single ones.
. "$top_srcdir/tests/mpi/run.sh"

while read -r ranks nodes rule; do
    progress=calls
    can_be_driven || progress=thread
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
fuse: 64KiB
rules: [{$rule}]
END
    run "$ranks ranks, nodes $nodes, $rule" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/fused"
    says '/policy.yaml rewrites its first call, an MPI_' 1 \
        "$ranks ranks, nodes $nodes, $rule: the first call is reported"
done <<END
2 1 reduce: direct, format: e3m0, scale: aps
3 1 reduce: direct, format: e4m3, scale: aps-tight
4 1 reduce: direct, format: e5m10, scale: none, accumulate: format
3 1 reduce: ring, format: e3m0, scale: none
4 1 reduce: ring, format: e4m3, scale: aps, accumulate: format
3 1 reduce: ring, format: e5m10, scale: aps-tight
2 1 reduce: ring, format: e5m10, scale: none
5 1 reduce: master, group: 2, format: e4m3, scale: aps, accumulate: format
4 1 reduce: master, group: 2, format: e3m0, scale: none
5 1 reduce: master, group: 2, format: e5m10, scale: aps-tight
3 1 reduce: master, group: 3, format: e4m3, scale: aps
2 1 reduce: hierarchical, format: e3m0, scale: aps
3 1 reduce: hierarchical, format: e4m3, scale: aps-tight
4 2 reduce: hierarchical, format: e4m3, scale: aps, accumulate: format
5 3:cyclic reduce: hierarchical, format: e5m10, scale: aps-tight
5 2 reduce: hierarchical, format: e3m0, scale: none
4 2 reduce: hierarchical, format: e4m3, scale: aps, node: fp32
3 1 reduce: hierarchical, format: e4m3, scale: aps, node: fp32
3 3 reduce: hierarchical, format: e4m3, scale: aps
3 1 reduce: gather, format: e4m3, scale: aps, accumulate: kahan
2 1 reduce: gather, format: e3m0, scale: none, accumulate: format
3 1 reduce: direct, format: bfp7/576
4 2 reduce: hierarchical, format: nvfp4
5 3:cyclic reduce: hierarchical, format: bfp7/1024, accumulate: format
3 1 reduce: ring, format: mx-e4m3fn, accumulate: format
2 1 reduce: ring, format: bfp15/1008
5 1 reduce: master, group: 2, format: bfp3/96
3 1 reduce: gather, format: nvfp4
END
finish
