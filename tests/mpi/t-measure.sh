# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-measure when a call fails on one rank: no rank waits for ever, rank 0
# prints the cause, and no file is written.
. "$top_srcdir/tests/mpi/run.sh"
unsanitized 'it measures the speed of kernels and messages'

# It measures for 20 seconds on an idle machine.
seconds=${APS_TEST_TIMEOUT:-240}

# measured ORDER CAUSE: two ranks on each of two hosts
measured()
{
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -genv LD_PRELOAD "$mpi/.libs/inject.so" \
        -genv INJECT "$1" -genv APSMPI_TEST_NODES 2 \
        -n 4 "$top_builddir/pmpi/measure/apsmpi-measure" \
        --output "$tmp/measured.yaml" </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ]
    ended=$?
    check $ended "$1: ends with an error"
    [ $ended -eq 0 ] || show_errors
    says '^# inject: failure' 1 "$1: it fails"
    says "^apsmpi: measure: $2" 1 "$1: rank 0 says why"
    [ ! -e "$tmp/measured.yaml" ]
    check $? "$1: no file is written"
}

# The other host has shared memory.
measured fail:memfd_create:2:1 'memfd_create: Permission denied$'
finish
