# SPDX-License-Identifier: BSD-3-Clause
# Of a call that fails on all ranks compressors remember nothing.
. "$top_srcdir/tests/mpi/run.sh"

if ! can_be_driven; then
    skip "a call that fails on all ranks" "it needs layers that go together"
    finish
fi
library=$mpi/.libs/inject.so:$library
while read -r ranks rule; do
    cat >"$tmp/policy.yaml" <<EOF
version: 1
min_count: 1
steps: {calls: 2}
fuse: 1MiB
rules: [{$rule}]
EOF
    run "$ranks ranks, $rule" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/undone"
done <<END
2 format: e3m0, feedback: on
3 compress: {powersgd: {rank: 1, min_ratio: 1}}
3 reduce: direct, format: e4m3, compress: {topk: 0.1}
3 reduce: hierarchical, format: e4m3, compress: {topk: 0.1}
3 format: e4m3, compress: {chunks: {density: 0.3, size: 50}}
END
finish
