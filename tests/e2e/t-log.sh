#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The log outlives the job: however the job ends, there are whole rows, and
# apsmpi-report reads them. A second job appends.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policy every.yaml -t 'log: {file: unused.csv, every: 1}' \
    'format: e4m3, scale: aps'

# readable LOG: whole, and apsmpi-report agrees
readable()
{
    check "... $(column step "$1" | wc -l) rows are whole" whole_log "$1"
    check '... under one header' lines 1 "$1" time,comm,step
    check '... which apsmpi-report reads without complaint' \
        reads_without_complaint "$1"
}

reads_without_complaint()
{
    "$PYTHON3" "$report" "$1" >table 2>complaints && empty complaints &&
        has table e4m3
}

# ends_as_native STATUS PROGRAM...: the last job ended with this status, which a
# job without the library had, or with another status that such a job has. If a
# rank exits, mpiexec returns its status, or that of a rank that it has killed.
ends_as_native()
{
    ends_with=$status ends_once=$1
    shift
    [ "$ends_with" -ne "$ends_once" ] || return 0
    mkdir -p again
    for ends_try in $(seq 20); do
        # in a directory and a shell of its own: out, err and $status stay
        (cd again && native 3 "$@" && status_is "$ends_with") && return
    done
    return 1
}

# --- the job ends by itself ---------------------------------------------------

for how in kill abort exit; do
    native 3 "$probe" $how 100
    without=$status
    job 3 APSMPI_POLICY=every.yaml APSMPI_LOG=$how.csv "$probe" $how 100
    check "$how: the job fails" failed
    check '... with the status that it has without the library' \
        ends_as_native "$without" "$probe" $how 100
    check '... after 100 sums' test "$(column step $how.csv | wc -l)" -ge 100
    readable $how.csv
done

# --- the job is killed --------------------------------------------------------

# start LOG: starts an endless job in the background; its process ids go to
# mpiexec.pid and rank.0 ...
start()
{
    rm -f out # of the job before: not to be taken for this one's
    # shellcheck disable=SC2016 # for the inner shell
    LOG=$1 sh -c 'echo $$ >mpiexec.pid; exec "$@"' sh \
        $launch -n 3 env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY=every.yaml \
        APSMPI_LOG="$1" sh -c "echo \$\$ >rank.$launched_as; exec \"\$@\"" sh \
        "$probe" endless 50 </dev/null >out 2>err &
    background=$!
    wait_for grep -q 'so far' out
}

# wait_for COMMAND...: waits until it succeeds, for half a minute at most
wait_for()
{
    tries=0
    until "$@" 2>/dev/null || [ $tries -ge 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}

gone()
{
    for file in rank.0 rank.1 rank.2; do
        ! kill -0 "$(cat $file)" 2>/dev/null || return 1
    done
}

# clean_up ['may end well']: the ranks end, and the job has failed
clean_up()
{
    status=0
    wait_for gone
    check '... all ranks end' gone
    for file in rank.0 rank.1 rank.2; do
        ! gone && kill -KILL "$(cat $file)" 2>/dev/null
    done
    wait $background 2>/dev/null || status=$?
    [ "${1:-fails}" = 'may end well' ] ||
        check '... and the job has failed' test $status -ne 0
}

start rank.csv
kill -KILL "$(cat rank.1)"
diag 'one rank is killed'
clean_up
readable rank.csv

start first.csv
kill -KILL "$(cat rank.0)"
diag 'rank 0, which writes the log, is killed'
clean_up
readable first.csv

start mpiexec.csv
kill -KILL "$(cat mpiexec.pid)"
diag 'mpiexec is killed'
clean_up
readable mpiexec.csv

start term.csv
kill -TERM "$(cat mpiexec.pid)"
diag 'mpiexec is terminated'
# MPICH's mpiexec ends with 0 if its proxies report no failure in time.
clean_up 'may end well'
readable term.csv

# --- a second job -------------------------------------------------------------

rows=$(column step kill.csv | wc -l)
job 2 APSMPI_POLICY=every.yaml APSMPI_LOG=kill.csv $digits --epochs 1
check 'a second job' trained
check '... appends to the log of the first' equal \
    "$(column step kill.csv | wc -l)" $((rows + 66))
readable kill.csv

check '... which has another id in all its rows' equal \
    "$(column run kill.csv | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" \
    "$rows 66 "
check '... later in the alphabet' equal \
    "$(column run kill.csv | uniq)" "$(column run kill.csv | sort -u)"
run_line()
{
    grep '^# run=' "$1" | tail -n 1 | grep -o "$2"
}
check '... and has told what it is' equal \
    "$(run_line kill.csv 'run=[^ ]*' | cut -d= -f2)" \
    "$(column run kill.csv | tail -n 1)"
check '... with the version' equal "$(run_line kill.csv 'apsmpi=[^ ]*')" \
    "apsmpi=$PACKAGE_VERSION"
check '... with its ranks and nodes' run_line kill.csv 'ranks=2 nodes=1 host='
check '... and the same policy' equal \
    "$(grep -o 'policy_hash=[0-9a-f]*' kill.csv | sort -u | wc -l)" 1

cp every.yaml 'our "own" policy.yaml'
job 2 APSMPI_POLICY='our "own" policy.yaml' APSMPI_LOG=quoted.csv \
    $digits --epochs 1
check 'quotes in the name of a policy have backslashes' has quoted.csv \
    'our \"own\" policy.yaml"'

# Every column, for the calls of the program and the settings of the rule.
cat >settings.yaml <<'END'
version: 1
min_count: 1
log: {file: settings.csv, every: 1}
rules:
  - {min_count: 9999, format: fp32}
  - {format: e4m3, scale: {fixed: 0.3}, reduce: hierarchical, group: 2,
     node: fp32}
END
job 2 APSMPI_POLICY=settings.yaml "$probe" sums 2
check 'the log has the settings of a rule' equal "$(for name in rule scale \
    scale_exp scale_value reduce group node accumulate shadow redone call; do
        distinct $name settings.csv; echo; done | tr '\n' ' ')" \
    '1 fixed 0 0.300000012 hierarchical 2 fp32 fp32 0 0 allreduce '
