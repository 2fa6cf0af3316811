#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An error in policy, table, log or variables is reported once, not once a rank,
# with its place; and a bad policy stops the job before it trains.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

limit=20
ranks=3

# stopped [VARIABLE=VALUE...] NAME FILE: runs a job with the policy FILE and the
# error NAME; the lines on standard input are all that is printed about it
stopped()
{
    name=$1 policy=$2
    cat >wanted
    job $ranks APSMPI_POLICY="$policy" $digits --epochs 1
    check "$name stops the job" failed
    check '... before it trains' empty out
    while IFS= read -r line; do
        check "... $line" lines 1 err "$line"
    done <wanted
    check '... with nothing else to say but that' equal \
        "$(grep -c '^apsmpi: ' err)" $(($(wc -l <wanted) + 1))
    check '... and how to go on' lines 1 err 'APSMPI_ON_ERROR=pass'
}

# --- policies -----------------------------------------------------------------

stopped 'a missing policy' missing.yaml <<'END'
apsmpi: missing.yaml: No such file or directory
END

mkdir directory.yaml
stopped 'a directory as policy' directory.yaml <<'END'
apsmpi: directory.yaml: Is a directory
END

echo 'version: 1' >secret.yaml
chmod 0 secret.yaml
if [ -r secret.yaml ]; then
    skip 'an unreadable policy' 'this user reads everything'
else
    stopped 'an unreadable policy' secret.yaml <<'END'
apsmpi: secret.yaml: Permission denied
END
fi

: >empty.yaml
stopped 'an empty policy' empty.yaml <<'END'
apsmpi: empty.yaml: the file is empty
END

printf 'version: 1\n\000\001\377\n' >binary.yaml
stopped 'a binary policy' binary.yaml <<'END'
apsmpi: binary.yaml: not a text file (it holds a NUL byte)
END

printf 'version: 1\nrules: [{format: e4m3\n' >syntax.yaml
job $ranks APSMPI_POLICY=syntax.yaml $digits --epochs 1
check 'broken YAML stops the job' failed
check '... before it trains' empty out
check '... with the place' equal "$(grep -c 'apsmpi: syntax.yaml:2:9: ' err)" 1

cat >several.yaml <<'END'
version: 1
steps: {order: sideways}
rules:
  - formt: e5m2
  - format: e9m1
    scale: apss
END
stopped 'a policy with several errors' several.yaml <<'END'
apsmpi: several.yaml:2:16: unknown order 'sideways'
apsmpi: several.yaml:4:5: unknown key 'formt'; did you mean 'format'?
apsmpi: several.yaml:4:5: the rule has no 'format'
apsmpi: several.yaml:5:13: 
apsmpi: several.yaml:6:12: unknown scale 'apss'
END

policy clash.yaml 'max_count: 1999, format: e5m2, reduce: ring, group: 4' \
    'max_count: 2999, format: e5m2, reduce: master, group: 4, node: fp32' \
    'max_count: 3999, format: e5m2, reduce: auto, accumulate: kahan' \
    'format: e5m2, reduce: gather, accumulate: kahan, scale: aps-tight'
stopped 'a policy whose settings contradict its reductions' clash.yaml <<'END'
apsmpi: clash.yaml:4:51: 'group' cannot be combined with reduce: ring; use it with hierarchical, master or auto
apsmpi: clash.yaml:5:63: 'node' cannot be combined with reduce: master; use it with hierarchical or auto
apsmpi: clash.yaml:6:51: accumulate: kahan cannot be combined with reduce: auto; use it with direct, hierarchical or gather
apsmpi: clash.yaml:7:55: scale aps-tight cannot be combined with accumulate: kahan (every sender would have its own scale); use aps
END

policy groups.yaml 'max_count: 1999, format: e5m2, reduce: master, group: 0' \
    'format: e5m2, reduce: master, group: racks'
stopped 'a policy with groups of nobody' groups.yaml <<'END'
apsmpi: groups.yaml:4:60: 'group' must be at least 1
apsmpi: groups.yaml:5:43: unknown group 'racks'
END

policy notable.yaml -t 'layers: none.csv' 'format: e4m3'
stopped 'a missing layer table' notable.yaml <<'END'
apsmpi: notable.yaml:3:9: cannot read the layer table 'none.csv': No such file or directory
END

printf 'layer,name,count\n0,a,10\n2,b,0\n' >bad.csv
policy badtable.yaml -t 'layers: bad.csv' 'format: e4m3'
stopped 'a bad layer table' badtable.yaml <<'END'
apsmpi: bad.csv:3:1: layer index 2 out of order: expected 1
apsmpi: bad.csv:3:5: count must be above 0
END

ranks=1
stopped 'a missing policy on one rank alone' missing.yaml <<'END'
apsmpi: missing.yaml: No such file or directory
END

