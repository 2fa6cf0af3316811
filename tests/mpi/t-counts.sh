# SPDX-License-Identifier: BSD-3-Clause
# Ranks that call with different counts or types, and ranks that come late.
. "$top_srcdir/tests/mpi/run.sh"

# write_policy FILE KEYS
write_policy()
{
    printf 'version: 1\nmin_count: 1\nrules: [{format: e4m3, %s}]\n' "$2" \
        >"$tmp/$1.yaml"
}

write_policy rounded 'scale: aps, reduce: hierarchical'
write_policy exact 'scale: none, reduce: hierarchical, node: fp32'
for policy in rounded exact; do
    for counts in '4000 4096' '4096 4000' '300000 200000' '1 300'; do
        name="$policy, $counts"
        # shellcheck disable=SC2086 # two words
        run "$name" 3 -genv APSMPI_POLICY "$tmp/$policy.yaml" \
            "$mpi/counts" differ $counts
        lengths="${counts% *} elements of 4 bytes meets one of ${counts#* } elements "
        [ "$counts" != '1 300' ] ||
            lengths='1 element of 4 bytes meets one of 300 elements '
        says "^apsmpi: rank 0: a reduction of $lengths" 1 \
            "$name: a line says which rank differs"
    done
done

# Groups of 3 and 2 ranks, so that rank 2 sums nothing; one of each differs.
run 'two groups' 5 -genv APSMPI_POLICY "$tmp/rounded.yaml" \
    -genv APSMPI_TEST_NODES 2 "$mpi/counts" differ 200000 300000 2 4
says '^apsmpi: rank 0: a reduction of 200000 elements of 4 bytes meets one of 300000 ' 1 \
    'two groups: a line says which rank differs'

write_policy types 'types: [float, double], scale: aps'
run 'two types' 3 -genv APSMPI_POLICY "$tmp/types.yaml" "$mpi/counts" types 4000
says 'rank 0: a reduction of 4000 elements of 4 bytes meets .* of 8 bytes on rank 2' 1 \
    'two types: a line says which rank differs'

# late REDUCE
late()
{
    run "$1, late" 2 -genv APSMPI_POLICY "$policies/$1.yaml" \
        -genv APSMPI_TEST_PATIENCE 1000 "$mpi/counts" late 5000
    where='MPI_Allreduce of 5000 elements (float) on MPI_COMM_WORLD'
    says "^apsmpi: rank 0: has waited for ten seconds in $where" 1 \
        "$1, late: who waits says in which call"
    says '^apsmpi: rank 1: has waited' 0 "$1, late: who is late does not"
}

policies=$tmp
for reduce in direct ring hierarchical; do
    write_policy $reduce "reduce: $reduce"
    beside late $reduce
done
finish
