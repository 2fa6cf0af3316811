#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-report on data/report.csv: two runs in one log, two communicators, FP32 then
# low precision, events, one nan, one inf. The expected numbers below were computed by
# hand from its 17 rows. Then on data/bench.csv, in the form that apsmpi-bench
# writes: two sizes and three tensors, where FP32 takes 2.4, 144 and 960 ms.
#
# Works from any directory: $srcdir (automake) or this file's path gives the sources.

here=$(dirname "$0")
for top in "${srcdir:-.}" "${srcdir:-.}/../.." "$here/../.."; do
    test -f "$top/scripts/apsmpi-report" && break
done
log=$top/tests/e2e/data/report.csv
bench=$top/tests/e2e/data/bench.csv
python=${PYTHON3:-${PYTHON:-python3}}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' \
    2>/dev/null; then
    echo "1..0 # SKIP $python is missing or older than 3.9"
    exit 0
fi
for file in "$log" "$bench"; do
    test -f "$file" || { echo "Bail out! no $file"; exit 1; }
done

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
MPLCONFIGDIR=$tmp/matplotlib
LC_ALL=C
export MPLCONFIGDIR LC_ALL

number=0
failed=0

# report ARGS: runs it; the results are $rc, $tmp/out and $tmp/err
report() {
    "$python" "$top/scripts/apsmpi-report" "$@" >"$tmp/out" 2>"$tmp/err"
    rc=$?
}

# ok NAME COMMAND...: prints one TAP line, with the last report's output if it failed
ok() {
    name=$1
    shift
    number=$((number + 1))
    if "$@" >/dev/null 2>&1; then
        echo "ok $number - $name"
    else
        failed=$((failed + 1))
        echo "not ok $number - $name"
        echo "# failed: $*; exit status of the report: $rc"
        sed 's/^/# out: /' "$tmp/out"
        sed 's/^/# err: /' "$tmp/err"
    fi
}

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

is() { test "$1" = "$2"; }
fails_with() { test "$rc" -eq 2 && grep -q -e "$1" "$tmp/err"; }
says() { test "$rc" -eq 0 && grep -q -e "$1" "$tmp/out"; }
notes() { test "$rc" -eq 0 && grep -q -e "$1" "$tmp/err"; }
fails() { ! "$@"; }
quiet() { ! test -s "$tmp/err"; }
both() { says "$1" && notes "$2"; }

# cell KEY COLUMN: prints the COLUMN of the line of $tmp/table.csv whose first
# cells are KEY; not by awk, because names have commas
cell() {
    "$python" -c '
import csv, sys
key = sys.argv[2].split(",")
for row in csv.DictReader(open(sys.argv[1])):
    if list(row.values())[1:1 + len(key)] == key:
        print(row[sys.argv[3]])' "$tmp/table.csv" "$1" "$2"
}

# --- errors

report "$tmp/absent.csv"
ok "a missing log is an error" fails_with 'absent.csv: No such file'
report "$tmp"
ok "a directory is an error" fails_with 'Is a directory'
: >"$tmp/empty.csv"
report "$tmp/empty.csv"
ok "an empty log is an error" fails_with 'empty.csv:1: the file is empty, and no'
sed 1d "$log" >"$tmp/headless.csv"
report "$tmp/headless.csv"
ok "a log without header is an error that states the line" fails_with \
    "headless.csv:1: not a round-off log: no column 'time' in .*1700000000.0,wor"
sed '1s/err_mean/mean/' "$log" >"$tmp/wrong.csv"
report "$log" "$tmp/wrong.csv"
ok "one wrong log among several is an error that names the column" \
    fails_with "wrong.csv:1: not a round-off log: no column 'err_mean' in"
ok "and prints no table" test ! -s "$tmp/out"
sed '1s/,err_max,/,err_mean,/' "$log" >"$tmp/twice.csv"
report "$tmp/twice.csv"
ok "a column that occurs twice is an error" fails_with "two columns 'err_mean' in"
echo '# event' >"$tmp/events.csv"
report "$tmp/events.csv"
ok "events alone do not make a log" fails_with 'ends without a header'
head -c 200000 /dev/zero >"$tmp/zeros.csv"
report "$tmp/zeros.csv"
ok "a file without lines is not a log" fails_with \
    'zeros.csv:1: not a round-off log: a line of more than 65536 bytes'
printf '\033[2J\377 what,is,this\n1\n' >"$tmp/binary.csv"
report "$tmp/binary.csv"
ok "text of other files is quoted without control characters" fails_with \
    "binary.csv:1: not a round-off log: no column 'time' in .* '?.2J"
cp "$log" "$tmp/secret.csv"
chmod 0 "$tmp/secret.csv"
if [ -r "$tmp/secret.csv" ]; then
    skip "a log that cannot be read is an error" "this user can read every file"
else
    report "$tmp/secret.csv"
    ok "a log that cannot be read is an error" fails_with \
        'secret.csv: Permission denied'
fi
report
ok "no log is a usage error" fails_with 'usage: apsmpi-report'
report --by rank "$log"
ok "an unknown --by is a usage error" fails_with 'invalid choice'
report --layers 5-3 "$log"
ok "a range that runs backwards is a usage error" fails_with 'runs backwards'
report --since yesterday "$log"
ok "a bad time is a usage error" fails_with 'ISO 8601'
report --plot figure.doc "$log"
ok "an unknown figure type is a usage error" fails_with 'neither in .png'
if [ -c /dev/full ]; then
    "$python" "$top/scripts/apsmpi-report" "$log" >/dev/full 2>"$tmp/err"
    rc=$?
    ok "standard output that is full is an error" \
        fails_with '^apsmpi-report: standard output: No space left on device$'
    ok "and nothing else is printed" is "$(wc -l <"$tmp/err")" 1
else
    skip "standard output that is full is an error" "there is no /dev/full"
    skip "and nothing else is printed" "there is no /dev/full"
fi
report --csv "$tmp/no/such/place.csv" "$log"
ok "a CSV that cannot be written is an error" fails_with 'No such file'

# --- logs of killed jobs

