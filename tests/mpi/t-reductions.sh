# SPDX-License-Identifier: BSD-3-Clause
# Values are rounded as documented, and nowhere else: many ranks, most of which
# do not divide into equal groups.
. "$top_srcdir/tests/mpi/run.sh"

# All formats in nine turns; several chunks in other scales than t-rounded.sh.
turn=5
while read -r ranks nodes; do
    "$mpi/rounded" $turn 9 policy >"$tmp/policy.yaml"
    run "$ranks ranks, nodes $nodes" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/rounded" $turn 9
    turn=$((turn + 1))
done <<END
6 1
7 2
8 3:cyclic
9 3
16 2
END
finish
