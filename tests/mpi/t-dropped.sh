# SPDX-License-Identifier: BSD-3-Clause
# MPI_Pcontrol(4): a program that loads other weights drops the state of compressors.
. "$top_srcdir/tests/mpi/run.sh"

# policy LAYERS LINE: a step of LAYERS layers, and a line of the policy
policy()
{
    cat >"$tmp/policy.yaml" <<END
version: 1
$2
steps: {calls: $1}
rules: [{compress: {topk: 0.5}}]
END
}

# dropped RANKS LAYERS LINE WHAT
dropped()
{
    policy "$2" "$3"
    run "$1 ranks, $3, $4" "$1" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/dropped" "$4"
}

for line in 'progress: calls' 'fuse: 1MiB' 'fuse: 1' 'progress: thread'; do
    for ranks in 2 3; do
        dropped $ranks 1 "$line" blocking
        if can_be_driven; then
            dropped $ranks 1 "$line" steps
            dropped $ranks 2 "$line" layers
        else
            skip "$ranks ranks, $line, nonblocking" "Open MPI's MPI_Comm_idup \
(4.1) fails beside other nonblocking collectives"
        fi
    done
done

policy 1 'progress: calls'
run "a log" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
    -genv APSMPI_LOG "$tmp/log.csv" "$mpi/dropped" blocking
[ "$(grep -c '^# MPI_Pcontrol(4)' "$tmp/log.csv")" -eq 4 ]
check $? "a log: it says where something was dropped"
finish