head -n 1 "$log" >"$tmp/header.csv"
report "$tmp/header.csv"
ok "a header without rows is reported" says 'header.csv: a header and no rows'
printf '# run=a apsmpi=1' >"$tmp/cut.csv"
report "$tmp/cut.csv"
ok "a log that is cut before its header is an error" fails_with \
    'cut.csv:1: the file ends without a header'
head -c 40 "$log" >"$tmp/cut.csv"
report "$tmp/cut.csv"
ok "and so is one that is cut within it" fails_with \
    "cut.csv:1: not a round-off log: no column 'err_mean' in"
{ head -n 4 "$log"; printf '1700000000.3,world,1,0,1,"fc, l'; } >"$tmp/cut.csv"
report "$tmp/cut.csv"
ok "a truncated last line is noted with its place" \
    both ': 3 rows,' 'cut.csv:5: truncated last line ignored'
{ head -n 4 "$log"; sed -n 5p "$log" | tr -d '\n'; } >"$tmp/cut.csv"
report "$tmp/cut.csv"
ok "a last line without its newline is not trusted" \
    both ': 3 rows,' 'cut.csv:5: truncated last line ignored'
{
    head -n 3 "$log"
    echo '1700000000.3,world,1,0,1,"fc, l1700000000.3,world,2'
    echo '1700000000.3,world,1,0,1,x,1'
    sed -n '4s/,hierarchical,5,/,hierarchical,five,/p' "$log"
    sed -n '4s/,4000,e4m3/,-4000,e4m3/p' "$log"
    sed -n '4s/,world,1,/,world,99999999999999999999,/p' "$log"
    echo hello
    sed -n 5p "$log"
} >"$tmp/bad.csv"
report "$tmp/bad.csv"
ok "malformed lines are skipped and counted" says '^6 malformed lines skipped'
ok "the good rows around them are kept" says ': 3 rows,'
ok "an open quote is named by line" notes 'bad.csv:4: .*; line skipped'
ok "a short line is named by line" notes 'bad.csv:5: 7 fields, expected 22'
ok "a line that is one word, too" notes 'bad.csv:9: 1 field, expected 22'
ok "a bad number is named by field" notes "bad.csv:6: bad scale_exp 'five'"
ok "a negative count is refused" notes "bad.csv:7: bad count '-4000'"
ok "a step of 20 digits is a bad number" \
    notes "bad.csv:8: bad step '99999999999999999999'"
{
    head -n 3 "$log"
    head -c 70000 /dev/zero | tr '\0' x
    echo
    sed -n 5p "$log"
    head -c 70000 /dev/zero | tr '\0' x
} >"$tmp/wide.csv"
report "$tmp/wide.csv"
ok "a line without an end is one malformed line" says '^1 malformed line skipped'
ok "and the rows around it are kept" both ': 3 rows,' 'wide.csv:4: '
ok "and the last one is not whole" notes 'wide.csv:6: truncated last line ignored'

# Candidates, which a run has only measured, have their own table.
"$python" "$top/tests/e2e/suggest_log.py" "$tmp/shadow.csv" \
    candidates=e3m2/aps/6/24+e4m3/aps/8/30+e4m3/aps/8/31
report --csv "$tmp/table.csv" "$tmp/shadow.csv"
ok "candidates are counted" says ': 54 rows of candidates, 3 layers, steps 0 to 5,'
ok "and have a table" says \
    '^    0   4096  e3m2 aps         6   18.8  7.11e-02    23.0     3.00       0$'
ok "in which the layer occurs once" says '^              e4m3 aps (2)     6 '
ok "equal ones have numbers" says 'e4m3 aps (3)     6   25.0  3.18e-02 '
ok "the table as CSV tells which they are" is "$(awk -F, '{ print $(NF - 1) }' \
    "$tmp/table.csv" | paste -s -d ' ')" 'shadow 1 2 3 1 2 3 1 2 3'
# The events' descriptions of candidates 1 and 3, in which the columns do not differ.
{
    head -n 2 "$tmp/shadow.csv"
    for place in 1 3; do
        printf '# candidate run=%s rule=0 shadow=%s plan="{%s}"\n' \
            20261123T060000.000000-1 $place \
            "format: e4m3, scale: aps, rounding: stochastic, feedback: on"
    done
    sed 1,2d "$tmp/shadow.csv"
} >"$tmp/feedback.csv"
report "$tmp/feedback.csv"
ok "feedback and rounding are named" says ' e4m3 aps stochastic feedback  *6 '
ok "of candidates that have them alone" says '^  *e4m3 aps   *6 '
report --layers 1 --by epoch "$tmp/shadow.csv"
ok "filters and --by hold for them" says '^    2      2       1     64  e3m2 aps'
report --layers 7 "$tmp/shadow.csv"
ok "and leave nothing" test "$rc" -eq 1
{ cat "$tmp/shadow.csv"; sed -n '3,8s/,fp32,[123],0,0,/,fp32,0,0,0,/p' \
    "$tmp/shadow.csv"; } >"$tmp/mixed.csv"
report "$tmp/mixed.csv"
ok "rows of both kinds are counted apart" says ': 6 rows and 54 of candidates, 3 layers'
ok "the program's are not mixed with candidates" says '^total  *4160  mixed '
report --plot-scales "$tmp/none.svg" "$tmp/shadow.csv"
ok "candidates have no scales over time" notes 'no rows to draw: .*none.svg not wr'

# The same log in small blocks: lines, events and runs across their ends.
PYTHONPATH=$top/scripts:$PYTHONPATH "$python" - \
    "$log" "$tmp/bad.csv" >"$tmp/blocks" 2>&1 <<'EOF'
import contextlib
import io
import sys

from apsmpi_log import lines
from apsmpi_report.command import main


class Output(io.StringIO):
    def reconfigure(self, **_):
        pass


