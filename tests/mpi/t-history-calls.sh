# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state, and compressors, give the same bits for all kinds of calls.
. "$top_srcdir/tests/mpi/run.sh"

driven=calls
can_be_driven || driven=thread

# A sampled call is reduced alone, in its order.
while read -r ranks nodes steps progress fuse every rule; do
    [ "$progress" = calls ] && progress=$driven
    [ "$steps" = none ] && setting= || setting="steps: {calls: $steps}"
    [ "$every" = - ] && log= || log="log: {file: $tmp/log.csv, every: $every}"
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
fuse: $fuse
$setting
$log
rules: [{format: e5m2, $rule}]
END
    rm -f "$tmp/log.csv"
    where="$ranks ranks, nodes $nodes, steps $steps, $progress, $fuse"
    run "$where, every $every, $rule" \
        "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/history_calls"
done <<END
3 1 none calls 64KiB - reduce: direct, scale: {backoff: {window: 2}}
2 1 8 calls 64KiB - reduce: direct, scale: {backoff: {window: 2, scope: layer}}
3 1 8 calls 64KiB - reduce: ring, scale: {backoff: {window: 2}}
2 1 8 thread 64KiB - reduce: direct, scale: {backoff: {window: 2}}
3 1 8 thread off - reduce: gather, scale: {logmax: {max: 2^20}}
4 2 8 calls 64KiB - reduce: hierarchical, scale: {logmax: {max: 2^20}}
2 1 none calls 64KiB - reduce: direct, scale: logmax
3 1 8 calls 64KiB - reduce: hierarchical, scale: underflow
2 1 none thread 64KiB - reduce: direct, scale: {underflow: {every: 3, model: log-normal}}
3 1 none calls 64KiB - reduce: master, group: 2, scale: {unit: {steps: 2}}
2 1 8 calls 64KiB - reduce: direct, accumulate: format, scale: autoflex
3 2 none calls 64KiB - reduce: hierarchical, scale: {autoflex: {window: 4}}
4 1 8 calls 64KiB - reduce: ring, accumulate: format, scale: delayed
2 1 none calls off - reduce: direct, scale: {delayed: {history: 3}}
3 1 8 calls 64KiB - reduce: gather, accumulate: kahan, scale: dfxp
2 1 none calls 64KiB 3 reduce: direct, scale: {backoff: {window: 2}}
2 1 none thread 64KiB 2 reduce: direct, scale: {delayed: {history: 3}}
2 1 8 calls 64KiB - reduce: direct, compress: {powersgd: {rank: 1, min_ratio: 1}}
3 1 8 thread 64KiB - reduce: ring, compress: {powersgd: {rank: 2, min_ratio: 1}}
3 2 8 calls 64KiB 5 reduce: hierarchical, compress: {powersgd: {rank: 2, warm: off}}
2 1 8 calls 64KiB - compress: {mstopk: 0.05}
3 1 8 calls 64KiB - feedback: on
3 1 8 thread 64KiB - compress: {threshold: {value: 0.01, density: 0.2}}
END
finish
