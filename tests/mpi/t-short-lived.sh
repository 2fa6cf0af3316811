# SPDX-License-Identifier: BSD-3-Clause
# Communicators that live for one sum: the library makes no communicator for them.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library

# lived RANKS LINE REDUCE: blocking and nonblocking
lived()
{
    printf 'version: 1\n%s\nrules: [{format: e5m10, %s}]\n' "$2" "$3" \
        >"$tmp/policy.yaml"
    for call in blocking nonblocking; do
        run "$1 ranks, $call, $2, $3" "$1" -genv APSMPI_POLICY \
            "$tmp/policy.yaml" "$mpi/short_lived" $call
    done
}

if can_be_driven; then
    lived 2 'progress: calls' 'reduce: direct'
    lived 4 'progress: calls' 'reduce: hierarchical'
fi
lived 2 'progress: thread' 'reduce: hierarchical'
lived 3 'progress: thread' 'reduce: ring'
lived 4 'progress: thread' 'reduce: master, group: 2'
APSMPI_TEST_NODES=2
export APSMPI_TEST_NODES
lived 4 'progress: thread' 'reduce: hierarchical'
finish