def said(size, *arguments):
    lines.BLOCK = size
    out, errors = Output(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(list(arguments))
    return status, out.getvalue(), errors.getvalue()


for path in sys.argv[1:]:
    for options in ((), ("--last",), ("--since", "1700000000.5"), ("--comm", "tp"),
                    ("--last", "--by", "step"), ("--by", "epoch")):
        whole = said(1 << 20, *options, path)
        for size in (1, 7, 100, 333):
            assert said(size, *options, path) == whole, (path, options, size)
        print("equal", whole[0])
EOF
ok "blocks of any size give the same" is "$(sort "$tmp/blocks" | uniq -c |
    tr -s ' ' | tr '\n' ';')" ' 10 equal 0; 2 equal 1;'

# --- the table

report "$log"
ok "the report succeeds without a note" quiet
cat >"$tmp/expected" <<'EOF'
comm  layer name          count format      reduce   rows err_mean  err_max snr_db scale_exp under% overfl nonfin saved%
------------------------------------------------------------------------------------------------------------------------
tp        - 2048 elements  2048 e4m3        direct      4 3.50e-02 2.50e-01   25.0         -   0.00      0      0   75.0
tp        - 4096 elements  4096 e4m3        direct      1 7.00e-02 5.00e-01   22.0         -   0.00      0      0   75.0
world     0 conv1.weight   4000 fp32/~/e3m0 dire~cal    6 1.53e-01 4.00e+00   20.4      1..7   3.83      0      0   66.7
world     1 fc, last       1000 fp32/~/e3m0 dire~cal    6      inf      inf   -inf     -3..0   3.33      1      1   66.7
------------------------------------------------------------------------------------------------------------------------
      total               11144 mixed       mixed      17      inf      inf   -inf     -3..7   2.65      1      1   69.1

1 row of 17 without a mean error (nan), not in err_mean
4 events
  2 x desync: comm world, step 2: call 1 has 64 elements, 1000 expected
  1 x policy reread
  1 x second run's own event
EOF
sed 1,2d "$tmp/out" >"$tmp/got"
ok "the table by layer is the golden one" cmp "$tmp/expected" "$tmp/got"
"$python" - "$log" "$tmp/moved.csv" <<'EOF'
import csv, sys
with open(sys.argv[1], newline="") as old, open(sys.argv[2], "w") as new:
    lines = [line for line in old]
    header = next(csv.reader(lines))
    for line in lines:
        if line.startswith("#"):
            new.write(line)
            continue
        cells = next(csv.reader([line]))
        added = ["future", "x,y"] if cells == header else ["3.5", 'a "b", c']
        csv.writer(new, lineterminator="\n").writerow(
            [added[0]] + cells[::-1] + [added[1]])
EOF
report "$tmp/moved.csv"
sed 1,2d "$tmp/out" >"$tmp/got"
ok "columns may have any order, with others among them" \
    cmp "$tmp/expected" "$tmp/got"
ok "which gives no note either" quiet
sed 's/conv1.weight/backbone.stage4.block2.downsample.conv1.weight/' "$log" \
    >"$tmp/long.csv"
fits() { awk 'NR > 2 && length > 120 { exit 1 }' "$tmp/out"; }
for by in layer step epoch format; do
    report --by "$by" "$tmp/long.csv"
    ok "the table by $by fits 120 columns" fits
    report --by "$by" "$tmp/long.csv" "$log"
    ok "two logs by $by fit 120 columns" fits
done
report --comm world "$tmp/long.csv"
ok "long names are cut in the middle" says '  0 backbon.*~.*weight '

report --csv "$tmp/table.csv" "$log"
ok "err_mean is the mean over rows" \
    is "$(cell world,0 err_mean | cut -c 1-7)" 0.15333
ok "an infinite error stays one" is "$(cell world,1 err_mean)" inf
ok "nan is left out and counted" is "$(cell world,1 err_nan_rows)" 1
ok "snr_db is the mean over rows with an error" \
    is "$(cell world,0 snr_db)" 20.4
ok "an overflow makes it -inf" is "$(cell world,1 snr_db)" -inf
head -n 3 "$log" >"$tmp/exact.csv"
report --csv "$tmp/table.csv" "$tmp/exact.csv"
ok "rows without any error alone make it inf" is "$(cell world,1 snr_db)" inf
report --csv "$tmp/table.csv" "$log"
ok "exponents keep both ends" is \
    "$(cell world,1 scale_exp_min) $(cell world,1 scale_exp_max)" "-3 0"
ok "saved compares sums of bytes" \
    is "$(cell world,0 saved_pct | cut -c 1-5)" 66.66
ok "names with commas survive" is "$(cell world,1 name)" "fc, last"
ok "layers without steps are told apart by count" \
    is "$(cell tp,-1 rows | tr '\n' ' ')" "4 1 "
report --csv "$tmp/table.csv" --by step --comm world "$log"
ok "by step" is "$(cell world,1 underflow_pct) $(cell world,2 epoch)" "5.4 1"
report --csv "$tmp/table.csv" --by epoch --comm world "$log"
ok "by epoch" is "$(cell world,0 rows) $(cell world,1 steps)" "8 2"
report --csv "$tmp/table.csv" --by format "$log"
ok "by format" is "$(cell world,fp32 saved_pct) $(cell world,e3m0 saved_pct)" \
    "0.0 87.5"

# --- filters

report --last --csv "$tmp/table.csv" "$log"
ok "--last keeps the last run of all communicators" says ': 6 rows, 3 layers'
ok "--last computes from it alone" is "$(cell world,0 err_mean)" 0.4
ok "--last keeps its events alone" says '^1 event$'

