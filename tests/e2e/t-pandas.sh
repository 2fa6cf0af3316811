#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pandas reads logs as apsmpi-log(5) documents: all kinds of calls, events, and
# names with all difficult characters. The other tests here have their logs
# read, too (lib.sh: finish).
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

status=0
"$PYTHON3" "$top_srcdir/tests/tap/logs.py" >out 2>&1 || status=$?
[ $status -ne 77 ] || skip_all "$PYTHON3: $(cat out)"

# --- every kind of call, on communicators of all names ------------------------

cat >calls.yaml <<'END'
version: 1
min_count: 1
pcontrol: on
log: {file: calls.csv, every: 1}
rules:
  - {calls: [reduce, allgather], format: e5m2, name: others}
  - {calls: [allreduce, reduce_scatter], format: e4m3, scale: aps}
END
calls='allgather allreduce iallreduce reduce reduce_scatter
    reduce_scatter_block'
[ "$MPI" = openmpi ] || calls="$calls allreduce_init"
latin=$(printf 'M\374ller')
job 2 APSMPI_POLICY=calls.yaml "$top_builddir/tests/e2e/logged" 3 plain '' \
    'a,b' 'say "x"' 'model#1' '#' 'two
lines' "$(printf 'back\rward')" 'Müller € 😀' "$latin" ' ' '"' "'" NA nan -inf \
    0x10 'a;b' 'a	b'
check 'all kinds of calls' has out 'all calls made'
check '... are in the log' equal "$(column call calls.csv \
    'v["comm"] == "plain"' | sort -u | tr '\n' ' ')" \
    "$(printf '%s\n' $calls | sort | tr '\n' ' ')"
check '... with the name of the rule, or its number' equal "$(column rule \
    calls.csv 'v["comm"] == "plain"' | sort -u | tr '\n' ' ')" '1 others '
check '... and an event' has calls.csv '# run='

# --- layers of all names, and events ------------------------------------------

cat >layers.csv <<'END'
layer,name,count
0,conv#1,4096
1,"# all, ""of it""",64
2,Größe,4096
3,NA,64
4,"nan",640
5,"it's",10
END
policy names.yaml -t 'layers: layers.csv' -t 'log: {file: names.csv, every: 1}' \
    'format: e4m3'
job 2 APSMPI_POLICY=names.yaml $digits --epochs 1
check 'layers of all names' trained
sed 's/,640$/,641/' layers.csv >wrong.csv
policy lost.yaml -t 'layers: wrong.csv' -t 'log: {file: lost.csv, every: 1}' \
    'format: e3m0'
job 2 APSMPI_POLICY=lost.yaml $digits --epochs 1
check 'an event with such a name' has lost.csv '# '

# pandas finds the same as csv, and both find the written values.
cat >meant.py <<'END'
import pandas, sys
names = pandas.read_csv("names.csv", comment="#", keep_default_na=False)
assert sorted(set(names.name)) == sorted(
    ["conv#1", '# all, "of it"', "Größe", "NA", "nan", "it's"]), set(names.name)
comms = set(pandas.read_csv("calls.csv", comment="#", keep_default_na=False).comm)
for name in ["plain", "comm0", "a,b", 'say "x"', "model#1", "#", "two lines",
             "back ward", "Müller € 😀", "M?ller", " ", '"', "'", "NA", "nan",
             "-inf", "0x10", "a;b", "a\tb", "MPI_COMM_WORLD"]:
    comms.remove(name)
assert not comms, comms
END
check 'pandas finds the names as they were given' "$PYTHON3" -W ignore meant.py
check '... and apsmpi-report reads the logs without complaint' \
    "$PYTHON3" "$report" calls.csv names.csv lost.csv

finish
