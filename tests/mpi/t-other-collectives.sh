# SPDX-License-Identifier: BSD-3-Clause
# MPI_Reduce_scatter(_block), MPI_Allgather and MPI_Reduce round as documented,
# and round nothing else.
. "$top_srcdir/tests/mpi/run.sh"

# The last run's summary has the numbers that the program counted.
check_summary()
{
    sed -n 's/^# summary: //p' "$tmp/stdout" >"$tmp/summary"
    [ "$(grep -c . "$tmp/summary")" -eq 4 ]
    check $? "$1: it counted its calls"
    while read -r line; do
        says "^apsmpi: $line " 1 "$1: $line"
    done <"$tmp/summary"
}

"$mpi/other_collectives" policy >"$tmp/policy.yaml"
while read -r ranks cpu; do
    run "$ranks ranks${cpu:+, }$cpu" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" -genv APSMPI_CPU "$cpu" \
        "$mpi/other_collectives"
    check_summary "$ranks ranks"
done <<END
2 plain
3
4
5
8
END

# The nonblocking forms have the same bits, progressed by calls and by threads.
{ echo 'progress: thread'; cat "$tmp/policy.yaml"; } >"$tmp/thread.yaml"
while read -r ranks policy; do
    can_be_driven || [ "$policy" = thread ] || continue
    run "nonblocking forms, $policy, $ranks ranks" "$ranks" \
        -genv APSMPI_POLICY "$tmp/$policy.yaml" "$mpi/other_collectives" deferred
    check_summary "nonblocking forms, $policy, $ranks ranks"
done <<END
2 policy
3 policy
3 thread
END

# Rank 0's rows have the error of all results; every call is made twice.
cat >"$tmp/log.yaml" <<END
version: 1
log: {file: "$tmp/log.csv", every: 1}
rules: [{calls: [reduce_scatter, allgather, reduce], format: e4m3}]
END
run "log" 3 -genv APSMPI_POLICY "$tmp/log.yaml" "$mpi/other_collectives" log
sed -n 's/^# error //p' "$tmp/stdout" >"$tmp/errors"
while read -r name elements mean; do
    awk -F, -v name="$name" -v elements="$elements" -v mean="$mean" '
        $10 == name && $7 == elements && $5 == -1 {
            found++
            good += $12 > 0.005 && $12 < 0.1 && $20 > 0 && $20 < $21 / 3.5 &&
                ($12 - mean) ^ 2 < (1e-5 * mean) ^ 2
        }
        END { exit !(found == 2 && good == 2) }' "$tmp/log.csv"
    check $? "log: two rows of $name, with its error and bytes"
done <"$tmp/errors"
[ "$(grep -c . "$tmp/errors")" -eq 3 ]
check $? "log: of all three"

progress=calls
can_be_driven || progress=thread
cat >"$tmp/exact.yaml" <<END
version: 1
progress: $progress
rules: [{calls: [allreduce, reduce_scatter, allgather, reduce], format: e8m23,
         reduce: direct}]
END
run "between nonblocking calls" 4 -genv APSMPI_POLICY "$tmp/exact.yaml" \
    "$mpi/other_collectives" nonblocking
for name in Allreduce Reduce_scatter Allgather Reduce; do
    says "^apsmpi: 4 eligible calls of MPI_$name, 4 rewritten " 1 \
        "between nonblocking calls: all of MPI_$name were rewritten"
done
finish
