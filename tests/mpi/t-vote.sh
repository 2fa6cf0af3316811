# SPDX-License-Identifier: BSD-3-Clause
# signSGD with majority vote: exact votes by either reduction, ties that are 0, and
# bytes by the formula.
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

# bytes RANKS COUNT REDUCE BYTES: rank 0 sends so many
bytes()
{
    policy "reduce: $3, compress: vote" "log: {file: $tmp/log.csv, every: 1}"
    rm -f "$tmp/log.csv"
    run "$1 ranks, $2 elements, $3" "$1" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/vote" bytes "$2"
    sent=$(awk -F, '
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { print $at["wire_bytes"] }' "$tmp/log.csv")
    [ "$sent" = "$4" ]
    check $? "$1 ranks, $2 elements, $3: rank 0 sends $4 bytes"
    [ "$sent" = "$4" ] || echo "# sent: $sent" >&2
}

# A float and a bit an element go to each owner, or to all ranks; a float and a bit
# come back, of an even number of ranks a fifth of a byte. Slices are whole bytes of
# signs.
bytes 2 6400 direct $((4 + 3200 / 8 + 4 + 3200 / 5))
bytes 3 2400 direct $((2 * (4 + 800 / 8 + 4 + 800 / 8)))
bytes 2 17 direct $((4 + 1 + 4 + 4))
bytes 4 6400 gather $((3 * (4 + 6400 / 8)))
finish