# Two runs that sampled only step 0, and a third one during the second.
{
    head -n 1 "$log" | sed 's/$/,run/'
    line=$(sed -n 2p "$log")
    for run in a a b c b; do
        [ $run = a ] || echo "# run=$run apsmpi=1.0 ranks=2"
        [ $run = b ] || echo "# event of $run"
        echo "$line,$run"
    done
} >"$tmp/runs.csv"
report "$tmp/runs.csv"
ok "rows of several runs are taken together" says ': 5 rows, 1 layer'
ok "as the report says" says '^  the table adds up the rows of 3 runs; --last'
ok "and the runs are named, with what began them" says '^  run b apsmpi=1.0 r'
ok "which is not an event to count" says '^3 events'
ok "which have no end" says '^the log does not say that 2 runs (b, c) ended: the'
{ cat "$tmp/runs.csv"; echo '# end run=c'; } >"$tmp/ended.csv"
report "$tmp/ended.csv"
ok "except those that are reported" says '^the log does not say that run b ended: the'
report --last "$tmp/ended.csv"
ok "nor others than those in the table" fails says 'does not say'
report --last "$tmp/runs.csv"
ok "--last uses the column \`run\`" says ': 1 row, 1 layer'
ok "and takes the run that began last" says '^  run c apsmpi=1.0 ranks=2$'
ok "with its events" is "$(grep -c 'x event of c$' "$tmp/out")" 1
sed '/,c$/d; /run=c/d; /of c$/d' "$tmp/runs.csv" >"$tmp/two.csv"
report --last "$tmp/two.csv"
ok "runs that sampled step 0 alone are told apart" says ': 2 rows, 1 layer'
report --since 1700000100 "$log"
ok "--since takes seconds" says ': 6 rows,'
report --since 2023-11-14T22:15:00.25Z "$log"
ok "--since takes ISO 8601" says ': 3 rows,'
report --comm tp "$log"
ok "--comm keeps one communicator" says ': 5 rows,'
report --layers 1 "$log"
ok "--layers takes an index" says ': 6 rows, 1 layer,'
report --layers '0-1' "$log"
ok "--layers takes a range" says ': 12 rows, 2 layers'
report --layers='-1,conv*' "$log"
ok "--layers takes -1 and a name pattern" says ': 11 rows, 3 layers'
report --comm nobody "$log"
ok "filters that leave nothing are reported" grep -q \
    'apsmpi-report: .*report.csv: no row matches the filters$' "$tmp/err"
ok "with the status 1" test "$rc" -eq 1
ok "and print no table" test ! -s "$tmp/out"

# --- several logs

sed 's/e3m0/e2m1/' "$log" >"$tmp/other.csv"
report --layers 0,1 --last "$log" "$tmp/other.csv"
ok "logs are compared side by side" says '-report-.*-other-'
ok "each with its own format" says 'conv1.weight .* e3m0 .* e2m1 '
mkdir "$tmp/a" "$tmp/b"
cp "$log" "$tmp/a/log.csv"
cp "$log" "$tmp/b/log.csv"
report --csv "$tmp/table.csv" "$tmp/a/log.csv" "$tmp/b/log.csv"
ok "logs of one name are told apart" says '-a/log-.*-b/log-'
ok "the CSV has a line for each log and layer" \
    is "$(wc -l <"$tmp/table.csv" | tr -d ' ')" 9

# --- calls that are not all-reduces

{
    head -n 1 "$log"
    for row in reduce_scatter,100 allgather,0 reduce_scatter,200 reduce,0; do
        echo "1700000000,world,${row#*,},0,-1,,4096,e4m3,aps,${row%,*},3,0.1," \
            "0.2,0.1,20,0,0,0,0,100,400,5" | tr -d ' '
    done
    echo '1700000000,world,0,0,-1,,4096,e4m3,aps,direct,3,0.1,0.2,0.1,20,0,0,0,0,100,400,5'
} >"$tmp/calls.csv"
report "$tmp/calls.csv"
ok "calls of one size are told apart" says ': 5 rows, 4 layers'
ok "each has a line" says '- reduce_scatter .*4096 .*e4m3 .* 2 '
report --last "$tmp/calls.csv"
ok "--last: each is numbered by itself" says ': 5 rows, 4 layers'

# --- scales that keep a state

# Two layers, six steps: backoff halves in step 2, where it redoes 3 chunks.
{
    echo "$(head -n 1 "$log"),scale_value,redone"
    for step in 0 1 2 3 4 5; do
        exponent=14 redone=0
        [ $step -ne 2 ] || redone=3
        [ $step -lt 3 ] || exponent=13
        for layer in 0 1; do
            echo "1700000000,world,$step,0,$layer,part$layer,4096,e4m3,backoff," \
                "direct,$exponent,0.1,0.2,0.1,20,0,0,0,0,100,400,5,16384," \
                "$redone" | tr -d ' '
        done
    done
} >"$tmp/backoff.csv"
report --csv "$tmp/table.csv" "$tmp/backoff.csv"
ok "chunks that were reduced again have a column" says ' saved% *redone$'
ok "with their number" says '^ *0 *part0 .* 3$'
ok "and with that of all layers" says 'total .* 6$'
ok "as in the CSV" is "$(cell world,1 redone)" 3
sed 's/,backoff,direct,1[34],/,fixed,direct,0,/; s/,16384,[03]$/,512,0/' \
    "$tmp/backoff.csv" >"$tmp/fixed.csv"
report "$tmp/fixed.csv"
ok "which is missing where there are none" fails says redone

# The same log without chunks that are reduced again.
sed '1s/$/,overflowed/; s/,16384,0$/,16384,0,0/; s/,16384,3$/,16384,0,1/' \
    "$tmp/backoff.csv" >"$tmp/zeroed.csv"
report --csv "$tmp/table.csv" "$tmp/zeroed.csv"
ok "rows in which a scale let values overflow have a column" \
    says ' saved% *over$'
ok "with their number" says '^ *0 *part0 .* 1$'
ok "and with that of all layers" says 'total .* 2$'
ok "as in the CSV" is "$(cell world,1 overflowed)" 1
sed 's/,0,1$/,3,1/' "$tmp/zeroed.csv" >"$tmp/redone.csv"
report "$tmp/redone.csv"
ok "which is missing where all were reduced again" fails says over$

# --- compressors

