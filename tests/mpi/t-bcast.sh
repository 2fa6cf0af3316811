# SPDX-License-Identifier: BSD-3-Clause
# MPI_Bcast and MPI_Ibcast round as documented on all ranks, the root too, and
# round nothing else.
. "$top_srcdir/tests/mpi/run.sh"

# The last run's summary has the numbers that the program counted.
check_summary()
{
    summary=$(sed -n 's/^# summary: //p' "$tmp/stdout")
    says "^apsmpi: ${summary:-nothing} " 1 "$1: $summary"
}

"$mpi/bcast" policy >"$tmp/calls.yaml"
{ echo 'progress: thread'; cat "$tmp/calls.yaml"; } >"$tmp/thread.yaml"
while read -r ranks cpu; do
    run "$ranks ranks${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/calls.yaml" -genv APSMPI_CPU "$cpu" \
        "$mpi/bcast"
    check_summary "$ranks ranks"
done <<END
2 plain
3
4
7
END
while read -r ranks policy; do
    can_be_driven || [ "$policy" = thread ] || continue
    run "nonblocking, $policy, $ranks ranks" "$ranks" \
        -genv APSMPI_POLICY "$tmp/$policy.yaml" "$mpi/bcast" deferred
    check_summary "nonblocking, $policy, $ranks ranks"
done <<END
2 calls
3 calls
3 thread
END

# Rank 0 has a row of every call, whichever rank is the root.
cat >"$tmp/log.yaml" <<END
version: 1
log: {file: "$tmp/log.csv", every: 1}
rules: [{calls: bcast, format: e4m3}]
END
run "log" 3 -genv APSMPI_POLICY "$tmp/log.yaml" "$mpi/bcast" log
sed -n 's/^# error //p' "$tmp/stdout" >"$tmp/errors"
while read -r elements mean; do
    awk -F, -v elements="$elements" -v mean="$mean" '
        $10 == "bcast" && $7 == elements && $5 == -1 {
            found++
            good += $12 > 0.005 && $12 < 0.1 &&
                ($12 - mean) ^ 2 < (1e-5 * mean) ^ 2
        }
        END { exit !(found == 1 && good == 1) }' "$tmp/log.csv"
    check $? "log: a row of $elements elements, with its error"
done <"$tmp/errors"
[ "$(grep -c . "$tmp/errors")" -eq 3 ]
check $? "log: of all three"

progress=calls
can_be_driven || progress=thread
cat >"$tmp/coarse.yaml" <<END
version: 1
progress: $progress
rules: [{calls: [allreduce, bcast], format: e3m0}]
END
for ranks in 2 3; do
    run "not rounded, $ranks ranks" $ranks \
        -genv APSMPI_POLICY "$tmp/coarse.yaml" "$mpi/bcast" left
    says '^apsmpi: [0-9]* eligible calls of MPI_Bcast, none rewritten; ' 1 \
        "not rounded, $ranks ranks: the summary counts them"
done
run "errors" 2 -genv APSMPI_POLICY "$tmp/coarse.yaml" "$mpi/bcast" errors

# Programs distribute their weights: a policy that does not name broadcasts does
# not change them, and the summary does not mention them.
printf 'version: 1\nrules: [{format: e3m0}]\n' >"$tmp/unnamed.yaml"
run "not named" 3 -genv APSMPI_POLICY "$tmp/unnamed.yaml" "$mpi/bcast" left
says 'MPI_Bcast' 0 "not named: not in the summary"
finish
