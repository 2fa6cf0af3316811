# SPDX-License-Identifier: BSD-3-Clause
# Ranks adopt the policy of the rank that holds one, while other threads do the
# same.
. "$top_srcdir/tests/mpi/run.sh"

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

# first_holds NAME RANKS ARG...: the other ranks do not find the file.
first_holds()
{
    name=$1 ranks=$2
    shift 2
    run_mpiexec "$name" -genv APSMPI_WORLD off \
        -n 1 -env APSMPI_POLICY "$tmp/policy.yaml" "$mpi/adopt" "$@" : \
        -n $((ranks - 1)) -env APSMPI_POLICY "$tmp/elsewhere.yaml" \
        "$mpi/adopt" "$@"
}

# first_lacks NAME RANKS ARG...: all ranks except the last do not find the file.
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
            $holds "$holds, $where, $turn" $((2 + turn % 2)) $where
            says 'another policy' 0 \
                "$holds, $where, $turn: nobody holds another policy"
        done
    done
done

sed 's/{format/{calls: [allreduce, bcast], types: [float, double], format/' "$tmp/policy.yaml" >"$tmp/types.yaml"
mv "$tmp/types.yaml" "$tmp/policy.yaml"
for holds in first_holds last_holds; do
    $holds "$holds, types" 3 types
done

finish
