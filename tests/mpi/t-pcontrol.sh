# SPDX-License-Identifier: BSD-3-Clause
# MPI_Pcontrol: off, on, flush, marks; ranks that differ, come late, or not.
. "$top_srcdir/tests/mpi/run.sh"

rounded='format: e3m0, scale: none, reduce: direct'
policies=$tmp
cat >"$tmp/switch.yaml" <<END
version: 1
steps: {calls: 2}
rules: [{layers: 0, $rounded}]
END
cat >"$tmp/all.yaml" <<END
version: 1
rules: [{$rounded}]
END
cat >"$tmp/epochs.yaml" <<END
version: 1
steps: {calls: 1, per_epoch: 2}
rules: [{epochs: "1, 3", $rounded}]
END
sed '1a\
pcontrol: off' "$tmp/all.yaml" >"$tmp/off.yaml"
sed '1a\
progress: thread' "$tmp/all.yaml" >"$tmp/thread.yaml"
sed '1a\
fuse: 1MiB' "$tmp/all.yaml" >"$tmp/lazy.yaml"
cat >"$tmp/others.yaml" <<END
version: 1
steps: {calls: 1, per_epoch: 1}
rules: [{calls: reduce, epochs: 1, format: e3m0, scale: none}]
END
sed "1a\\
log: {file: $tmp/flushed.csv, every: 1}" "$tmp/all.yaml" >"$tmp/flush.yaml"

# with NAME RANKS POLICY ARG...
with()
{
    with_name=$1 with_ranks=$2 with_policy=$3
    shift 3
    run "$with_name" "$with_ranks" -genv APSMPI_POLICY \
        "$policies/$with_policy.yaml" "$@"
}

# The program sleeps for more than twice the patience.
late_ranks()
{
    with "late ranks" 3 all -genv APSMPI_TEST_PATIENCE 1000 "$mpi/pcontrol" late
    says '^apsmpi: rank 0: waits in MPI_Pcontrol(0)' 1 \
        "late ranks: rank 0 waits for rank 1 and reports it once"
    says '^apsmpi: rank 2: waits in MPI_Pcontrol(0)' 0 \
        "late ranks: the others leave it to rank 0"
    says '^apsmpi: rank 1: waits in MPI_Pcontrol(1)' 1 \
        "late ranks: rank 1 waits for rank 0 and reports it once"
}
beside late_ranks

for ranks in 1 2 3 4; do
    with "$ranks ranks, off and on" $ranks switch "$mpi/pcontrol" switch
    with "$ranks ranks, marks at the beginning of epochs" $ranks epochs \
        "$mpi/pcontrol" marks-first
    with "$ranks ranks, marks between epochs" $ranks epochs \
        "$mpi/pcontrol" marks-between
done
with "off early" 3 all "$mpi/pcontrol" early
says 'after MPI_Pcontrol(0)' 1 "off early: the summary has the reason"
with "other levels" 2 epochs "$mpi/pcontrol" levels
with "a message under way" 2 all "$mpi/pcontrol" message
if can_be_driven; then
    with "nonblocking calls" 3 all "$mpi/pcontrol" nonblocking
    with "nonblocking calls, a thread" 2 thread "$mpi/pcontrol" nonblocking \
        threads
    says apsmpi 2 "nonblocking calls, a thread: the first call and the summary alone"
    with "nonblocking calls, lazy" 3 lazy "$mpi/pcontrol" nonblocking
    for policy in all lazy; do
        with "$policy.yaml, a reduction under way" 3 $policy "$mpi/pcontrol" blocked
        with "$policy.yaml, a persistent request" 2 $policy "$mpi/pcontrol" \
            persistent
    done
else
    skip "nonblocking calls" "Open MPI's MPI_Comm_idup (4.1) fails beside other \
nonblocking collectives"
fi
with "others" 3 others "$mpi/pcontrol" others
with "flush" 2 flush "$mpi/pcontrol" flush

for ranks in 2 4; do
    with "$ranks ranks that differ" $ranks all "$mpi/pcontrol" differ
    says "^apsmpi: rank $((ranks - 1)): calls MPI_Pcontrol(0), but rank 0 calls \
MPI_Pcontrol(1): nothing changes" 1 "$ranks ranks that differ: said once"
    says '^apsmpi: rank 1: calls MPI_Pcontrol(3), but rank 0 calls MPI_Pcontrol(0)' \
        1 "$ranks ranks that differ: by the lowest"
done

with "a log" 2 all -genv APSMPI_LOG "$tmp/log.csv" "$mpi/pcontrol" early
[ "$(grep -c '^# MPI_Pcontrol(0)' "$tmp/log.csv")" -eq 1 ] &&
    [ "$(grep -c '^# MPI_Pcontrol(1)' "$tmp/log.csv")" -eq 1 ]
check $? "a log: it says where it was off"

# Ranks with nothing to control, or on which control has no effect.
with "pcontrol: off" 3 off "$mpi/pcontrol" alone-rounded
run "no policy" 3 "$mpi/pcontrol" alone-exact
with "switched off by APSMPI_ENABLE" 3 all -genv APSMPI_ENABLE off \
    "$mpi/pcontrol" alone-exact

with "no world of the job" 2 all -genv APSMPI_WORLD off "$mpi/pcontrol" \
    alone-rounded
says '^apsmpi: MPI_Pcontrol([013]) changes nothing' 1 \
    "no world of the job: said once"

# Only rank 0 has a policy; it sends the policy to the other ranks.
run_mpiexec "a policy on rank 0 only" \
    -n 1 -env APSMPI_POLICY "$tmp/all.yaml" "$mpi/pcontrol" early : \
    -n 2 -env APSMPI_POLICY "$tmp/none" "$mpi/pcontrol" early
run_mpiexec "a policy on rank 0 only, marks" \
    -n 1 -env APSMPI_POLICY "$tmp/epochs.yaml" "$mpi/pcontrol" marks-first : \
    -n 3 -env APSMPI_POLICY "$tmp/none" "$mpi/pcontrol" marks-first

# MPICH refuses calls before MPI_Init, with its own message.
# shellcheck disable=SC2086 # two words
timeout "$seconds" $launch -n 1 -genv APSMPI_POLICY "$tmp/all.yaml" \
    "$mpi/pcontrol" too-early >"$tmp/native" 2>&1 </dev/null
native=$?
# shellcheck disable=SC2086 # two words
timeout "$seconds" $launch -n 1 -genv LD_PRELOAD "$library" \
    -genv APSMPI_POLICY "$tmp/all.yaml" \
    "$mpi/pcontrol" too-early >"$tmp/stdout" 2>&1 </dev/null
[ $? -eq $native ] && [ "$(grep Attempting "$tmp/native")" = \
    "$(grep Attempting "$tmp/stdout")" ]
check $? "before MPI_Init it is MPI's to answer"

library=$library:$mpi/.libs/preload_after.so
with "a profiler behind" 2 off "$mpi/pcontrol" behind
with "a profiler behind, under control" 2 all "$mpi/pcontrol" behind
finish