{
    echo "$(head -n 1 "$log"),compress,density,rank,residual"
    for step in 0 1 2; do
        row=4096,e8m23,none,direct,0,0.1,0.2,0.1,20,0,0,0,0,100,400,5
        echo "1700000000,world,$step,0,0,wide,$row,powersgd rank 4,,4,0.$((
            step + 1))25"
        echo "1700000000,world,$step,0,1,bias,$row,,,,"
    done
} >"$tmp/residual.csv"
report --csv "$tmp/table.csv" "$tmp/residual.csv"
ok "what compressors leave out has a column" says ' saved% *resid$'
ok "with its mean" says '^ *0 *wide .* 0.225$'
ok "and nothing where there is no compressor" says '^ *1 *bias .* -$'
ok "as in the CSV" is "$(cell world,0 residual)" 0.225
ok "the compressor is in the format's place" says \
    '^ *0 *wide  *4096 *powersgd rank 4  *direct '
ok "and the format where there is none" says '^ *1 *bias  *4096 *e8m23  *direct '
ok "in the CSV, too" is "$(cell world,0 format) $(cell world,1 format)" \
    "powersgd rank 4 e8m23"
ok "a line says that err_mean is useless" says \
    '^3 rows of 6 of compressors: .* see snr_db and resid$'
ok "but of no plain formats with feedback" fails says 'of plain formats'
sed 's/,powersgd rank 4,,4,/,,,,/; s/^\(.*,bias,.*\),,,,$/\1,topk 0.1,0.1,,/' \
    "$tmp/residual.csv" >"$tmp/fed.csv"
report "$tmp/fed.csv"
ok "those have a line, too" says \
    '^3 rows of 6 of plain formats with feedback: .* see snr_db and resid$'
ok "next to that of compressors" says '^3 rows of 6 of compressors: '
report "$tmp/residual.csv" "$tmp/fed.csv"
ok "several logs: the columns are there that the lines name" test \
    "$(grep -o ' snr_db  resid  saved%' "$tmp/out" | wc -l)" -eq 2
ok "and each log's compressor" says '^ *0 .* powersgd rank 4  .* 0.225 .* 0.225 '
report "$tmp/residual.csv" "$tmp/fed.csv" "$log" "$tmp/other.csv"
ok "of many logs, too" says ' snr_db  resid .* snr_db  resid .* snr_db '
{
    cat "$tmp/residual.csv"
    sed -n '/,powersgd rank 4,,4,/{
        s/powersgd rank 4,,4/powersgd rank 2,,2/p; s/e8m23,none/e4m3,none/p; }' \
        "$tmp/residual.csv"
} >"$tmp/several.csv"
sed 's/,powersgd rank 4,,4,0.3/,powersgd rank 8,,8,0.3/
    s/,powersgd rank 4,,4,0.2/,powersgd rank 2,,2,0.2/' "$tmp/residual.csv" \
    >"$tmp/schedule.csv"
report "$tmp/schedule.csv"
ok "a compressor with a schedule occurs once" says \
    ' wide  *4096 *powersgd rank 4, 2, 8  *direct '
report "$tmp/schedule.csv" "$tmp/residual.csv"
ok "in a table of several logs, too" says \
    ' wide  *4096 *powersgd rank 4, 2, 8 .* powersgd rank 4 '
sed 's/powersgd rank 8/powersgd rank 1024/; s/powersgd rank 4,/powersgd rank 256,/
    s/,e8m23,/,e4m3,/' "$tmp/schedule.csv" >"$tmp/ranks.csv"
report "$tmp/ranks.csv"
ok "or the least and the largest" says ' powersgd rank 2..1024 '
report --by format "$tmp/several.csv"
for text in 'e8m23 ' 'powersgd rank 2 ' 'powersgd rank 2 in e4m3 ' 'powersgd rank 4 '
do
    ok "a line of its own: $text" says "^$text .* 3 1.00e-01 "
done
PYTHONPATH=$top/scripts:$PYTHONPATH "$python" - \
    "$tmp/several.csv" >"$tmp/narrow" <<'EOF'
import sys
import types

from apsmpi_report.reading import Log
from apsmpi_report.tables import table_lines

for by in ("layer", "format"):
    log = Log(sys.argv[1], types.SimpleNamespace(
        by=by, last=False, since=None, comm=None, layers=None))
    log.read()
    lines = list(table_lines([log], by, 80))
    print(by, max(map(len, lines)) <= 80)
    print("\n".join(lines))
EOF
ok "80 columns are enough" is "$(grep -c ' True$' "$tmp/narrow")" 2
ok "... for the compressors' names, too" grep -q '^powersgd rank 2 in e4m3 ' \
    "$tmp/narrow"
report "$tmp/zeroed.csv"
ok "which is missing without compressors" fails says resid
ok "as is that line" fails says 'of compressors'
report --bench "$bench" --plot-residuals "$tmp/no.png"
ok "--bench with --plot-residuals is a usage error" fails_with 'draws logs alone'

report --bench "$bench" --plot-scales "$tmp/no.png"
ok "--bench with --plot-scales is a usage error" fails_with 'draws logs alone'

# --- the command itself

report --version
ok "--version" says '^apsmpi-report [0-9]'
if test -f "$top/configure.ac"; then
    ok "and it is the package's" is "$(cat "$tmp/out")" "apsmpi-report $(
        sed -n 's/^AC_INIT(\[apsmpi\], \[\(.*\)\])$/\1/p' "$top/configure.ac")"
else
    skip "and it is the package's" "no configure.ac next to the scripts"
fi
report --help
ok "--help" says '^usage: apsmpi-report'
awk 'NR == 1 { print } NR == 4 {
    for (i = 0; i < 20000; i++) { sub(/,world,[0-9]+/, ",world," i); print } }' \
    "$log" >"$tmp/steps.csv"
{
    "$python" "$top/scripts/apsmpi-report" --by step "$tmp/steps.csv" \
        2>"$tmp/err"
    echo $? >"$tmp/rc"
} | head -n 1 >"$tmp/out"
ok "a closed pipe is not an error" is "$(cat "$tmp/rc")" 0
ok "and no noise" quiet

# --- the all-reduce bench

