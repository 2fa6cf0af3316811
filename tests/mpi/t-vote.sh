# SPDX-License-Identifier: BSD-3-Clause
# signSGD with majority vote: exact votes by both reductions, ties that are 0,
# and bytes that follow the formula.
. "$top_srcdir/tests/mpi/one_rule.sh"

while read -r ranks reduce value; do
    policy "reduce: $reduce, compress: {vote: $value}" ''
    run "$ranks ranks, $reduce, value $value" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/vote" all "$value"
done <<END
2 direct 0
3 direct 1
4 gather 0
3 gather 0
7 direct 0
4 direct 0.125
END

# bytes RANKS COUNT REDUCE BYTES: rank 0 sends BYTES
bytes()
{
    logged_policy "reduce: $3, compress: vote"
    run "$1 ranks, $2 elements, $3" "$1" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/vote" bytes "$2"
    check_sent "$1 ranks, $2 elements, $3" "$4"
}

# A rank sends a float and a bit an element to each owner, or to all ranks. It
# receives a float and a bit an element, or, from an even number of ranks, a
# fifth of a byte. Slices are whole bytes of signs.
bytes 2 6400 direct $((4 + 3200 / 8 + 4 + 3200 / 5))
bytes 3 2400 direct $((2 * (4 + 800 / 8 + 4 + 800 / 8)))
bytes 2 17 direct $((4 + 1 + 4 + 4))
bytes 4 6400 gather $((3 * (4 + 6400 / 8)))
finish
