# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state: random overflows lose nothing. With APS_TEST_LONG: more
# than 10000 schedules of all ways (make check-long).
. "$top_srcdir/tests/mpi/run.sh"

# schedules KIND RANKS NODES TURN TURNS COUNT: COUNT of each way whose turn it is
schedules()
{
    "$mpi/history" "$1" "$4" "$5" policy >"$tmp/policy.yaml"
    run "$1, $2 ranks, nodes $3, turn $4" "$2" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$3" "$mpi/history" "$1" "$4" "$5" "$6"
}

if [ -n "$APS_TEST_LONG" ]; then
    seconds=$((seconds * 10))
    while read -r ranks nodes; do
        for turn in 0 1 2 3; do
            schedules short "$ranks" "$nodes" $turn 4 8
            schedules long "$ranks" "$nodes" $turn 4 1
        done
    done <<END
2 1
3 2
4 1
4 2:cyclic
7 3
END
    finish
fi
schedules short 2 1 0 4 3
schedules short 3 2 1 4 3
schedules short 4 2:cyclic 2 4 2
schedules short 7 3 3 4 1
schedules long 2 1 3 4 1
schedules long 3 2 0 8 1
finish
