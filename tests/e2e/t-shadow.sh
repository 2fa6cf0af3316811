#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Unmodified programs train with candidates: their losses are those without the
# library, to the last bit, and the log has a row for each candidate.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

run_command=$top_builddir/scripts/apsmpi-run
python_digits="$PYTHON3 $top_srcdir/tests/apps/digits.py \
    --data $top_srcdir/tests/apps/digits.csv"
formats='e5m2 e4m3:aps, e3m0:aps'

# candidates LOG: prints the numbers of candidates with rows
candidates()
{
    distinct shadow "$1"
}

# trains_alike NAME COMMAND...: the same output with candidates and without the library
trains_alike()
{
    name=$1
    shift
    $launch -n 2 "$@" --epochs 2 >plain 2>/dev/null
    rm -f roundoff*.csv
    timeout 100 sh "$run_command" --library "$library" --shadow "$formats" \
        "$MPIEXEC" -n 2 "$@" --epochs 2 >out 2>err
    check "$name: trains with candidates" test "$(grep -c loss plain)" -gt 0
    check '... with the losses of MPI alone, to the last bit' cmp plain out
    check '... and a row for each candidate in the log' \
        equal "$(candidates roundoff.csv)" '1 2 3'
    check '... in a whole log' whole_log roundoff.csv
    check '... and a file of exponents' grep -q '^run,comm,call,' \
        roundoff-exponents.csv
    check '... which the summary says' \
        has err 'shadow: candidates were measured on'
    check '... while nothing is rewritten' has err 'none rewritten'
}
trains_alike 'digits in C' $digits
case $MPI,$("$PYTHON3" -c 'import numpy
from mpi4py import MPI
print(MPI.Get_library_version())' 2>/dev/null) in
mpich,*MPICH* | openmpi,*'Open MPI'*)
    trains_alike 'digits in Python' $python_digits
    ;;
*) skip 'digits in Python' "$PYTHON3 has no numpy, or no mpi4py of this MPI" ;;
esac

# --- a policy is tried --------------------------------------------------------

cat >tried.yaml <<END
version: 1
log: {file: tried.csv, every: 5}
rules:
  - {max_count: 4095, format: fp32}
  - {format: e4m3, scale: aps}
END
$launch -n 2 $digits --epochs 1 >plain 2>/dev/null
job 2 APSMPI_POLICY=tried.yaml APSMPI_SHADOW=e5m10 $digits --epochs 1
check 'a policy is tried: its losses are those of MPI alone' cmp plain out
check '... its rule is the first candidate' equal \
    "$(distinct format tried.csv 'v["shadow"] == 1') $(
        distinct format tried.csv 'v["shadow"] == 2')" 'e4m3 e5m10'
check '... at the steps that the log says' equal \
    "$(column step tried.csv 'v["step"] % 5 > 0')" ''

# --- apsmpi-run next to apsmpi, as installed ----------------------------------

mkdir installed
cp "$run_command" "$apsmpi" installed
# run OPTION...: runs apsmpi-run
run()
{
    timed sh installed/apsmpi-run --library "$library" "$@" \
        "$MPIEXEC" -n 2 $digits --epochs 1
}
run --shadow 'e4m3, e4m33'
check 'a bad candidate is found before the job starts' status_is 125
check '... is reported once, with its place' equal "$(cat err)" \
    "--shadow:1:7: format 'e4m33': wider than FP32, for rules with types: double"
check '... nothing runs' empty out
run --shadow 'e4m3:aps' --shadow 'e4m3:apz'
check "a scale is an error, too" \
    has err "--shadow:1:6: unknown scale 'apz'; did you mean"
run --shadow 'e5m2,,e4m3'
check 'a comma too many' equal "$(cat err)" \
    '--shadow:1:6: a candidate is missing next to this comma'
run --shadow 'e4m3,e4m3'
check 'a candidate that occurs twice' trained
check '... is reported once' lines 1 err 'candidate 2 is candidate 1 again'
run --on-error pass --shadow 'e4m33'
check '--on-error pass starts the job' trained
printf 'version: 1\nmin_count: 1\nlog: {file: few.csv, every: 5}\n' >few.yaml
run -p few.yaml
check 'a policy without rules' status_is 125
check '... says what it needs' has err \
    "few.yaml:1:1: 'rules' is missing, and so is 'shadow'"
run -p few.yaml --shadow e5m2
check '... which --shadow gives it' trained
check '... with its min_count' equal "$(distinct count few.csv)" '10 64 640 4096'
rm -f roundoff*.csv

# --- full disk ----------------------------------------------------------------

