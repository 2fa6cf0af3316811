#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi bench: one command preloads the library and makes the policy; table, CSV and
# JSON have the same figures; errors end it with status 2. No test asserts a time.
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ -z "$sanitizer" ] || skip_all "the sanitizer's library would have to come first"

# bench RANKS [OPTION...]: in an environment that a training would have
bench()
{
    count=$1
    shift
    native "$count" APSMPI_POLICY=missing.yaml APSMPI_LOG=training.csv \
        "$apsmpi" bench --sizes 16Ki,1Ki --seconds 0.05 "$@"
}

# refuses TEXT: the last job ended with status 2, and one line, which has the text
refuses()
{
    status_is 2 && lines 1 err "$1" && lines 1 err 'apsmpi: bench: '
}

bench 2 --csv b.csv --json b.json
check 'one command measures' status_is 0
check '... with every format rewritten' not has out 'not rewritten'
check '... and without the log of a training' not [ -e training.csv ]
check '... sizes come in ascending order' \
    equal "$(sed -n 's/.*floats (\(.*\));.*/\1/p' out | paste -s -d ' ')" '1024 16384'
for row in fp32 int8 int16 memcpy 'e5m10 hierarchical' 'e4m3 hierarchical'; do
    check "a row $row for each size" lines 2 out "  $row "
done
for type in bf16 fp16; do
    if grep -q "^apsmpi: bench: no row MPI $type: " err; then
        check "no row MPI $type, as it says" lines 0 out "  MPI $type"
    else
        check "a row MPI $type for each size" lines 2 out "  MPI $type "
    fi
done

cat >agree.py <<'PROGRAM'
import csv
import json

with open("b.json", encoding="utf-8") as file:
    text = file.read()
found = json.loads(text)
assert text.count("\n") == 1
assert found["schema"] == 1 and found["command"] == "bench" and found["ok"]
assert found["ranks"] == 2 and found["hosts"] == 1
with open("b.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
objects = [dict(row, count=case["count"], calls=case["calls"], rounds=case["rounds"],
                ranks=2, hosts=1, wire_gbit=None)
           for case in found["cases"] for row in case["rows"]]
assert len(rows) == len(objects) > 10


def near(a, b):
    return abs(a - b) <= 0.01 * abs(b)


for row, of in zip(rows, objects):
    assert set(row) == set(of), set(row) ^ set(of)
    for name, text in row.items():
        value = of[name]
        if value is None:
            assert text == "", (name, text)
        elif isinstance(value, bool):
            assert text == ("yes" if value else "no")
        elif isinstance(value, str):
            assert text == value
        else:
            assert near(float(text), value), (name, text, value)
    assert of["min_usec"] <= of["q1_usec"] <= of["median_usec"] <= of["q3_usec"]
busy = False
for case in found["cases"]:
    by_name = {row["variant"]: row for row in case["rows"]}
    native, copy = by_name["fp32"], by_name["memcpy"]
    busy |= native["q3_usec"] - native["q1_usec"] > 0.3 * native["median_usec"]
    busy |= native["median_usec"] > 2.2 * native["min_usec"]
    for row in case["rows"]:
        seconds = row["median_usec"] / 1e6
        assert near(row["ratio_native"], native["median_usec"] / row["median_usec"])
        assert near(row["copy_share"], copy["median_usec"] / row["median_usec"])
        if row is copy:
            assert row["bus_gbytes"] is None and row["error"] is None
        else:       # two ranks: 2 (n - 1) / n is 1
            assert near(row["bus_gbytes"], 4 * case["count"] / seconds / 1e9)
assert found["busy"] == busy
with open("err", encoding="utf-8") as file:
    assert busy == ("bench: the machines were busy" in file.read())
with open("out", encoding="utf-8") as file:
    said = file.read()
assert [least["format"] for least in found["min_counts"]] == ["e5m10", "e4m3"]
for least in found["min_counts"]:
    count = None
    for of in objects:
        if (of["variant"], of["reduce"]) == (least["format"], least["reduce"]):
            count = (count or of["count"]) if of["ratio_native"] >= 1 else None
    assert least["min_count"] == count, (least, count)
    name = least["format"] + " hierarchical"
    assert ("# no min_count: the machines were busy\n" if busy else
            "min_count: %d   # for this machine, with %s\n" % (count, name) if count
            else "# no min_count with %s: no gain at the largest size\n" % name) in said
PROGRAM
check 'table, CSV, JSON and the warning agree' "$PYTHON3" agree.py

# reports VARIANT KIND TEXT: apsmpi-report shows int16's times as those of VARIANT
reports()
{
    sed "s/^int16,/$1,/" b.csv >"$2.csv"
    timed "$PYTHON3" "$report" --bench "$2.csv"
    status_is 0 && has out "$3"
}
check 'apsmpi-report shows shares of memcpy' reports int16 copy "% of memcpy's rate"
check "... and MPI's own types" reports 'MPI bf16' typed "MPI's own"
if "$PYTHON3" -c 'import matplotlib' 2>/dev/null; then
    timed "$PYTHON3" "$report" --bench typed.csv --plot b.svg
    check '... and draws both' grep -q 'memcpy' b.svg
    check "... by their names" grep -q "MPI bf16" b.svg
else
    skip '... and draws both' 'there is no matplotlib'
fi

bench 3 --rows none --formats e4m3 --reduce direct,auto
check 'other rows, ranks and reductions' status_is 0
check '... without what is not asked for' not has out "  memcpy"
check '... with a min_count for each reduction' \
    equal "$(grep -c 'min_count.* with e4m3 ' out)" \
    "$(grep -q 'the machines were busy' out && echo 0 || echo 2)"
bench 2 --in-place
check 'in place' status_is 0

bench 2 --format e4m3
check 'an unknown option' refuses "did you mean '--formats'?"
bench 2 --formats e4m3,fp99
check 'an unknown format' refuses "not a format (apsmpi formats lists them): 'fp99'"
bench 2 --reduce tree
check 'an unknown reduction' refuses "unknown reduce 'tree'"
bench 2 --json no/such/place.json
check 'a file that cannot be opened' refuses 'no/such/place.json: No such file'
bench 1
check 'a single rank' refuses 'mpiexec -n N apsmpi bench'
bench 2 --json /dev/full
check 'a full disk' failed
check '... is reported' has err '/dev/full: No space left on device'
echo old >old.csv
bench 2 --csv old.csv --json no/such/place.json
check 'a file keeps its text until all is measured' equal "$(cat old.csv)" old
bench 2 --csv both --json both
check 'one file for both' refuses "--csv and --json name the same file, 'both'"
bench 2 --sizes 1024,1025
check 'sizes that differ by too little' refuses 'they must differ by more than 3'
timed "$apsmpi" bench --help
check 'help' has out '--wire-gbit G'
timed "$apsmpi" help bench
check '... in both forms' has out '--wire-gbit G'
timed "$apsmpi" bench --version
check 'the version' equal "$(cat out)" "apsmpi $PACKAGE_VERSION"

finish