# Without MPI_Init a communicator finds that none of its ranks can read the
# file; ranks of other communicators might.
job 2 APSMPI_POLICY=missing.yaml "$probe" sessions
if grep -q 'no sessions' out; then
    skip 'a missing policy under the sessions model' 'this MPI has none'
else
    check 'a missing policy under the sessions model: calls pass' status_is 0
    check '... with the right sums' has out '3 sums right'
    check '... said once' lines 1 err \
        'no rank of this communicator can read the policy file'
fi

# --- warnings -----------------------------------------------------------------

echo 'version: 1
min_count: 500
rules:
  - {name: all, min_count: 400, format: e4m3}' >odd.yaml
job 3 APSMPI_POLICY=odd.yaml $digits --epochs 1
check 'a policy with a warning runs' status_is 0
check '... and the warning is printed once, with its place' lines 1 err \
    'apsmpi: odd.yaml:4:17: warning: min_count 400 has no effect'

# --- APSMPI_ON_ERROR ----------------------------------------------------------

native 2 $digits --epochs 1
cp out native

job 2 APSMPI_POLICY=several.yaml APSMPI_ON_ERROR=pass $digits --epochs 1
check 'APSMPI_ON_ERROR=pass goes on' status_is 0
check '... with the native result' cmp native out
check '... and the errors' lines 5 err 'apsmpi: several.yaml:'
check '... and one warning' lines 1 err \
    'every call passes through (APSMPI_ON_ERROR=pass)'
check '... and no rewritten call' rewritten 0

job 2 APSMPI_POLICY=several.yaml APSMPI_ENABLE=off $digits --epochs 1
check 'APSMPI_ENABLE=off does not look at the policy' cmp native out
check '... and the summary says why no call was rewritten' lines 1 err \
    'calls of MPI_Allreduce, none rewritten (APSMPI_ENABLE is off)'
job 2 APSMPI_STREAM=sometimes APSMPI_WORLD=off APSMPI_ENABLE=off $digits --epochs 1
check '... and stops no job, with APSMPI_WORLD=off, either' cmp native out
check '... and reports it' lines 1 err \
    'is bad: every call passes through (APSMPI_ENABLE is off)'

policy good.yaml 'format: e4m3, scale: aps'
job 2 APSMPI_POLICY=good.yaml APSMPI_LOG=low.csv $digits --epochs 1
cp out low

job 2 APSMPI_POLICY=good.yaml APSMPI_ON_ERROR=maybe $digits --epochs 1
check 'a bad APSMPI_ON_ERROR stops the job' failed
check '... before it trains' empty out
check '... with what was expected' lines 1 err \
    "APSMPI_ON_ERROR='maybe' is wrong: the value must be stop|pass"

for assignment in APSMPI_SUMMARY=maybe APSMPI_ENABLE=2 APSMPI_CPU=fast \
    APSMPI_TEST_NODES=two; do
    job 2 APSMPI_POLICY=good.yaml $assignment $digits --epochs 1
    check "$assignment stops the job" failed
    check '... before it trains' empty out
    check '... with what was expected' lines 1 err ': the value must be '
done

# A switch is on, yes, true or 1, or off, no, false or 0.
job 2 APSMPI_POLICY=good.yaml APSMPI_SUMMARY=0 $digits --epochs 1
check 'APSMPI_SUMMARY=0 is allowed' cmp low out
check '... and prints no summary' empty err
job 2 APSMPI_POLICY=good.yaml APSMPI_ENABLE=No $digits --epochs 1
check 'APSMPI_ENABLE=No switches the library off' cmp native out
job 2 APSMPI_POLICY=good.yaml APSMPI_ENABLE=TRUE $digits --epochs 1
check 'APSMPI_ENABLE=TRUE leaves it on' cmp low out

# --- unknown variables --------------------------------------------------------

job 3 APSMPI_POLICY=good.yaml APSMPI_POLCY=x APSMPI_XYZZY=1 $digits --epochs 1
check 'unknown variables do not stop the job' trained
check '... but named, with the nearest that exists' lines 1 err \
    "apsmpi: the unknown variable APSMPI_POLCY is ignored; \
did you mean 'APSMPI_POLICY'?"
check '... if one is near' lines 1 err 'the unknown variable APSMPI_XYZZY is ignored'

# --- ranks that differ --------------------------------------------------------

# differing ASSIGNMENT: a job of two ranks under good.yaml; rank 1 has another
# environment
differing()
{
    job 2 APSMPI_POLICY=good.yaml OTHER="$1" sh -c \
        "[ $launched_as != 1 ] || export \"\$OTHER\"; exec \"\$@\"" sh \
        $digits --epochs 1
}

differing APSMPI_POLICY=missing.yaml
check 'a rank that has no policy file gets it from rank 0' cmp low out
check '... and only the first call and the summary are printed' \
    equal "$(wc -l <err)" 2
differing APSMPI_POLICY=
check 'a rank without APSMPI_POLICY, too' cmp low out
differing APSMPI_SUMMARY=off
check 'a rank with another APSMPI_SUMMARY is like the others' cmp low out

