# SPDX-License-Identifier: BSD-3-Clause
# Selected elements, by every reduction that can send them: nothing is lost over
# a thousand steps, a density of 1 loses nothing, and bytes follow the formula.
. "$top_srcdir/tests/mpi/one_rule.sh"

# selected NAME RANKS NODES ARG...: sets $results
selected()
{
    name=$1 ranks=$2 nodes=$3
    shift 3
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/selected" "$@"
    results=$(sed -n 's/^# results //p' "$tmp/stdout" "$tmp/stderr")
}

while read -r ranks nodes rule; do
    policy "$rule" 'steps: {calls: 3}'
    selected "$ranks ranks, nodes $nodes, $rule" "$ranks" "$nodes" telescope
done <<END
2 1 compress: {mstopk: 0.05}
2 1 reduce: direct, compress: {mstopk: 0.05}
3 1 reduce: direct, compress: {topk: 0.02}
4 1 reduce: direct, format: e4m3, scale: aps-tight, compress: {topk: 0.1}
3 1 reduce: direct, format: e3m0, scale: aps-tight, compress: {mstopk: 0.9}
2 1 reduce: hierarchical, compress: {mstopk: 0.05}
4 2 reduce: hierarchical, compress: {topk: 0.02}
3 2 reduce: hierarchical, format: e4m3, scale: aps-tight, compress: {topk: 0.1}
3 1 reduce: ring, compress: {chunks: {density: 0.3, size: 50}}
3 1 format: e4m3, scale: aps, compress: {chunks: {density: 0.3, size: 50}}
2 1 reduce: direct, format: e5m2, scale: none, compress: {threshold: {value: 0.5, density: 0.2}}
END

while read -r ranks nodes rule; do
    policy "feedback: off, $rule" ''
    selected "$ranks ranks, nodes $nodes, $rule" "$ranks" "$nodes" all
done <<END
2 1 reduce: direct, compress: {topk: 1}
7 1 reduce: direct, compress: {mstopk: 1}
3 1 reduce: direct, format: bf16, scale: none, compress: {threshold: {value: 0.5, density: 1}}
2 1 reduce: hierarchical, compress: {topk: 1}
7 3 reduce: hierarchical, compress: {mstopk: 1}
4 1 reduce: hierarchical, group: 2, format: bf16, scale: none, compress: {threshold: {value: 0.5, density: 1}}
3 3 reduce: hierarchical, compress: {topk: 1}
3 1 reduce: direct, compress: {chunks: {density: 1, size: 7}}
2 1 format: bf16, scale: none, compress: {chunks: {density: 0.1, size: 1Mi}}
END

# In FP32 an element has the same additions for every reduction.
for ranks in 2 3 4; do
    policy 'feedback: off, compress: {topk: 0.1}' ''
    selected "$ranks ranks, gather" "$ranks" 1 bits
    gathered=$results
    policy 'feedback: off, reduce: direct, compress: {topk: 0.1}' ''
    selected "$ranks ranks, direct" "$ranks" 1 bits
    [ -n "$results" ] && [ "$gathered" = "$results" ]
    check $? "$ranks ranks: direct and gather give the same bits"
done

# bytes RANKS NODES COUNT EVERY BYTES RULE: rank 0 sends BYTES
bytes()
{
    logged_policy "feedback: off, $6"
    name="$1 ranks, nodes $2, $3 elements, $6"
    selected "$name" "$1" "$2" bytes "$3" "$4"
    check_sent "$name" "$5"
    density=$(echo "$6" | sed 's/.*\(topk\|density\): \([0-9.]*\).*/\2/')
    [ "$(logged density)" = "$density" ]
    check $? "$name: the log's density is the rule's"
}

# A section: 8 bytes, k indices of ceil(log2 n) bits or n bits, 4 bytes and the
# values. To an owner of 3200 elements with 32 of this rank, then its sums, which
# are 64 of 3200.
bytes 2 1 6400 100 $((8 + 32 * 12 / 8 + 4 + 32 * 4 + \
    8 + 64 * 12 / 8 + 4 + 64 * 4)) \
    'reduce: direct, compress: {topk: 0.01}'
bytes 2 1 6400 100 $((8 + 32 * 12 / 8 + 4 + 32 + 8 + 64 * 12 / 8 + 4 + 64)) \
    'reduce: direct, format: e4m3, scale: none, compress: {topk: 0.01}'
# 15 and 60 of 1500: with 60 a bitmap would be longer still.
bytes 4 1 6000 100 $((3 * (8 + 24 + 4 + 15 * 4 + 8 + 60 * 11 / 8 + 2 + 4 + \
    60 * 4))) 'reduce: direct, compress: {topk: 0.01}'
# Every second element: a bitmap of 1600 bits. Sums of all elements have no
# indices.
bytes 2 1 3200 2 $((8 + 1600 / 8 + 4 + 800 * 4 + 8 + 4 + 1600 * 4)) \
    'reduce: direct, compress: {topk: 0.5}'
# Two groups of two ranks: 3200 floats of this rank for the other owner; of the
# group's sum of its slice the 64 elements that one of its ranks has; of the sum
# of both groups 128, to the other rank.
bytes 4 2 6400 100 $((3200 * 4 + 8 + 64 * 12 / 8 + 4 + 64 * 4 + \
    8 + 128 * 12 / 8 + 4 + 128 * 4)) \
    'reduce: hierarchical, compress: {topk: 0.02}'
# Norms of 100 chunks and 640 values, to the owner of the half and back, with 4 bytes
# before each.
bytes 2 1 6400 6400 $((2 * (4 + 50 * 4) + 2 * (4 + 320 * 4))) \
    'reduce: direct, compress: {chunks: {density: 0.1, size: 64}}'
bytes 2 1 6400 6400 $((2 * (4 + 50 * 4) + 2 * (4 + 320))) \
    'reduce: direct, format: e4m3, scale: none, compress: {chunks: {density: 0.1, size: 64}}'
finish