report --bench "$tmp/absent.csv"
ok "a missing bench is an error" fails_with 'absent.csv: No such file'
report --bench "$log"
ok "a log is not a bench" fails_with "report.csv:1: .*no column 'variant'"
head -n 1 "$bench" >"$tmp/header-bench.csv"
report --bench "$tmp/header-bench.csv"
ok "nor is a header alone" fails_with 'a header and no rows'
grep -v ^fp32,native,4194304 "$bench" >"$tmp/no-native.csv"
report --bench "$tmp/no-native.csv"
ok "every size needs native FP32" \
    fails_with 'no native FP32 at 4194304 elements'
report --bench "$bench" "$log"
ok "a bench and a log together are a usage error" fails_with 'neither LOG nor'
sed '3s/3000.000/none/; 4s/2400.000/0/' "$bench" >"$tmp/bad-bench.csv"
report --bench "$tmp/bad-bench.csv"
ok "a bad time is named by line, and skipped" \
    both '^ *64 Ki  2.4 ms  *-  *-  ' "bad-bench.csv:3: .*'none'; line skipped"
ok "a time of 0 is an error" notes 'bad-bench.csv:4: no time or no elements'
report --bench "$bench"
ok "the bench is shown without a note" quiet
cat >"$tmp/expected" <<'EOF'
2 ranks on 2 hosts, links of 1 Gbit/s

times faster than native FP32

                   ----------left to MPI----------  ---floor---  -user's  -hierarchical  ---direct---
   floats  fp32's  fp32 again  unmatched  bypassed  int16  int8  fp16 op    e5m10  e4m3  e5m10   e4m3
-----------------------------------------------------------------------------------------------------
    64 Ki  2.4 ms       0.800      1.000     0.800   2.00  4.00     1.50     1.92  3.84   1.42  1.00=
     4 Mi  144 ms       0.800      1.000     0.800   2.00  4.00     1.50     1.92  3.84   1.42   2.84
3 tensors  960 ms       0.800      1.000     0.800   2.00  4.00     1.50     1.92  3.84   1.42   2.84

time over the floor's: native integers of the same width

                   -user's  -hierarchical  ---direct--
   floats  fp32's  fp16 op    e5m10  e4m3  e5m10  e4m3
------------------------------------------------------
    64 Ki  2.4 ms     1.33     1.04  1.04   1.41  4.00
     4 Mi  144 ms     1.33     1.04  1.04   1.41  1.41
3 tensors  960 ms     1.33     1.04  1.04   1.41  1.41

% of what the links could carry

                   native  ---floor---  -user's  -hierarchical  ---direct--
   floats  fp32's    fp32  int16  int8  fp16 op    e5m10  e4m3  e5m10  e4m3
---------------------------------------------------------------------------
    64 Ki  2.4 ms    87.4   87.4  87.4     65.5     83.9  83.9   62.0  21.8
     4 Mi  144 ms    93.2   93.2  93.2     69.9     89.5  89.5   66.2  66.2
3 tensors  960 ms    85.2   85.2  85.2     63.9     81.8  81.8   60.5  60.5

=: not rewritten, or native was chosen: the sum is FP32's
EOF
sed '1s/^.*bench.csv: //' "$tmp/out" >"$tmp/got"
ok "its tables are the golden ones" cmp "$tmp/expected" "$tmp/got"
report --bench "$bench" --bench-title 'a title'
ok "--bench-title replaces ranks, hosts and links" says 'bench.csv: a title$'

# --- figures

