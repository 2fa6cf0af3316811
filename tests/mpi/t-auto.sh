# SPDX-License-Identifier: BSD-3-Clause
# `reduce: auto` tries the reductions on the first calls of every class of
# sizes, and prints once for each the chosen one, with the times.
. "$top_srcdir/tests/mpi/run.sh"

while read -r ranks nodes group format; do
    log=$tmp/auto-$ranks-$nodes-$group.csv
    cat >"$tmp/policy.yaml" <<END
version: 1
log: {file: $log, every: 1}
rules: [{format: $format, reduce: auto, group: $group}]
END
    run "$ranks ranks, nodes $nodes, group $group, $format" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" \
        -genv HWLOC_SYNTHETIC 'package:2 core:8 pu:1' "$mpi/auto"
    hierarchical='hierarchical [0-9.]* us, '
    [ "$group" != l3 ] || hierarchical= # cannot run: there is no L3 cache
    times="native [0-9.]* us, ${hierarchical}direct [0-9.]* us, ring [0-9.]* us"
    says "rule at line 3: auto: 1024 to 2047 elements: [a-z]* ($times)" 1 \
        "$ranks ranks: a class is settled once"
    says "rule at line 3: auto: 65536 to 131071 elements: [a-z]* ($times)" 1 \
        '... and so is the next'
    says ': auto: ' 2 '... and no other'
    [ "$(grep -c '^# .*: auto: ' "$log")" -eq 2 ]
    check $? '... the log has it, too'
done <<END
2 1 node e5m7
3 3 node bfp15/576
4 2 node bfp15/64
3 1 l3 e5m7
END

# The other collectives: native MPI, or the one way in which the library does them.
while read -r ranks nodes format; do
    log=$tmp/calls-$ranks-$nodes.csv
    cat >"$tmp/policy.yaml" <<END
version: 1
log: {file: $log, every: 3}
rules:
  - calls: [reduce, reduce_scatter, allgather, bcast]
    format: $format
    reduce: auto
END
    run "other collectives, $ranks ranks, nodes $nodes, $format" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/auto" calls
    times='native [0-9.]* us, direct [0-9.]* us'
    for call in reduce reduce_scatter allgather bcast; do
        says "rule at line 4: auto: $call, [0-9]* to [0-9]* elements: [a-z]* ($times)" \
            1 "$ranks ranks: $call has settled once"
    done
    says 'auto: bcast, [0-9]* to [0-9]* elements: native (.*, direct refused)' 1 \
        '... and a class of broadcasts that a rank refuses'
done <<END
2 1 e5m7
3 3 bf16
4 2 bfp15/64
END

# More rules than classes: calls without a class pass through, unnumbered.
{
    printf 'version: 1\nlog: {file: %s, every: 1}\nrules:\n' "$tmp/left.csv"
    for n in $(seq 1500 1564); do
        echo "  - {min_count: $n, max_count: $n, format: e5m7, reduce: auto}"
    done
} >"$tmp/policy.yaml"
run 'no class is left' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/auto" left
says '116 (left to MPI by reduce: auto)' 1 \
    '... and the summary counts them: 76 trials of MPI, 40 without a class'
says 'reduce: auto: all 64 classes (rule and size) are in use' 1 \
    '... and a line reports it'
! grep -q '^[^#].*,1564,' "$tmp/left.csv"
check $? '... and the log has no row of them'
finish
