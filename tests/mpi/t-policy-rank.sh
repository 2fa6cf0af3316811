# SPDX-License-Identifier: BSD-3-Clause
# Only rank 0 of MPI_COMM_WORLD can read the policy's file.
. "$top_srcdir/tests/mpi/run.sh"

# rank_0 NAME RANKS POLICY WHAT: each rank looks for the file in its own folder.
rank_0()
{
    run_mpiexec "$1" \
        -n 1 -env APSMPI_POLICY "$tmp/$3.yaml" "$mpi/policy_rank" "$4" : \
        -n $(($2 - 1)) -env APSMPI_POLICY "$tmp/elsewhere/$3.yaml" \
        "$mpi/policy_rank" "$4"
}

rounded='format: e3m0, scale: none, reduce: direct'
printf 'version: 1\nrules: [{%s}]\n' "$rounded" >"$tmp/on.yaml"
printf 'version: 1\npcontrol: off\nrules: [{%s}]\n' "$rounded" >"$tmp/off.yaml"

printf 'version: 1\nrules: [{%s}]\n' \
    "types: double, format: e5m7, reduce: direct" >"$tmp/double.yaml"

for ranks in 2 3; do
    rank_0 "pcontrol: off, $ranks ranks" $ranks off world
done
rank_0 "first sum without rank 0" 4 on without
[ "$(grep -c '^apsmpi: .*policy' "$tmp/stderr")" -le 1 ]
check $? "first sum without rank 0: at most one line about it"
for ranks in 2 4; do
    rank_0 "rank 0 last of $ranks" $ranks on among
    says 'another policy' 0 "rank 0 last of $ranks: all hold the same policy"
done
rank_0 "a session before MPI_Init" 2 double session
rank_0 "two of three ranks" 3 on some
says 'another policy' 0 "two of three ranks: both hold the same policy"
finish
