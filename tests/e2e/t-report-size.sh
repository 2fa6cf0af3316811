#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-report on large logs: it holds none of them in memory, and its figures are
# right at the seams of the blocks that it reads. 20,000 rows; in `make check-long`
# a million. The time allowed is several times the one of an idle machine.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import resource' 2>/dev/null ||
    skip_all "$PYTHON3 is missing, or cannot measure processes"
size=$top_srcdir/tests/e2e/report_size.py
rows=20000 seconds=5
[ -z "${APS_TEST_LONG-}" ] || { rows=1000000 seconds=40; }
"$PYTHON3" "$size" write $rows large.csv
"$PYTHON3" "$size" write 1000 small.csv
limit=300

# used FIELD: prints the field of the last command's use, by its number
used()
{
    awk -v field="$1" '/ MB, .* s of processor time$/ { print $field }' err
}
at_most()
{
    echo "$1, at most $2"
    [ "$1" -le "$2" ]
}

# measured NAME MEGABYTES ARGUMENTS...: runs the report within these limits
measured()
{
    name=$1
    most=$2
    shift 2
    timed "$PYTHON3" "$size" run "$PYTHON3" "$report" "$@"
    check "$name: $rows rows" status_is 0
    diag "$(cat err)"
    check "... use at most $most MB" at_most "$(used 1)" "$most"
    check "... and $seconds s" at_most "$(used 3)" $seconds
}

measured 'the table' 100 --csv table.csv large.csv
check '... in which no row is lost' has out "large.csv: $rows rows, 161 layers,"
check '... nor an event' has out "$((rows / 1000)) x comm0: desync"

# The errors of each layer separately: their sums are exact.
cat >expected.py <<'END'
import csv, sys
rows = int(sys.argv[1])
for line in csv.DictReader(open("table.csv")):
    layer = int(line["layer"])
    mine = range(layer, rows, 161)
    assert int(line["rows"]) == len(mine), line
    assert float(line["err_mean"]) == sum(r % 7 / 8 for r in mine) / len(mine), line
    assert int(line["underflow"]) == sum(r % 50 for r in mine), line
    assert int(line["skipped"]) == sum(r % 3 for r in mine), line
    assert int(line["wire_bytes"]) == (4096 + layer) * len(mine), line
    assert (line["scale_exp_min"], line["scale_exp_max"]) == ("0", "10"), line
END
check '... and every layer has its sums' "$PYTHON3" expected.py "$rows"
measured 'the table by steps' 200 --by step large.csv
"$PYTHON3" "$size" write $rows steps.csv 1
seconds=$((seconds * 4))
measured 'a line a row, by steps' $limit --by step --csv table.csv steps.csv
check '... none is lost' equal "$(wc -l <table.csv)" $((rows + 1))
check '... in the text, either' equal "$(grep -c '^ *[0-9][0-9]* .* e4m3' out)" "$rows"
check '... the last line is the last row' grep -q \
    "^ *$((100 * (rows - 1))) .* $(awk "BEGIN { print ($rows - 1) % 7 }")" out
cat >steps.py <<'END'
import csv, sys
rows = int(sys.argv[1])
for i, line in enumerate(csv.DictReader(open("table.csv"))):
    assert line["step"] == str(100 * i) and line["rows"] == "1", line
    assert float(line["err_mean"]) == i % 7 / 8, line
assert i == rows - 1, i
END
check '... with its sums' "$PYTHON3" steps.py "$rows"
# Two runs with the same steps.
{
    cat steps.csv
    sed 1,2d steps.csv
} >twice.csv
rm steps.csv
timed "$PYTHON3" "$report" --by step --csv table.csv twice.csv
check 'two runs: a line a step' equal "$(wc -l <table.csv)" $((rows + 1))
cat >twice.py <<'END'
import csv
for i, line in enumerate(csv.DictReader(open("table.csv"))):
    assert line["step"] == str(100 * i) and line["rows"] == "2", line
    assert float(line["err_mean"]) == i % 7 / 8, line
    assert line["wire_bytes"] == "8192", line
END
check '... with the sums of both' "$PYTHON3" twice.py
rm twice.csv
seconds=$((seconds / 4))
measured 'the last run by epochs' 100 --last --by epoch large.csv
measured 'the page' 300 --html large.html large.csv
check '... has all rows' grep -q "large.csv: $rows rows, 161 layers," large.html
check '... and is not a large file' at_most "$(wc -c <large.html)" 4000000
timed "$PYTHON3" "$size" run "$PYTHON3" "$report" small.csv
diag "1000 rows: $(cat err)"
rm large.csv

finish
