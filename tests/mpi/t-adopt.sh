# SPDX-License-Identifier: BSD-3-Clause
# Ranks adopt the policy of the rank that holds one, while other threads do the
# same, and say why where they cannot.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
printf 'version: 1\nrules: [{format: e3m0, scale: none, reduce: direct}]\n' \
    >"$tmp/policy.yaml"

# last_holds NAME RANKS ARG...: the last rank alone has a policy.
last_holds()
{
    name=$1 ranks=$2
    shift 2
    run_mpiexec "$name" -genv APSMPI_WORLD off \
        -n $((ranks - 1)) "$mpi/adopt" "$@" : \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/adopt" "$@"
}

# first_holds NAME RANKS ARG...: the others look for the file in vain.
first_holds()
{
    name=$1 ranks=$2
    shift 2
    run_mpiexec "$name" -genv APSMPI_WORLD off \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/adopt" "$@" : \
        -n $((ranks - 1)) -env APSMPI_POLICY "$tmp/elsewhere.yaml" \
        "$mpi/adopt" "$@"
}

# first_lacks NAME RANKS ARG...: all but the last look for the file in vain.
first_lacks()
{
    name=$1 ranks=$2
    shift 2
    run_mpiexec "$name" -genv APSMPI_WORLD off \
        -n $((ranks - 1)) -env APSMPI_POLICY "$tmp/elsewhere.yaml" \
        "$mpi/adopt" "$@" : \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/adopt" "$@"
}

for turn in 1 2 3; do
    for where in world session; do
        for holds in first_holds last_holds first_lacks; do
            $holds "$holds, $where, $turn" $((2 + turn % 2)) threads $where
            says 'another policy' 0 \
                "$holds, $where, $turn: nobody holds another policy"
        done
    done
done

# One allocation of the rank that adopts fails: of its own structures, of the
# policy's text, of what the text is parsed to, of the reduction.
: >"$tmp/said"
for call in 1 2 3 4 5 6 7 8 9 10 11 12 20 40 80 120 160 200; do
    first_holds "failing" 2 failing $call
    cat "$tmp/stderr" >>"$tmp/said"
done
! grep -q 'another policy' "$tmp/said"
check $? "failing: nobody holds another policy"
for cause in 'has no memory left for the policy' \
    'cannot read the policy that it was given: .*out of memory'; do
    grep -q "apsmpi: .*rank 1 $cause: every call" "$tmp/said"
    check $? "failing: a line says that rank 1 $cause"
done
finish
