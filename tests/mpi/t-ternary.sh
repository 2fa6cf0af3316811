# SPDX-License-Identifier: BSD-3-Clause
# TernGrad: exact sums of digits, the same bits for every reduction, right on
# average, and bytes that follow the formula.
. "$top_srcdir/tests/mpi/one_rule.sh"

# ternary NAME RANKS NODES ARG...: sets $results
ternary()
{
    name=$1 ranks=$2 nodes=$3
    shift 3
    run "$name" "$ranks" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/ternary" "$@"
    results=$(sed -n 's/^# results //p' "$tmp/stdout" "$tmp/stderr")
}

# Direct is the default.
while read -r ranks nodes parameters; do
    policy "compress: {ternary: $parameters}" ''
    ternary "$ranks ranks, $parameters, direct" "$ranks" 1 all off
    direct=$results
    for reduce in gather hierarchical; do
        policy "reduce: $reduce, compress: {ternary: $parameters}" ''
        ternary "$ranks ranks, nodes $nodes, $parameters, $reduce" "$ranks" \
            "$nodes" all off
        [ -n "$direct" ] && [ "$direct" = "$results" ]
        check $? "$ranks ranks, nodes $nodes, $parameters: the bits of direct, $reduce"
    done
done <<END
2 1 {clip: 0}
3 2 {seed: 7}
7 3 {clip: 0, seed: 1}
END
for cpu in plain avx2; do
    policy "reduce: hierarchical, group: 2, compress: {ternary: {clip: 0, seed: 1}}" ''
    APSMPI_CPU=$cpu
    export APSMPI_CPU
    ternary "7 ranks, groups of 2, $cpu" 7 1 all off
    unset APSMPI_CPU
    [ -n "$direct" ] && [ "$direct" = "$results" ]
    check $? "7 ranks, groups of 2, $cpu: the same bits"
done
while read -r nodes reduce; do
    policy "reduce: $reduce, feedback: on, compress: {ternary: 1}" \
        'steps: {calls: 1}'
    ternary "3 ranks, nodes $nodes, feedback, $reduce" 3 "$nodes" all on
done <<END
1 direct
1 gather
2 hierarchical
END

# bytes RANKS NODES COUNT REDUCE BYTES: rank 0 sends BYTES
bytes()
{
    logged_policy "reduce: $4, compress: ternary"
    ternary "$1 ranks, nodes $2, $3 elements, $4" "$1" "$2" bytes "$3"
    check_sent "$1 ranks, nodes $2, $3 elements, $4" "$5"
}

# A rank sends five digits a byte to each owner, or to all ranks, and receives sums of N
# ranks in ceil(log2(2 N + 1)) bits. An owner has whole groups of 320, except the last.
bytes 2 1 6400 direct $((3200 / 5 + 3200 * 3 / 8))
bytes 4 1 6400 direct $((3 * (1600 / 5 + 1600 * 4 / 8)))
bytes 7 1 6720 direct $((6 * (960 / 5 + 960 * 4 / 8)))
bytes 2 1 643 direct $((3 / 5 + 1 + 640 * 3 / 8))
bytes 3 1 4 direct $((2 * 2))
bytes 4 1 6400 gather $((3 * 6400 / 5))
bytes 2 1 643 gather 129
# One group: as `direct`. Between two groups of two ranks: half of the group's
# sums, and the other half of the total sums.
bytes 2 1 6400 hierarchical $((3200 / 5 + 3200 * 3 / 8))
bytes 4 2 6400 hierarchical $((3200 / 5 + 1600 * 3 / 8 + 1600 * 4 / 8 + \
    3200 * 4 / 8))
# Groups of two ranks and of one, whose owner has all elements.
bytes 3 2 6400 hierarchical $((3200 * 3 / 8 + 3200 * 3 / 8 + 6400 * 3 / 8))
finish