policy second.yaml 'format: e5m2'
for other in APSMPI_POLICY=second.yaml APSMPI_ENABLE=off \
    APSMPI_TEST_NODES=2 APSMPI_ON_ERROR=pass; do
    differing $other
    check "$other on rank 1 alone: the calls pass through" cmp native out
    check '... said once' lines 1 err \
        ': every call passes through'
    check '... with the rank' has err 'rank 1 '
done

differing APSMPI_POLICY=several.yaml
check 'a policy that is bad on rank 1 alone stops the job' failed
check '... before it trains' empty out
check '... with its errors, and the rank' lines 5 err \
    'apsmpi: rank 1: several.yaml:'

# --- the log ------------------------------------------------------------------

# without_log NAME PATH CAUSE
without_log()
{
    job 2 APSMPI_POLICY=good.yaml APSMPI_LOG="$2" $digits --epochs 1
    check "$1: the training goes on" status_is 0
    check '... with the same result' cmp low out
    check '... and one warning' lines 1 err "apsmpi: rank 0: $2: $3"
    check '... besides the first call and the summary' equal "$(wc -l <err)" 3
}

without_log 'a log in a folder that does not exist' none/log.csv \
    'cannot open the log: No such file or directory; the job runs without a log'
without_log 'a folder as log' directory.yaml 'cannot open the log: '
without_log 'a full disk' /dev/full \
    'cannot write the log: No space left on device; the job runs without a log'

sed 's/^/x/' several.yaml >foreign.csv
cp foreign.csv copy.csv
job 2 APSMPI_POLICY=good.yaml APSMPI_LOG=foreign.csv $digits --epochs 1
check 'a foreign file as log is left alone' cmp foreign.csv copy.csv
check '... with one warning, which names the log' lines 1 err \
    'foreign.csv is not a round-off log of this version and is left alone: the log is foreign-1.csv'
check '... besides the first call and the summary' equal "$(wc -l <err)" 3
check '... and the same result' cmp low out
check '... whose rows are there' equal "$(column step foreign-1.csv | wc -l)" \
    "$(column step low.csv | wc -l)"
job 2 APSMPI_POLICY=good.yaml APSMPI_LOG=foreign.csv $digits --epochs 1
check '... as are those of the next job' equal \
    "$(column run foreign-1.csv | uniq | wc -l) $(ls foreign.csv foreign-?.csv |
        wc -l)" '2 2'
check '... which reports it, too' lines 1 err 'the log is foreign-1.csv'

# The disk becomes full in the middle: a limit on the size of files, and a log
# that has almost reached it (it has a large hole). MPI's own files are smaller.
policy every.yaml -t 'log: {file: large.csv, every: 1}' \
    'format: e4m3, scale: aps'
sed -n '/^time,/p' low.csv >large.csv
dd if=/dev/zero of=large.csv bs=1 count=0 seek=1073739824 2>/dev/null
# shellcheck disable=SC2016 # for the inner shell
job 2 APSMPI_POLICY=every.yaml sh -c \
    'ulimit -f 2097152; exec "$@"' sh $digits --epochs 1
check 'a log that cannot grow: the training goes on, without a signal' cmp low out
check '... with one warning' lines 1 err \
    'large.csv: cannot write the log: File too large; the job runs without a log'

# --- pipes --------------------------------------------------------------------

# None of them is waited for.
mkfifo silent.yaml unread
job 2 APSMPI_POLICY=silent.yaml $digits --epochs 1
check 'a policy that is a pipe without a writer: the job stops' failed
check '... and names it' lines 1 err \
    'silent.yaml: a pipe into which no process writes'
check '... without a wait' test "$taken" -le 20
policy good.yaml 'format: e4m3'
job 2 APSMPI_POLICY=good.yaml APSMPI_LOG=unread $digits --epochs 1
check 'a log that is a pipe without a reader: the job ends well' status_is 0
check '... and one line says so' lines 1 err \
    'unread: cannot open the log: no process reads the pipe'
sleep 60 <unread &
sleeper=$!
policy often.yaml -t 'log: {file: unread, every: 1}' 'format: e4m3'
job 2 APSMPI_POLICY=often.yaml $digits --epochs 10
check '... with a reader that does not read: the job ends well' status_is 0
check '... and one line says so' lines 1 err \
    'unread: cannot write the log: no process reads the pipe'
kill $sleeper
rm unread
mkfifo unread # without the rows that were not read
exec 3<>unread # a reader from now on, however late cat begins
cat unread >read.csv 3>&- & # it ends with the last writer
job 2 APSMPI_POLICY=good.yaml APSMPI_LOG=unread $digits --epochs 1
exec 3>&-
wait
check 'a log that is a pipe with a reader has all rows' grep -q '^# end' read.csv
cat good.yaml >silent.yaml &
"$apsmpi" check silent.yaml >out 2>err
check 'a policy from a pipe' has out 'silent.yaml: ok'

finish
