# SPDX-License-Identifier: BSD-3-Clause
# Sums of bf16, fp16 and double: by MPI's types, and by operations of the program.
. "$top_srcdir/tests/mpi/run.sh"

# policy SETTINGS KEY: the settings for all-reduces, and a key for the top
policy()
{
    cat >"$tmp/policy.yaml" <<END
version: 1
$2
rules:
  - {types: [bf16, fp16, float, double], $1}
  - {types: [bf16, fp16, float, double], format: e4m3, scale: aps,
     calls: [reduce, reduce_scatter, allgather, bcast]}
END
}

while read -r ranks nodes settings; do
    policy "$settings"
    run "$settings, $ranks ranks, nodes $nodes" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/types"
    says 'rewritten (100\.0 %' 5 'all calls of five collectives were rewritten'
done <<END
2 1 format: e4m3, scale: aps
3 1 format: bf16
3 2 format: e5m2, scale: aps, accumulate: format
4 2 format: e4m3, reduce: ring
3 1 format: e8m23, reduce: gather
4 2 format: mx-e4m3fn, reduce: master
3 3 format: e3m4, scale: backoff
2 1 format: e4m3, compress: {topk: 0.1}, feedback: off
END

while read -r ranks settings; do
    cat >"$tmp/policy.yaml" <<END
version: 1
rules:
  - {types: double, format: e8m23, $settings}
  - {types: double, format: e8m23, calls: [reduce, reduce_scatter]}
END
    run "doubles, $settings, $ranks ranks" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/types" fp64
    says 'rewritten (100\.0 %' 3 'all sums of doubles were rewritten'
done <<END
3 scale: none
4 scale: aps, reduce: gather
3 reduce: hierarchical
END

policy 'format: e4m3, scale: aps'
run 'without threads' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    -genv APSMPI_THREADS kept "$mpi/types" single
says 'rewritten (100\.0 %' 5 'all blocking calls were rewritten'

policy 'format: e4m3, scale: aps' 'operations: probe'
for ranks in 2 3; do
    run "operations of the program, $ranks ranks" $ranks \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/types" own
    says 'sums bf16 and rounds each addition to nearest even: the library treats it' 1 \
        'the sum of bf16 is recognised'
    says 'sums fp16 and rounds each addition to nearest even: the library treats it' 1 \
        'the sum of fp16 is recognised'
    says 'adds neither bf16 nor fp16: MPI carries it out' 1 \
        'another operation is not'
    says 'rewritten (100\.0 %' 3 'all calls that sum were rewritten'
done

run 'operations of one handle' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/types" \
    reused
says 'sums bf16 and rounds each addition to nearest even: the library treats it' 1 \
    'an operation with the handle of a freed one is probed'

# shellcheck disable=SC2086 # two words
timeout "$seconds" $launch -genv LD_PRELOAD "$library" \
    -genv APSMPI_POLICY "$tmp/policy.yaml" -n 2 "$mpi/types" mixed \
    >"$tmp/stdout" 2>"$tmp/stderr"
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ]
check $? 'an operation that adds on one rank alone ends a nonblocking call'
says 'rank 1: MPI_Iallreduce on .* adds fp16 on this rank, and something else' 1 \
    'with a line'

# Such sums are left to MPI: native results of two ranks are rounded once, too.
cat >"$tmp/policy.yaml" <<END
version: 1
rules: [{types: fp16, format: e4m3}]
END
run 'without a probe' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/types" own
says 'eligible calls of MPI_Allreduce, none rewritten' 1 \
    'without a probe such operations are left to MPI'
run 'doubles that no rule names' 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    "$mpi/types" double
says 'eligible calls of MPI_Allreduce, none rewritten.* 9 (sums of double)' 1 \
    'doubles are left to MPI unless a rule names them'
finish