# figures NAME: makes figures with this Python and PYTHONPATH; skipped without
# matplotlib
figures()
{
    if ! "$python" -c 'import matplotlib as m, numpy, sys
sys.exit(tuple(map(int, m.__version__.split(".")[:2])) < (3, 5))' 2>/dev/null
    then
        skip "figures, $1" "$python has no matplotlib 3.5 or later"
        return
    fi
    ok "figures, $1: matplotlib $("$python" -c \
        'import matplotlib; print(matplotlib.__version__)')" true
    magic() { test "$rc" -eq 0 && head -c 4 "$1" | grep -q PNG; }
    report --plot "$tmp/one.png" --plot "$tmp/one.svg" "$log"
    ok "--plot draws a PNG" magic "$tmp/one.png"
    ok "and an SVG with the names of the layers" \
        grep -q 'conv1.weight' "$tmp/one.svg"
    ok "the SVG is well formed" "$python" -c \
        'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/one.svg"
    cp "$tmp/one.svg" "$tmp/first.svg"
    report --plot "$tmp/one.svg" "$log"
    ok "the same log gives the same SVG" cmp "$tmp/first.svg" "$tmp/one.svg"
    head -n 3 "$log" >"$tmp/fp32.csv"
    report --plot "$tmp/zero.png" "$tmp/fp32.csv"
    ok "a log of zero errors is drawn" magic "$tmp/zero.png"
    report --last --layers 0 --plot "$tmp/step.png" --by format "$log"
    ok "one layer is drawn" magic "$tmp/step.png"
    head -n 5 "$log" | sed 2,3d >"$tmp/step.csv"
    report --plot "$tmp/step.png" "$tmp/step.csv"
    ok "one step is drawn" magic "$tmp/step.png"
    report --plot "$tmp/far.svg" "$tmp/far.csv"
    ok "errors far below the largest have their place" test "$rc" -eq 0
    ok "... none is said to be 0" fails grep -q 'grey: ' "$tmp/far.svg"
    report --plot "$tmp/far.svg" "$tmp/farther.csv"
    ok "... or they are said to be less" grep -qF \
        '(grey: 0 or less than the scale)' "$tmp/far.svg"
    report --plot "$tmp/far.svg" "$tmp/far.csv" "$tmp/farther.csv"
    ok "... with dots, too" grep -qF \
        '(hollow, left: 0 or less than the scale)' "$tmp/far.svg"
    ok "... and below curves" grep -qF \
        '(gaps: error 0, less than the scale or inf)' "$tmp/far.svg"
    report --plot "$tmp/two.svg" "$log" "$tmp/other.csv"
    ok "several logs give a line each" grep -q 'other' "$tmp/two.svg"
    ok "the bytes are said to be those of the rows" \
        grep -q 'Bytes sent in the sampled calls' "$tmp/two.svg"
    report --plot "$tmp/same.svg" "$log" "$tmp/same.csv" "$tmp/again.csv"
    ok "curves that coincide are drawn" test "$rc" -eq 0
    PYTHONPATH=$top/scripts:$PYTHONPATH "$python" - \
        "$log" "$tmp/same.csv" "$tmp/again.csv" >"$tmp/curves" <<'EOF'
import sys
import types

import numpy

from apsmpi_report.figures import load_matplotlib, round_steps, set_step_axis
from apsmpi_report.log_figures import figure_compared
from apsmpi_report.reading import Log

options = types.SimpleNamespace(by="layer", last=False, since=None, comm=None,
                                layers=None)
logs = [Log(path, options, True) for path in sys.argv[1:]]
for log in logs:
    log.read()
figure = figure_compared(*load_matplotlib(), logs)
widths = [line.get_linewidth() for axes in figure.axes
          for line in axes.get_lines()]
print("curves", widths == sorted(set(widths), reverse=True) and len(widths) == 3)
sizes = [dots.get_sizes()[0] for axes in figure.axes
         for dots in axes.collections if dots.get_label() in sys.argv[1:]]
print("dots", sizes == sorted(set(sizes), reverse=True) and len(sizes) == 3)
axes = figure.axes[0]
for first in [0, 10, 20], [9, 19, 29]:
    grid = types.SimpleNamespace(
        run=numpy.repeat([0, 1], 3), first=numpy.array([*first, *first]), several=True,
        share=1)
    set_step_axis(numpy, axes, grid)
    print("ticks", *(text.get_text().split()[0] for text in axes.get_xticklabels()))
print("steps", round_steps(3, 1587), round_steps(7, 7), round_steps(0, 9))
EOF
    ok "... each with a width of its own" grep -qx 'curves True' "$tmp/curves"
    ok "... and so are dots" grep -qx 'dots True' "$tmp/curves"
    ok "steps are named by round numbers" grep -qxF \
        'steps [200, 400, 600, 800, 1000, 1200, 1400] [7] [0, 2, 4, 6, 8]' \
        "$tmp/curves"
    ok "... three logged steps of each run" is "$(grep ticks "$tmp/curves")" \
        "ticks 0 10 20 0 10 20
ticks 9 19 29 9 19 29"
    report --plot-scales "$tmp/scales.svg" "$tmp/backoff.csv" "$tmp/fixed.csv"
    for text in 'backoff: backoff' 'fixed: fixed' 'part1' \
        'red: 6 chunks reduced again'; do
        ok "exponents over time are drawn, with '$text'" \
            grep -q -e "$text" "$tmp/scales.svg"
    done
    PYTHONPATH=$top/scripts:$PYTHONPATH "$python" - \
        "$tmp/backoff.csv" "$tmp/fixed.csv" >"$tmp/panels" <<'EOF'
import sys
import types

import numpy

from apsmpi_report.line_figures import scale_panels
from apsmpi_report.reading import Log

options = types.SimpleNamespace(by="layer", last=False, since=None, comm=None,
                                layers=None)
for path in sys.argv[1:]:
    log = Log(path, options, True)
    log.read()
    for scale, lines in scale_panels(numpy, log):
        for key in sorted(lines):
            print(scale, key[1], *([int(x) for x in values]
                                   for values in lines[key]))
EOF
    ok "each scale and layer has its exponents by step" grep -qxF \
        'backoff 1 [0, 1, 2, 3, 4, 5] [14, 14, 14, 13, 13, 13] [0, 0, 3, 0, 0, 0]' \
        "$tmp/panels"
    ok "a constant's is its logarithm" grep -qxF \
        'fixed 0 [0, 1, 2, 3, 4, 5] [9, 9, 9, 9, 9, 9] [0, 0, 0, 0, 0, 0]' \
        "$tmp/panels"
    report --plot "$tmp/candidates.svg" "$tmp/shadow.csv"
    for text in 'candidates by layer' 'e3m2 aps' 'bytes sent, % of FP32'; do
        ok "candidates are drawn, with '$text'" \
            grep -q -e "$text" "$tmp/candidates.svg"
    done
    report --plot "$tmp/mixed.png" "$tmp/mixed.csv"
    ok "rows of both kinds: the program's are drawn" magic "$tmp/mixed.png"
    # 2^-20 and 2^0: one of them alone fits into e4m3, whose least value is 2^-9 and
    # whose greatest is below 2^8, but both into e5m2 with k from 3 to 15.
    awk '{ print $0 (NR == 1 ? ",run" : ",r1") }' "$log" >"$tmp/lost.csv"
    printf '%s\n' run,comm,call,step,epoch,layer,name,count,zeros,infinite,nan,binades \
        "r1,world,allreduce,0,0,0,a,4,1,0,0,-20:1 0:2" >"$tmp/lost-exponents.csv"
    report --plot-lost "$tmp/lost.svg" "$tmp/lost.csv"
    for text in 'what formats lose, all layers' e5m10 e3m0 'multiplied by 2^k'; do
        ok "what formats lose is drawn, with '$text'" grep -q -e "$text" "$tmp/lost.svg"
    done
    report --plot-lost "$tmp/none.svg" "$log"
    ok "... or that there are no histograms" grep -q 'no histograms of exponents' \
        "$tmp/none.svg"
    # shellcheck disable=SC2016
    PYTHONPATH=$top/scripts "$python" -c '
from apsmpi_report.exponent_figures import parts_lost
parts = parts_lost({-20: 1, 0: 2}, "e4m3", [0, 7, 8, 10, 11])
assert [round(3 * p) for p in parts] == [1, 1, 3, 2, 2], parts
parts = parts_lost({-20: 1, 0: 2}, "e5m2", range(1, 17))
assert [round(3 * p) for p in parts] == [1, 1] + 13 * [0] + [2], parts
' >"$tmp/out" 2>"$tmp/err"
    ok "... which is what formats make 0 or INF" test $? -eq 0
    report --plot-residuals "$tmp/residuals.svg" "$tmp/residual.csv"
    for text in 'residual: powersgd rank 4' 'wide' 'norm left out'; do
        ok "residuals over time are drawn, with '$text'" \
            grep -q -e "$text" "$tmp/residuals.svg"
    done
    ok "... and no layer without one" fails grep -q bias "$tmp/residuals.svg"
    report --plot "$tmp/ratios.svg" "$tmp/residual.csv"
    for text in 'Signal-to-noise ratio' '<!-- Residual -->' 'Bytes sent' \
        'left out: 3 rows without a value'; do
        ok "compressors are drawn by their ratios, with '$text'" \
            grep -q -e "$text" "$tmp/ratios.svg"
    done
    for text in 'round-off error' 'Scale exponent'; do
        ok "... and without '$text'" fails grep -q "$text" "$tmp/ratios.svg"
    done
    report --plot "$tmp/ratios.svg" "$tmp/residual.csv" "$log"
    for text in 'Signal-to-noise ratio by step' 'Signal-to-noise ratio by layer' \
        'gaps: no error, or INF or NaN in the sum' 'no dot: no value'; do
        ok "... also among several logs, with '$text'" \
            grep -q "$text" "$tmp/ratios.svg"
    done
    head -n 3 "$tmp/residual.csv" >"$tmp/first.csv"
    report --plot "$tmp/ratios.svg" "$tmp/first.csv"
    ok "... also of one step" grep -q 'norm given; no dot: no value' "$tmp/ratios.svg"
    report --plot-residuals "$tmp/residuals.svg" "$tmp/fed.csv"
    ok "... of a plain format with its name" grep -q 'fed: e8m23 ' \
        "$tmp/residuals.svg"
    report --plot-residuals "$tmp/none.svg" "$log"
    ok "... or that there are none" grep -q 'no residuals in the logs' \
        "$tmp/none.svg"
    report --plot-scales "$tmp/old.png" "$log"
    ok "a log without the new columns is drawn" magic "$tmp/old.png"
    report --plot "$tmp/none.png" "$tmp/header.csv"
    ok "no rows, no figure, and a note" notes 'no rows to draw'
    report --plot "$tmp/jobs.svg" "$tmp/jobs.csv"
    ok "two runs are kept apart" grep -q -e '<!-- run 2 -->' "$tmp/jobs.svg"
    report --plot "$tmp/over.svg" "$tmp/backoff.csv"
    ok "overflows are marked" grep -q \
        'step (red: overflows in 2 rows, 6 chunks reduced again)' "$tmp/over.svg"
    report --html "$tmp/page.html" "$log" "$tmp/other.csv"
    ok "a page has figures" is "$(grep -c '</svg>' "$tmp/page.html")" 5
    report --plot "$tmp/no/such/place.png" "$log"
    ok "a figure that cannot be written is an error" fails_with 'No such file'
    report --bench "$bench" --plot "$tmp/bench.png" --plot "$tmp/bench.svg"
    ok "a bench is drawn" magic "$tmp/bench.png"
    for text in 'native FP32' 'e4m3 hierarchical' '64 Ki' '4 Mi' \
        '3 tensors, a call each' '3.84x'; do
        ok "with '$text' in it" grep -q -e "$text" "$tmp/bench.svg"
    done
    grep -e ^variant -e ,4194304, "$bench" >"$tmp/one-size.csv"
    report --bench "$tmp/one-size.csv" --plot "$tmp/bench.png"
    ok "one size is drawn" magic "$tmp/bench.png"
    grep -e ^variant -e ,25557032, "$bench" >"$tmp/tensors.csv"
    report --bench "$tmp/tensors.csv" --plot "$tmp/bench.png"
    ok "tensors alone are drawn" magic "$tmp/bench.png"
}

