# SPDX-License-Identifier: BSD-3-Clause
# INF and NaN arrive, and spoil nothing; zeros and subnormals survive.
. "$top_srcdir/tests/mpi/run.sh"

# The log has the layers that the program filled with zeros.
check_zero_layers()
{
    sed -n 's/^# zero layer //p' "$tmp/stdout" >"$tmp/zero"
    awk -F, '
        FNR == NR { zero[$1] = 1; expected++; next }
        $5 in zero { found++; if ($11 != 0) bad++ }
        END { exit !(expected > 0 && found == expected && bad == 0) }
    ' "$tmp/zero" "$tmp/log.csv"
    check $? "$1: layers of zeros have the scale exponent 0"
}

turn=0
while read -r ranks nodes; do
    "$mpi/nonfinite" $turn policy >"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
    run "$ranks ranks, nodes $nodes" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_LOG "$tmp/log.csv" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/nonfinite" $turn
    check_zero_layers "$ranks ranks, nodes $nodes"
    turn=$((1 - turn))
done <<END
3 1
4 1
5 2
4 3:cyclic
END
finish
