# SPDX-License-Identifier: BSD-3-Clause
# Scales that keep a state: random overflows lose nothing.
. "$top_srcdir/tests/mpi/run.sh"

# schedules KIND RANKS NODES TURN TURNS COUNT: of each way whose turn it is
schedules()
{
    "$mpi/history" "$1" "$4" "$5" policy >"$tmp/policy.yaml"
    run "$1, $2 ranks, nodes $3" "$2" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$3" "$mpi/history" "$1" "$4" "$5" "$6"
}

schedules short 2 1 0 4 2
schedules short 3 2 1 4 2
schedules short 4 2:cyclic 2 4 2
schedules short 7 3 3 4 1
finish