{
    echo "$(head -n 1 "$log"),run"
    for run in a b; do
        sed -n "4,5s/\$/,$run/p" "$log"
    done
} >"$tmp/jobs.csv"
cp "$log" "$tmp/same.csv"
cp "$log" "$tmp/again.csv"
# far ERROR...: writes rows with these errors, one after the other in a layer and step
far()
{
    head -n 1 "$log"
    row=0
    for error in "$@"; do
        place=$((row % 3)),0,$((row / 3)),l$((row / 3))
        sent=64,e4m3,none,direct
        echo "1700000000,world,$place,$sent,0,$error,1,1,20,0,0,0,0,64,256,1"
        row=$((row + 1))
    done
}
far 1e11 1e11 2.22 2.22 2.22 2.22 >"$tmp/far.csv"
far 1e11 1e11 1e-3 1e-3 1e-3 1e-3 0 0 0 >"$tmp/farther.csv"
PYTHONPATH=
export PYTHONPATH
figures "the interpreter's own"
# Debian 12's version, which scripts/setup installs next to the interpreter's own.
beside=$(dirname "$(dirname "$(command -v "$python")")")
PYTHONPATH=$beside/matplotlib-3.6
if [ -d "$PYTHONPATH" ]; then
    figures 'an old one'
else
    skip 'figures, an old one' "there is no $PYTHONPATH"
fi
# The distribution's version, if the interpreter is another one.
PYTHONPATH=
python_before=$python
python=/usr/bin/python3
if [ "$(command -v "$python_before")" != "$python" ]; then
    figures "the distribution's"
fi
python=$python_before
mkdir "$tmp/hidden" "$tmp/hidden/matplotlib"
echo 'raise ImportError("hidden by the test")' \
    >"$tmp/hidden/matplotlib/__init__.py"
PYTHONPATH=$tmp/hidden
report "$log"
ok "the table needs no matplotlib" says '^world .* conv1.weight'
report --plot "$tmp/hidden.png" "$log"
ok "--plot without matplotlib is a clear error" \
    fails_with '^apsmpi-report: --plot needs matplotlib .*: hidden by the test. Inst'
ok "which says what to install" fails_with 'apt-get install python3-matplotlib)$'
for option in plot-scales plot-residuals plot-lost; do
    report --$option "$tmp/hidden.png" "$log"
    ok "--$option is named as it was given" fails_with "^apsmpi-report: --$option needs"
done
report --bench "$bench"
ok "nor does the bench's table" says '^ *64 Ki '

echo "1..$number"
test "$failed" -eq 0
