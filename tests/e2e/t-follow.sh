#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-report --follow: the table while the log grows, on terminals of 80 and
# 200 columns (follow_check.py), without a terminal, and during a real job.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import pty; pty.openpty()' 2>/dev/null ||
    skip_all "$PYTHON3 is missing, or there are no pseudo-terminals"
log=$top_srcdir/tests/e2e/data/report.csv

# follow_fails ARGUMENTS...: the command fails at once, with status 2
follow_fails()
{
    limit=20
    timed "$PYTHON3" "$report" --follow "$@"
    status_is 2
}

# --- errors -------------------------------------------------------------------

check '--follow needs a log' follow_fails
check '... one alone' follow_fails "$log" "$log"
check '... as it says' has err '--follow takes one LOG, and writes no file'
check '--follow and --html' follow_fails --html page.html "$log"
check '--follow and --bench' follow_fails --bench "$log"
check 'a directory' follow_fails "$tmp"
check '... is named' has err "$tmp: --follow needs a regular file"
mkfifo fifo
check 'a pipe does not hang it' follow_fails fifo
echo 'a,b' >other.csv
check 'another file' follow_fails other.csv
check '... is named, with its line' has err \
    "other.csv:1: not a round-off log: no column 'time'"
head -c 100000 /dev/zero >zeros.csv
check 'a file without lines' follow_fails zeros.csv
check '... is not a log' has err 'zeros.csv:1: not a round-off log: a line of more'
cp "$log" secret.csv
chmod 0 secret.csv
if [ -r secret.csv ]; then
    skip 'a file that cannot be read' 'this user can read every file'
else
    check 'a file that cannot be read' follow_fails secret.csv
    check '... is named' has err 'secret.csv: Permission denied'
fi
chmod 600 secret.csv

# --- while the log grows ------------------------------------------------------

# scene ARGUMENTS...: runs a scene of follow_check.py, and takes over its lines
scene()
{
    limit=300
    timed "$PYTHON3" "$top_srcdir/tests/e2e/follow_check.py" "$@"
    while read -r line; do
        case $line in
        'ok - '* | 'not ok - '*)
            number=$((number + 1))
            echo "${line%% - *} $number - ${line#* - }"
            ;;
        *) echo "$line" ;;
        esac
    done <out
    failures=$((failures + $(grep -c '^not ok' out)))
    check "the scene $1 has ended well" status_is 0
}
scene 80 24 "$report" live.csv
scene 200 48 "$report" live.csv
scene signal "$report" live.csv
scene lines "$report" live.csv
scene candidates "$report" live.csv

# The reader ends: the next table ends the report.
cp "$log" gone.csv
{
    timeout 60 "$PYTHON3" "$report" --follow gone.csv 2>gone.err
    echo $? >gone.status
} | head -n 1 >gone &
reader=$!
tries=0
until [ -s gone ] || [ $tries -ge 600 ]; do
    tries=$((tries + 1))
    sleep .1
done
tail -n 1 "$log" >>gone.csv
wait $reader
check 'a closed pipe is not an error' equal "$(cat gone.status)" 0
check '... and no noise' empty gone.err

# --- during a job -------------------------------------------------------------

policy job.yaml -t 'log: {file: job.csv, every: 1}' 'format: e4m3, scale: aps'
"$PYTHON3" -u "$report" --follow --by format job.csv >followed 2>followed.err &
follower=$!
sleep 3 # a report that begins after the end of the run waits for the next one
# shellcheck disable=SC2154 # of lib.sh
job 2 APSMPI_POLICY=job.yaml $digits --epochs 3
check 'a job that is followed' trained
rows=$(column run job.csv | wc -l)
check '... its log says that it has ended' equal "$(grep -c '^# end run=' job.csv)" 1
tries=0
while kill -0 $follower 2>/dev/null && [ $tries -lt 600 ]; do
    tries=$((tries + 1))
    sleep .1
done
check '... with which the report ends' test $tries -lt 600
kill $follower 2>/dev/null
wait $follower 2>/dev/null
check '... with the status 0' equal $? 0
check '... to its last row' has followed "job.csv: $rows rows"
check '... without a word of complaint' empty followed.err
timed "$PYTHON3" "$report" --by format job.csv
tail -n "$(wc -l <out)" followed >last
check '... with the same table in the end' cmp out last

# The report ignores a run that has ended before, and waits for the next one.
"$PYTHON3" -u "$report" --follow --by format job.csv >followed 2>followed.err &
follower=$!
tries=0
until grep -q "^job.csv: $rows rows" followed || [ $tries -ge 600 ]; do
    tries=$((tries + 1))
    sleep .1
done
sleep 1.2
check 'a log whose run has ended' kill -0 $follower
job 2 APSMPI_POLICY=job.yaml $digits --epochs 1
tries=0
while kill -0 $follower 2>/dev/null && [ $tries -lt 600 ]; do
    tries=$((tries + 1))
    sleep .1
done
check '... is followed to the end of the next one' test $tries -lt 600
kill $follower 2>/dev/null
check '... whose rows are there' has followed "job.csv: $(column run job.csv |
    wc -l) rows"

finish
