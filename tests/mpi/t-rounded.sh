# SPDX-License-Identifier: BSD-3-Clause
# Values are rounded as documented, and nowhere else: few ranks.
. "$top_srcdir/tests/mpi/run.sh"

# All formats in three turns.
turn=0
while read -r ranks nodes cpu handoff; do
    "$mpi/rounded" $turn 3 policy >"$tmp/policy.yaml"
    [ "$cpu" != best ] || cpu=''
    run "$ranks ranks, nodes $nodes${cpu:+, }$cpu${handoff:+, }$handoff" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        -genv APSMPI_HANDOFF "$handoff" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/rounded" $turn 3
    turn=$((turn + 1))
done <<END
2 1 plain
3 2 best stream
4 1 best stream
4 3:cyclic
5 2:cyclic
END
finish
