#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The all-reduce bench: its policy selects the calls of its table, and the bench finds
# wrong sums. No test asserts a time.
# shellcheck disable=SC2086 # small and choice are words
. "${top_srcdir:-.}/tests/e2e/lib.sh"

bench=$top_builddir/pmpi/bench/apsmpi-bench
small='--sizes 1Ki,4Ki --seconds 0 --rounds 3'
choice="$small --formats e5m10,e4m3 --reduce hierarchical,direct"
more='--rows pass,floor,half'

# cell COLUMN VARIANT REDUCE COUNT: from figures.csv
cell()
{
    awk -F, -v name="$1" -v variant="$2" -v reduce="$3" -v count="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $1 == variant && $2 == reduce && $3 == count { print $column[name] }
        ' figures.csv
}

# greater A B
greater()
{
    awk -v a="$1" -v b="$2" 'BEGIN { print a, b; exit !(a > b) }'
}

said()
{
    failed && has err "$1"
}

# --- bad arguments

timed "$bench" --sizes 1Ki,4096x
check "a bad size is an error" said "'4096x'"
timed "$bench" --formats e9m2
check "a bad format is an error" said "'e9m2'"
timed "$bench" --size 4Ki
check "and an unknown option" said "'--size'"
timed "$bench" --sizes 1000,1003
check "and sizes that rules cannot tell apart" said 'too close'
timed "$bench" --reduce tree
check "and a reduction that the library lacks" said "unknown reduce 'tree'"
timed "$bench" --rows floor,ceiling
check "and an unknown row" said "'ceiling'"
timed "$bench" --sizes none
check "and nothing to measure" said 'no size and no tensor'
timed "$bench" --cold 0
check "and no memory to touch" said "--cold must be a number from 1 to 1e6, not '0'"
timed "$bench" --rounds
check "and an option without its value" said '--rounds needs a value'
timed "$bench" --tensors missing.csv
check "and no file of tensors" said 'missing.csv: No such file'
echo '0,name,many' >bad.csv
timed "$bench" --tensors bad.csv
check "and a bad one" said '0,name,many'
: >empty.0
printf '%08d' 1 >short.0
for file in missing empty short; do
    native 2 "$bench" $small --recorded $file
    check "and no gradients in $file.0" said "apsmpi: bench: rank 0: $file.0: "
done
native 2 "$bench" $small --csv no/such/place.csv
check "and a CSV that cannot be written, on all ranks" \
    said 'no/such/place.csv: No such file'

# --- without the library

native 2 "$bench" $small --formats e4m3 --csv figures.csv
check "it runs without the library" status_is 0
native 2 "$bench" $small --formats e4m3 --cold 1
check "with cold caches, too, one call a timing" \
    equal "$(grep -c ' rounds of 1$' out)" 2
native 2 "$bench" $small --formats e4m3 --steady
check "and with the same values" has out ', the same values: 2 ranks'
"$PYTHON3" - <<'PROGRAM'
import array
for rank in range(2):
    with open("gradients.%d" % rank, "wb") as file:
        for step in range(4):
            for n in 700, 3000:
                array.array("q", [n]).tofile(file)
                array.array("f", [step + 1] * n).tofile(file)
PROGRAM
native 2 "$bench" $small --formats e4m3 --recorded gradients
check "and with recorded gradients" has out ', recorded: 2 ranks'
check "which are not zeros" equal "$status, $(grep -c nan out)" '0, 0'
native 2 "$bench" $small $more --formats e4m3 --csv figures.csv
check "and says that nothing was rewritten" lines 2 out '  not rewritten'
check "in the CSV too" equal "$(cell rewritten e4m3 hierarchical 1024)" no
check "FP16 is an operation of its own" \
    equal "$(cell rewritten 'fp16 op' native 4096)" yes

# --- with it

printf 'layer,name,count\n0,a,512\n1,b,1000\n2,c,1024\n' >tensors.csv
job 2 "$bench" $choice $more --tensors tensors.csv --wire-gbit 1 --csv figures.csv
check "it runs with the library" status_is 0
check "and everything is rewritten" not has out 'not rewritten'
check "nothing is wrong" not has out 'WRONG'
for reduce in hierarchical direct; do
    check "$reduce: e4m3 is coarser than e5m10" \
        greater "$(cell error e4m3 $reduce 4096)" 0.01
    check "and e5m10 is finer" \
        greater 0.001 "$(cell error e5m10 $reduce 4096)"
done
check "what no rule matches has FP32's sum" \
    equal "$(cell error unmatched native 4096)" 0
check "what a rule leaves to MPI too" \
    equal "$(cell error bypassed native 4096)" 0
check "the tensors are a case of three calls" \
    equal "$(cell calls e4m3 direct 2536)" 3
check "one host has no wire" equal "$(cell wire_share e4m3 direct 4096)" ''
check "the report reads it" "$PYTHON3" "$report" --bench figures.csv
timed "$PYTHON3" "$top_srcdir/tests/bench/speed.py" table figures.csv
check "README.md's picture can be made of it" has out '"one node, 2 ranks",0 Mi,e4m3,8,'

# --- sums that are wrong: e3m0 where the bench expects e5m10's errors

{
    printf 'version: 1\nrules:\n'
    for n in 1025 1027 4097 4099; do
        echo "  - {min_count: $n, max_count: $n, format: e3m0}"
    done
} >wrong.yaml
job 2 APSMPI_POLICY=wrong.yaml "$bench" $choice
check "sums that are too coarse are found" lines 4 out '  WRONG'
check "and end the job with an error" failed

finish
