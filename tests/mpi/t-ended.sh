# SPDX-License-Identifier: BSD-3-Clause
# A failure inside the library ends its use of the communicator. The call and later
# calls return the error; a line names rank, call and cause; a fatal error ends the job.
. "$top_srcdir/tests/mpi/run.sh"

library=$mpi/.libs/inject.so:$library
progress=calls
can_be_driven || progress=thread
line='rank 1: .* failed on .*: .*; every later call on it'

# ended HOW CALL WHEN FUNCTION NUMBER RULE
ended()
{
    name="$2, $3, $4 number $5, $6"
    [ "$1" = handled ] || name="$name, $1"
    printf 'version: 1\nmin_count: 1\nprogress: %s\nrules: [{format: e5m10, %s}]\n' \
        "$progress" "$6" >"$tmp/policy.yaml"
    [ "$2" != fused ] || echo 'fuse: 1MiB' >>"$tmp/policy.yaml"
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -n 2 -genv LD_PRELOAD "$library" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/ended" "$2" "$3" "$4" "$5" \
        "$1" </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    status=$?
    case $1,$status in
    fatal,0 | fatal,3 | fatal,4 | fatal,98 | fatal,99 | fatal,124) false ;;
    fatal,* | *,3) true ;;
    *) false ;;
    esac
    ends=$?
    check $ends "$name: an error here, and of the next call"
    grep -q "^apsmpi: $line" "$tmp/stderr"
    line_there=$?
    check $line_there "$name: a line names rank, call and cause"
    [ $ends$line_there = 00 ] || show_errors
}

while read -r call when function number rule; do
    ended handled "$call" "$when" "$function" "$number" "$rule"
done <<END
blocking later PMPI_Isend 1 reduce: direct, scale: none
nonblocking later PMPI_Isend 1 reduce: direct, scale: none
fused later PMPI_Isend 2 reduce: direct, scale: none
reduce later PMPI_Isend 1 calls: [reduce], scale: none
scatter later PMPI_Isend 1 calls: [reduce_scatter], scale: none
blocking later PMPI_Testall 1 reduce: direct, scale: aps
nonblocking later PMPI_Testall 1 reduce: direct, scale: none
fused later PMPI_Testall 1 reduce: direct, scale: none
blocking first PMPI_Iallreduce 1 reduce: direct, scale: none
nonblocking first PMPI_Iallreduce 1 reduce: direct, scale: none
END
# Either rank ends the job, perhaps before the other one has written its line. Rank 1
# has named the failed call before it told rank 0.
line="rank [01]${line#rank 1}"
ended fatal blocking later PMPI_Isend 1 'reduce: direct, scale: none'
says '^apsmpi: rank 1: MPI_Isend to rank 0 failed inside a rewritten call: ' 1 \
    'rank 1 names the call that failed'
line="rank 1${line#rank \[01\]}"
APSMPI_TEST_PATIENCE=1000
export APSMPI_TEST_PATIENCE
ended waits nonblocking first PMPI_Iallreduce 1 'reduce: direct, scale: none'
says '^apsmpi: rank 0: has waited for ten seconds for requests; .*: 2 of ' 1 \
    "rank 0 says what it waits for"
finish
