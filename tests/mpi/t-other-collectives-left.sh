# SPDX-License-Identifier: BSD-3-Clause
# Calls of the other collectives that are left to MPI.
. "$top_srcdir/tests/mpi/run.sh"

cat >"$tmp/all.yaml" <<END
version: 1
rules: [{calls: [allreduce, reduce_scatter, allgather, reduce], format: e5m2}]
END
cat >"$tmp/allreduce.yaml" <<END
version: 1
rules: [{format: e5m2}]
END

# left NAME RANKS POLICY MODE
left()
{
    run "$1" "$2" -genv APSMPI_POLICY "$tmp/$3.yaml" "$mpi/other_collectives_left" "$4"
}

left "wrong arguments, 2 ranks" 2 all errors
left "wrong arguments, 3 ranks" 3 all errors
says '^apsmpi: .* eligible calls* of MPI_Reduce, 1 rewritten (.*); not eligible: .* (arguments that cannot be rewritten)' 1 \
    "wrong arguments: passed, and counted as such"

# Rank 0's count, also of ranks that have none, of an intercommunicator.
left "not rewritten" 3 all others
why='not eligible: 1 (integers), 1 (sums of double), 1 (other operations)'
why="$why, 1 (too short: min_count is 1024)"
why="$why, 1 (on communicators of one rank)"
for name in MPI_Reduce_scatter MPI_Reduce_scatter_block; do
    says "^apsmpi: 0 eligible calls of $name, none rewritten; $why\$" 1 \
        "not rewritten: $name is counted with the reasons"
done
says '^apsmpi: 0 eligible calls of MPI_Allgather, none rewritten; not eligible: 1 (integers), 1 (double), 2 (other types), 7 (arguments that cannot be rewritten), 1 (too short: min_count is 1024), 1 (on communicators of one rank), 1 (on intercommunicators)$' 1 \
    "not rewritten: all-gathers, too"
why="$why, 1 (on intercommunicators)"
says "^apsmpi: 0 eligible calls of MPI_Reduce, none rewritten; $why\$" 1 \
    "not rewritten: reductions, too"

left "not named" 3 allreduce unnamed
why='passed: 1 (no rule matched, or a rule says fp32)'
why="$why; a rule may name them by calls: \[reduce_scatter\]"
for name in MPI_Reduce_scatter MPI_Reduce_scatter_block; do
    says "^apsmpi: 1 eligible call of $name, none rewritten; $why\$" 1 \
        "not named: $name is counted, with what a rule may say"
done
says '^apsmpi: 2 eligible calls of MPI_Allgather, none rewritten; passed: 2 (no rule matched, or a rule says fp32); a rule may name them by calls: \[allgather\]$' 1 \
    "not named: all-gathers, too"
says '^apsmpi: 1 eligible call of MPI_Reduce, none rewritten; passed: 1 (no rule matched, or a rule says fp32); a rule may name them by calls: \[reduce\]$' 1 \
    "not named: reductions, too"
run "no policy" 3 "$mpi/other_collectives_left" unnamed
says '^apsmpi: [0-9]* calls\{0,1\} of MPI_[A-Za-z_]*, none rewritten (no policy)$' 4 \
    "no policy: they are counted"

library=$library:$mpi/.libs/preload_after.so
left "a profiler behind" 3 all behind
finish
