# SPDX-License-Identifier: BSD-3-Clause
# TernGrad: exact sums of digits, the same bits by every reduction, right on
# average, and bytes by the formula.
. "$top_srcdir/tests/mpi/run.sh"

# policy RULE SETTING
policy()
{
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
$2
rules: [{$1}]
END
}

# ternary NAME RANKS ARG...: sets $results
ternary()
{
    name=$1 ranks=$2
    shift 2
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/ternary" "$@"
    results=$(sed -n 's/^# results //p' "$tmp/stdout" "$tmp/stderr")
}

# Direct is the default.
while read -r ranks parameters; do
    policy "compress: {ternary: $parameters}" ''
    ternary "$ranks ranks, $parameters, direct" "$ranks" all off
    direct=$results
    policy "reduce: gather, compress: {ternary: $parameters}" ''
    ternary "$ranks ranks, $parameters, gather" "$ranks" all off
    [ -n "$direct" ] && [ "$direct" = "$results" ]
    check $? "$ranks ranks, $parameters: direct and gather give the same bits"
done <<END
2 {clip: 0}
3 {seed: 7}
7 {clip: 0, seed: 1}
END
for reduce in direct gather; do
    policy "reduce: $reduce, feedback: on, compress: {ternary: 1}" \
        'steps: {calls: 1}'
    ternary "3 ranks, feedback, $reduce" 3 all on
done

# bytes RANKS COUNT REDUCE BYTES: rank 0 sends so many
bytes()
{
    policy "reduce: $3, compress: ternary" "log: {file: $tmp/log.csv, every: 1}"
    rm -f "$tmp/log.csv"
    ternary "$1 ranks, $2 elements, $3" "$1" bytes "$2"
    sent=$(awk -F, '
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { print $at["wire_bytes"] }' "$tmp/log.csv")
    [ "$sent" = "$4" ]
    check $? "$1 ranks, $2 elements, $3: rank 0 sends $4 bytes"
    [ "$sent" = "$4" ] || echo "# sent: $sent" >&2
}

# Five digits a byte go to each owner, or to all ranks, and sums of N ranks come
# back in ceil(log2(2 N + 1)) bits. An owner has whole groups of 320, except the
# last.
bytes 2 6400 direct $((3200 / 5 + 3200 * 3 / 8))
bytes 4 6400 direct $((3 * (1600 / 5 + 1600 * 4 / 8)))
bytes 7 6720 direct $((6 * (960 / 5 + 960 * 4 / 8)))
bytes 2 643 direct $((3 / 5 + 1 + 640 * 3 / 8))
bytes 3 4 direct $((2 * 2))
bytes 4 6400 gather $((3 * 6400 / 5))
bytes 2 643 gather 129
finish
