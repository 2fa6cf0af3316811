# SPDX-License-Identifier: BSD-3-Clause
# Roundings are where they are said to be, and nowhere else: few ranks.
. "$top_srcdir/tests/mpi/run.sh"

# All formats by three turns.
turn=0
while read -r ranks nodes cpu; do
    "$mpi/rounded" $turn 3 policy >"$tmp/policy.yaml"
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/rounded" $turn 3
    turn=$((turn + 1))
done <<END
2 1 plain
3 2
4 1
4 3:cyclic
5 2:cyclic
END
finish
