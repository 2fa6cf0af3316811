# SPDX-License-Identifier: BSD-3-Clause
# One rank cannot agree on what a communicator's first rewritten call needs: an error
# ends its calls. What it can do at a second try it does.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
policy=$tmp/policy.yaml
printf 'version: 1\nprogress: thread\nrules: [{format: e4m3}]\n' >"$policy"

# alone HOW CALL
alone()
{
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -n 2 -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$policy" "$mpi/alone" "$1" "$2" \
        </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    [ $? -eq 3 ]
    check $? "$1 calls, agreement $2 cannot begin: an error here, and for the next call"
    grep -q '^apsmpi: rank 1: .*MPI_Iallreduce failed in an agreement' "$tmp/stderr"
    check $? "$1 calls, agreement $2: a line says so and names the rank"
}

# Ten seconds each, in which the rank tries again.
for how in blocking nonblocking; do
    for call in 1 2; do
        beside alone $how $call
    done
done
"$mpi/exact" policy >"$tmp/exact.yaml"
run "no key at first" 2 -genv INJECT fail:PMPI_Comm_create_keyval:1:1 \
    -genv APSMPI_POLICY "$tmp/exact.yaml" "$mpi/exact"
says '^# inject: failure of PMPI_Comm_create_keyval' 1 'no key at first: it failed'
# Number 1 is of the job's end, 2 of a communicator.
for number in 1 2; do
    run "attribute $number fails at first" 2 \
        -genv INJECT fail:PMPI_Comm_set_attr:0:$number \
        -genv APSMPI_POLICY "$tmp/exact.yaml" "$mpi/exact"
    says '^# inject: failure of PMPI_Comm_set_attr' 1 "attribute $number: it failed"
done
finish