# Files may have 256 MiB, which MPI needs; both files that the run writes nearly
# have that size: a header, and a hole.
cat >full.yaml <<END
version: 1
min_count: 1
steps: {calls: 6}
log: {file: full.csv, every: 1}
shadow: [e5m2, e4m3:aps]
END
for file in tried tried-exponents; do
    head -n 1 $file.csv >full${file#tried}.csv
    dd if=/dev/null of=full${file#tried}.csv bs=1 seek=$((268435456 - 2000)) 2>/dev/null
done
# bash counts in KiB, and in blocks of 512 bytes in POSIX mode.
case ${BASH_VERSION:+bash}:${SHELLOPTS-}: in
bash:*:posix:* | bash:posix:* | :*) limit=524288 ;;
*) limit=262144 ;;
esac
(
    trap '' XFSZ
    ulimit -f "$limit"
    job 2 APSMPI_POLICY=full.yaml $digits --epochs 2
    exit "$status"
)
check 'files that are full: the program trains' trained
for file in full full-exponents; do
    check "... $file.csv is reported" has err \
        "$file.csv: cannot write the log: File too large; the job runs without"
    check '... once' lines 1 err "$file.csv: cannot write"
done
rm -f full*.csv

# --- no candidate is measured -------------------------------------------------

# unmeasured WHY TOP ARGUMENT...: TOP is keys of the policy, ARGUMENT the program's
unmeasured()
{
    why=$1
    printf 'version: 1\n%s\nshadow: [e4m3]\n' "$2" >none.yaml
    shift 2
    job 2 APSMPI_POLICY=none.yaml $digits --epochs 1 "$@"
    check "no candidate is measured: $why" has err \
        "shadow: no candidate was measured: $why"
    rm -f none.csv
}
unmeasured 'the log cannot be written' 'log: {file: absent/none.csv}'
cat >two.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[4096], y[4096];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        MPI_Allreduce(x, y, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(x, y, 2048, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o two two.c || exit 1
job 2 APSMPI_SHADOW=e4m3 APSMPI_LOG=two.csv ./two
check 'two steps: the summary reports how many it takes' has err \
    'a step is known after three equal steps in a row, and the program ended after 2, with 4 calls'
unmeasured 'no all-reduce has min_count elements (min_count: 1' \
    'log: {file: none.csv}
steps: none' --hidden 8

# --- the output of the commands -----------------------------------------------

layer_table >layers.csv
cat >shadow.yaml <<END
version: 1
table: layers.csv
budget: 2%
shadow: [e5m2, e4m3:aps]
rules:
  - {layers: 0, format: e3m0, scale: aps}
END
"$apsmpi" explain shadow.yaml >out 2>err
check 'explain shows candidates' grep -q '^ *6 *1  e3m0 .* aps ' out
check '... of layers without a rule' grep -q '^ *- *2  e4m3 .* aps ' out
check '... the budget' has out 'at most 2%'
check '... and the memory' has out '49152 bytes on rank 0'
sed '/^table/d; /^rules/,$d' shadow.yaml >untold.yaml
"$apsmpi" explain untold.yaml | tr '\n' ' ' | sed 's/   */ /g' >out
check '... which without a table is counted by element' has out \
    'needs 12 bytes an element of the longest layer on rank 0, 4 on others'
sed '/^budget/d; s/^shadow:.*/log: {file: shadow.csv, every: 5}/
    s/format: e3m0/format: {auto: [e3m0, e4m3], target: snr 20dB}/' \
    shadow.yaml >auto.yaml
"$apsmpi" explain auto.yaml | tr '\n' ' ' | sed 's/   */ /g' >out
check '... that of chosen formats, too, for their own layers' has out \
    'inputs, which need 49152 bytes on rank 0 and 16384 on others, for the longest'
sed 's/layers: 0/layers: 4/; s/^table:/min_count: 1\n&/' auto.yaml >small.yaml
"$apsmpi" explain small.yaml | tr '\n' ' ' | sed 's/   */ /g' >out
check '... alone' has out 'need 7680 bytes on rank 0 and 2560 on others'
"$apsmpi" explain --json shadow.yaml >out 2>err
check '... in JSON, too' "$PYTHON3" -c 'import json
shadow = json.load(open("out"))["shadow"]
assert shadow["budget"] == 0.02 and shadow["every"] is None
assert [c["plan"]["format"] for c in shadow["candidates"]] == [
    "e5m2", "e4m3", "e3m0", "e5m2", "e4m3"]
assert shadow["candidates"][2]["bytes_per_step"] == 2048'
timed "$apsmpi" check --shadow 'e5m2:aps' shadow.yaml layers.csv
check 'check --shadow' has out 'shadow.yaml: ok: 1 rule, '
check '... with the other files' status_is 1
timed "$apsmpi" check --shadow '[{format: e5m2, scael: aps}]'
check '... alone' equal "$(cat err)" \
    "--shadow:1:17: unknown key 'scael'; did you mean 'scale'?"
timed "$apsmpi" check --json --shadow 'e5m2 e5m2'
check '... in JSON' has out '"warnings":[{"file":"--shadow","line":1,"column":6,'
finish
