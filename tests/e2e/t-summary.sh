#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# APSMPI_SUMMARY=json:FILE: the summary of a job as a JSON object.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all 'there is no Python'

# holds EXPRESSION: true for the objects of the lines of summary.json: `last` is
# the last one, `sums` its counts of MPI_Allreduce, `line` the text in err
holds()
{
    "$PYTHON3" - "$1" <<'END'
import json
import re
import sys

lines = open("summary.json", encoding="utf-8").read().split("\n")
assert lines.pop() == "", "the last line is not whole"
objects = [json.loads(text) for text in lines]
last = objects[-1]
calls = {part["call"]: part for part in last["calls"]}
sums = calls["MPI_Allreduce"]
line = open("text", encoding="utf-8").read()
print(last, line, sep="\n")
sys.exit(not eval(f"({sys.argv[1]})"))
END
}

policy good.yaml 'layers: fc2.*, format: fp32' 'format: e4m3, scale: aps'
sed -i '2i layers: table.csv' good.yaml
layer_table >table.csv
job 2 APSMPI_POLICY=good.yaml $digits --epochs 1
check 'the summary as text' lines 1 err 'calls of MPI_Allreduce, '
cp out native
mv err text

printf '{"schema": 1, "ki' >summary.json # cut by a full disk
job 2 APSMPI_SUMMARY=json:summary.json $digits --epochs 1
tail -n +2 summary.json >rest.json && mv rest.json summary.json
check 'half a line keeps to itself' holds 'last["kind"] == "summary"'

: >summary.json
job 2 APSMPI_POLICY=good.yaml APSMPI_SUMMARY=json:summary.json \
    APSMPI_LOG=log.csv $digits --epochs 1
check 'a summary as JSON: the job is the same' cmp native out
check '... and prints no summary' empty err
check '... the object says what it is' holds \
    'last["schema"] == 1 and last["kind"] == "summary"'
check '... of which version' holds "last['version'] == '$PACKAGE_VERSION'"
check '... of which job' holds \
    'last["ranks"] == 2 and last["policy"] == "good.yaml" and last["enabled"]'
check '... with the hash of the policy' holds \
    're.fullmatch("[0-9a-f]{16}", last["policy_hash"])'
check '... which run of the log' equal "$(distinct run log.csv)" \
    "$("$PYTHON3" -c 'import json; print(json.load(open("summary.json"))["run"])')"
check '... when' holds 'abs(last["time"] - __import__("time").time()) < 600'
check '... the counts are those of the text' holds \
    're.search("apsmpi: %d eligible calls of MPI_Allreduce, %d rewritten" % (
        sums["eligible"], sums["rewritten"]), line)'
check '... also of the calls that passed' holds \
    '"%d (no rule matched, or a rule says fp32)" % sums["passed"]["rule"] in line
     and sums["passed"]["rule"] > 0'
check '... none of the bytes came from a GPU, at most all past the caches' holds \
    'sums["device_bytes"] == 0 and
     0 <= sums["streamed_bytes"] <= sums["wire_bytes"]'
check '... of overflows' holds 'sums["redone_chunks"] == 0 and
    sums["overflowed_layers"] == dict(redo=0, inf=0, saturate=0, zero=0)'
check '... all of them' holds 'sums["calls"] == sums["rewritten"] +
    sum(sums["passed"].values())'
check '... and the bytes' holds '"sent %.1f KB instead of %.1f KB" % (
    sums["wire_bytes"] / 1e3, sums["fp32_bytes"] / 1e3) in line'
check '... the other calls are there, too' holds \
    'set(calls) == {"MPI_Allreduce", "MPI_Reduce_scatter",
                    "MPI_Reduce_scatter_block", "MPI_Allgather", "MPI_Reduce",
                    "MPI_Bcast"}'

# A second job appends a second line.
job 2 APSMPI_SUMMARY=JSON:summary.json APSMPI_ENABLE=0 $digits --epochs 1
check 'the next job appends' holds 'len(objects) == 2 and
    objects[0]["policy"] == "good.yaml"'
