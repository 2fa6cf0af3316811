# SPDX-License-Identifier: BSD-3-Clause
# MPI_Ireduce_scatter, MPI_Ireduce_scatter_block, MPI_Iallgather, MPI_Ireduce and
# MPI_Ibcast: several under way at a time, calls left to MPI, and wrong arguments.
. "$top_srcdir/tests/mpi/run.sh"

# counted KIND CALLS REWRITTEN NAME: checks the last run's summary, summed over
# the lines of calls whose names begin with KIND
counted()
{
    awk -v kind="$1" -v calls="$2" -v rewritten="$3" '
        $1 == "apsmpi:" && index($6, kind) == 1 { all += $2; ours += $7 }
        END { exit all != calls || ours != rewritten }' "$tmp/stderr"
    check $? "$4"
}

for progress in calls thread; do
    cat >"$tmp/$progress.yaml" <<END
version: 1
progress: $progress
log: {file: "$tmp/$progress.csv", every: 1}
rules: [{calls: [allreduce, reduce_scatter, allgather, reduce, bcast],
         format: e8m23, reduce: direct}]
END
    can_be_driven || [ $progress = thread ] || continue
    for ranks in 2 3 5; do
        rm -f "$tmp/$progress.csv"
        run "together, $progress, $ranks ranks" "$ranks" \
            -genv APSMPI_POLICY "$tmp/$progress.yaml" "$mpi/started" together
        counted MPI_Reduce_scatter 19 19 \
            "together, $progress, $ranks ranks: reduce-scatters are counted"
        says '^apsmpi: 6 eligible calls of MPI_Reduce, 6 rewritten ' 1 \
            "together, $progress, $ranks ranks: reductions, too"
        says '^apsmpi: 12 eligible calls of MPI_Allgather, 12 rewritten ' 1 \
            "together, $progress, $ranks ranks: and all-gathers"
        says '^apsmpi: 6 eligible calls of MPI_Bcast, 6 rewritten ' 1 \
            "together, $progress, $ranks ranks: and broadcasts"
        for name in reduce_scatter allgather reduce bcast; do
            awk -F, -v name=$name '
                NR > 1 && $10 == name { n++; bad += $12 > 1e-5 }
                END { exit !(n > 0 && bad == 0) }' "$tmp/$progress.csv"
            check $? "together, $progress, $ranks ranks: the log has $name"
        done
    done
done
sed 's/e8m23/e4m3/' "$tmp/thread.yaml" >"$tmp/coarse.yaml"
run "left to MPI" 3 -genv APSMPI_POLICY "$tmp/coarse.yaml" "$mpi/started" left
says '^apsmpi: 0 eligible calls of MPI_Reduce_scatter[_block]*, none rewritten; not eligible: 1 (integers)$' 2 \
    "left to MPI: counted"
says '^apsmpi: 0 eligible calls of MPI_Allgather, none rewritten; not eligible: 6 (arguments that cannot be rewritten)$' 1 \
    "left to MPI: all-gathers, too"
run "errors" 2 -genv APSMPI_POLICY "$tmp/coarse.yaml" "$mpi/started" errors
finish
