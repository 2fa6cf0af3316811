# SPDX-License-Identifier: BSD-3-Clause
# threads: N changes no bit: not of reductions that are known, nor of several
# threads' calls at a time, nor between ranks with different numbers of threads.
. "$top_srcdir/tests/mpi/run.sh"

# known PROGRAM RANKS NODES ARG...: a program that knows the bits
known()
{
    program=$1 ranks=$2 nodes=$3
    shift 3
    { echo 'threads: 3'; "$mpi/$program" "$@" policy; } >"$tmp/policy.yaml"
    run "$program, $ranks ranks, nodes $nodes" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/$program" "$@"
}
# The thread sanitizer takes minutes for them.
if [ "${SANITIZERS:-no}" != thread ]; then
    known exact 2 1
    known exact 2 2
    known exact 3 2
    known rounded 3 2 0 9
fi

# write_policy THREADS
write_policy()
{
    cat <<END
version: 1
threads: $1
rules:
  - {max_count: 300000, format: e4m3, scale: aps}
  - {max_count: 300001, format: e5m2, rounding: stochastic, scale: aps}
  - {max_count: 300002, format: e3m2, scale: aps-tight, rounding: correlated}
  - {max_count: 300003, format: bf16, accumulate: kahan, reduce: hierarchical}
  - {max_count: 300004, format: mx-e4m3fn, reduce: direct}
  - {max_count: 300005, format: e4m3, scale: backoff, reduce: ring}
  - {max_count: 300006, format: nvfp4, reduce: gather}
  - {format: e5m10, reduce: master}
END
}

# same NAME: the last run has the hash of the first.
same()
{
    hash=$(sed -n 's/^# hash: //p' "$tmp/stdout")
    expected=${expected:-$hash}
    [ -n "$hash" ] && [ "$hash" = "$expected" ]
    check $? "$1: the bits of one thread"
}

for nodes in 1 3; do
    expected=
    for threads in 1 2 3; do
        write_policy $threads >"$tmp/policy.yaml"
        run "threads $threads, nodes $nodes" 3 \
            -genv APSMPI_POLICY "$tmp/policy.yaml" \
            -genv APSMPI_TEST_NODES $nodes "$mpi/divided"
        same "threads $threads, nodes $nodes"
        says "^apsmpi: threads: rank 0 has $threads " \
            $((threads > 1)) "threads $threads, nodes $nodes: the summary's line"
    done
done

# Rank 0 is bound to one core, and has one thread; the other rank has all cores.
if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then
    write_policy auto >"$tmp/policy.yaml"
    core=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    cat >"$tmp/bound.sh" <<END
case \${PMI_RANK:-\$OMPI_COMM_WORLD_RANK} in
0) exec taskset -c $core "\$@" ;;
esac
exec "\$@"
END
    run "threads auto" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES 1 sh "$tmp/bound.sh" "$mpi/divided"
    mv "$tmp/stdout" "$tmp/auto"
    says '^apsmpi: threads: rank 0 has 1 thread for long slices$' 1 \
        "threads auto: a rank on one core has one thread"
    write_policy 1 >"$tmp/policy.yaml"
    run "two ranks" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES 1 "$mpi/divided"
    expected=$(sed -n 's/^# hash: //p' "$tmp/auto")
    same "threads auto, differently bound ranks"
else
    skip "threads auto" "no taskset, or a single core"
fi
finish