check '... that the library was switched off' holds \
    'not last["enabled"] and last["policy"] is None and sums["calls"] > 0 and
     sums["rewritten"] == 0 and last["policy_hash"] is None'


# --- every call counts once -----------------------------------------------------

# counted NAME REASON VARIABLE=VALUE...: a job whose FP32 sums all pass through
# for one reason
counted()
{
    name=$1 reason=$2
    shift 2
    job 2 APSMPI_SUMMARY=json:summary.json "$@" $digits --epochs 1
    check "$name: the job ends well" trained
    check '... every call counts once' holds 'sums["calls"] > 0 and
        sums["calls"] == sums["rewritten"] + sum(sums["passed"].values())'
    check '... FP32 sums for their own reason' holds \
        "{key for key, times in sums['passed'].items() if times > 0} <=
         {'type_or_operation', '$reason'} and sums['passed']['$reason'] > 0"
}
policy bad.yaml 'format: e99m0'
counted 'no policy' no_policy APSMPI_DISCOVERY=off
counted 'discovery' no_policy APSMPI_DISCOVERY=found
counted 'switched off' switched_off APSMPI_ENABLE=off APSMPI_POLICY=good.yaml
counted 'a bad policy' bad_policy APSMPI_ON_ERROR=pass APSMPI_POLICY=bad.yaml