policy named.yaml -t 'log: {file: named.csv, every: 1}' \
    'name: all-layers, format: e4m3'
job 2 APSMPI_POLICY=named.yaml "$probe" sums 2
check '... or its name' equal "$(distinct rule named.csv)" all-layers
policy direct.yaml -t 'log: {file: direct.csv, every: 1}' \
    'format: e4m3, scale: aps, reduce: direct'
job 2 APSMPI_POLICY=direct.yaml "$probe" sums 2
check '... and nothing where a setting has no meaning' equal \
    "$(for name in group node accumulate; do
        echo "$name=$(distinct $name direct.csv)"; done | tr '\n' ' ')" \
    'group= node= accumulate=fp32 '
check '... two to the power of the exponent' equal "$(column scale_value \
    direct.csv 'v["scale_value"] != 2 ^ v["scale_exp"]')" ''

# A full disk or a crash of the machine may leave half a row.
job 2 APSMPI_POLICY=every.yaml APSMPI_LOG=whole.csv "$probe" sums 2
grep -v '^# end run=' whole.csv >rows.csv
dd if=rows.csv of=cut.csv bs=1 count=$(($(wc -c <rows.csv) - 20)) 2>/dev/null
job 2 APSMPI_POLICY=every.yaml APSMPI_LOG=cut.csv "$probe" sums 2
check 'half a row at the end of a log' rewritten 2
sed '4d' cut.csv >rest.csv
check '... spoils no other row' whole_log rest.csv
check '... of which there are three' equal "$(column step rest.csv | wc -l)" 3
timed "$PYTHON3" "$report" cut.csv
check '... and apsmpi-report names it' lines 1 err cut.csv:4:

printf '%s\n' 'version: 1' 'min_count: 1' 'log: {file: relative.csv, every: 1}' \
    'rules: [{format: e4m3, scale: aps}]' >relative.yaml
mkdir elsewhere
job 2 APSMPI_POLICY="$tmp/relative.yaml" sh -c 'cd elsewhere && exec "$@"' sh \
    "$probe" sums 3
# shellcheck disable=SC2012 # known names
diag "a relative log stands in: $(ls relative.csv elsewhere/relative.csv \
    2>/dev/null)"
check 'a relative name of a log gives one log' test \
    "$(find . -name relative.csv | wc -l)" -eq 1

# Quotes and commas in a layer's name.
cat >names.csv <<'END'
layer,name,count
0,"a ""fine"", layer",4096
END
policy names.yaml -t 'layers: names.csv' \
    -t 'log: {file: quoted.csv, every: 1}' 'format: e4m3'
job 2 APSMPI_POLICY=names.yaml "$probe" sums 3
check 'a name with commas and quotes is quoted in the log' \
    lines 3 quoted.csv '"a ""fine"", layer"'
check '... and read by apsmpi-report' reads_without_complaint quoted.csv
check '... as it was' has table 'a "fine", layer'

finish