# Sums without elements are FP32 sums, too, blocking and nonblocking.
cat >empty.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Request request;
    float x = 1, y;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&x, &y, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &y, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &y, 0, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Iallreduce(&x, &y, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -o empty empty.c || exit 1
printf 'version: 1\nmin_count: 2\nrules: [{format: e4m3}]\n' >small.yaml
job 2 APSMPI_SUMMARY=json:summary.json APSMPI_POLICY=small.yaml ./empty
check 'sums of no elements are smaller than min_count' holds \
    'sums["calls"] == 4 and sums["passed"]["min_count"] == 3 and
     sums["passed"]["type_or_operation"] == 1'

# Shares are those of eligible calls; the others have their type or size.
cat >types.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static double x[4096], y[4096];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(x, y, 4096, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(x, y, 4096, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Allreduce(x, y, 4096, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 4096, MPI_FLOAT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 64, MPI_FLOAT_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 100, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 100, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(x, y, 1024, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o types types.c || exit 1
policy types.yaml 'format: e4m3, min_count: 2000'
sed -i 's/^min_count: .*/min_count: 1000/' types.yaml
job 2 APSMPI_POLICY=types.yaml ./types
check 'the shares of eligible calls come first' lines 1 err \
    'apsmpi: 5 eligible calls of MPI_Allreduce, 1 rewritten (20.0 %, 50.0 % of their bytes); rank 0 sent '
check '... then the eligible calls that passed' lines 1 err \
    ' % saved); passed: 4 (no rule matched, or a rule says fp32); not eligible: '
check '... then the others with their types and sizes' lines 1 err \
    '; not eligible: 3 (integers), 3 (sums of double), 2 (other operations), 1 (other types), 1 (too short: min_count is 1000), 1 (on communicators of one rank)'
job 2 APSMPI_POLICY=types.yaml APSMPI_SUMMARY=json:summary.json ./types
check '... as JSON' holds 'sums["calls"] == 16 and sums["eligible"] == 5 and
    sums["eligible_bytes"] == 32768 and sums["rewritten_bytes"] == 16384'
check '... with the types' holds 'sums["type_or_operation_by"] == dict(
    integers=3, double=3, other_operations=2, other_types=1, arguments=0) and
    sums["passed"]["type_or_operation"] == 9'

# --- calls that are reduced together, and each function by its name -----------

cat >together.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[8][2048], y[4096], z[2048];
    int level, counts[2] = {2048, 2048};
    MPI_Request requests[8];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < 8; i++)
            MPI_Iallreduce(MPI_IN_PLACE, x[i], 2048, MPI_FLOAT, MPI_SUM,
                           MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        MPI_Reduce_scatter_block(y, z, 2048, MPI_FLOAT, MPI_SUM,
                                 MPI_COMM_WORLD);
    MPI_Reduce_scatter(y, z, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o together together.c || exit 1
for progress in calls thread; do
    policy together.yaml -t 'fuse: 64KiB' -t "progress: $progress" \
        'format: e4m3, calls: [allreduce, reduce_scatter]'
    job 2 APSMPI_POLICY=together.yaml ./together
    check "progress: $progress: fused calls, in how many batches" equal \
        "$(sed -n 's/.*160 rewritten (100.0 %, 100.0 % of their bytes), [0-9]* of them fused in \([0-9]*\) batch.*(mean [0-9.]*).*/\1/p' err | grep -c '^[1-9]')" 1
    check '... what carried them on' lines 1 err \
        ", 160 nonblocking (progress: $progress, MPI_THREAD_MULTIPLE)"
    check '... MPI_Reduce_scatter_block by its own name' lines 1 err \
        ' 3 eligible calls of MPI_Reduce_scatter_block, 3 rewritten'
    check '... with MPI_Reduce_scatter' lines 1 err \
        ' 1 eligible call of MPI_Reduce_scatter, 1 rewritten'
    cp err text
    job 2 APSMPI_POLICY=together.yaml APSMPI_SUMMARY=json:summary.json \
        ./together
    check '... as JSON' holds \
        "last['progress'] == '$progress' and
         last['thread_level'] == 'MPI_THREAD_MULTIPLE' and
         sums['nonblocking'] == 160 and 0 < sums['batches'] < sums['fused'] and
         calls['MPI_Reduce_scatter_block']['calls'] == 3"
done

# --- rank 0 sums nothing --------------------------------------------------------

cat >master.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[4096];
    MPI_Comm workers;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, -rank,
                   &workers);
    for (int i = 0; rank > 0 && i < 12; i++) {
        for (int k = 0; k < 4096; k++)
            x[k] = k % 7 + 1;
        MPI_Allreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM, workers);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o master master.c || exit 1
policy master.yaml -t 'steps: none' \
    'format: {auto: [e3m0, e6m9], target: snr 20dB}'
job 3 APSMPI_POLICY=master.yaml APSMPI_LOG=master.csv ./master
check 'rank 0 is a master: rank 0 of the workers tells its first call' \
    lines 1 err 'apsmpi: rank 2: master.yaml rewrites its first call'
check '... and prints the summary' lines 1 err \
    'calls of MPI_Allreduce, '
check '... of its own calls' lines 1 err '; rank 2 sent '
check '... and of the formats' lines 1 err 'format: auto: 1 measurement'
check '... and writes the final policy' test -s master-policy.yaml
: >summary.json
job 3 APSMPI_POLICY=master.yaml APSMPI_SUMMARY=json:summary.json ./master
check '... as JSON' holds 'last["rank"] == 2 and last["ranks"] == 3 and
    sums["rewritten"] > 0 and last["auto"]["measurements"] > 0 and
    len(last["auto"]["layers"]) == 1'

# --- files that cannot be written ---------------------------------------------

# unwritten NAME FILE CAUSE
unwritten()
{
    job 2 APSMPI_POLICY=good.yaml APSMPI_SUMMARY="json:$2" $digits --epochs 1
    check "$1: the job is the same" cmp native out
    check '... ends well' status_is 0
    check '... and reports it in one line' equal "$(cat err)" \
        "apsmpi: $2: cannot write the summary: $3"
}
unwritten 'a folder that does not exist' none/summary.json \
    'No such file or directory'
unwritten 'a full disk' /dev/full 'No space left on device'
mkfifo pipe
unwritten 'a pipe that nobody reads' pipe 'No such device or address'

# A limit on the size of files: the file has almost reached it (it has a large
# hole). MPI's own files are smaller.
rm -f summary.json
truncate -s 1073741820 summary.json
# shellcheck disable=SC2016 # for the shell inside
job 2 APSMPI_POLICY=good.yaml APSMPI_SUMMARY=json:summary.json sh -c \
    'ulimit -f 2097152 && exec "$@"' sh $digits --epochs 1
check 'a limit on the size of files: the job is the same' cmp native out
check '... ends well' status_is 0
check '... and reports it' lines 1 err 'summary.json: cannot write the summary: '

finish
