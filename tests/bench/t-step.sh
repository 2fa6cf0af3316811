#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bench of a step's sums: a line a round and the error of the sums, without
# the library and with each policy that it compares. No test asserts a time.
# shellcheck disable=SC2086 # options are words
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

bench=$top_builddir/tests/bench/step
{
    printf '# a remark\n\nlayer,name,count,shape\n0,a.weight,36864,64x64x3x3\n'
    printf '1,a.bias,1064,1064\n2,b.weight,32768,128x256\n'
} >tensors.csv
small='--tensors tensors.csv --rounds 3 --warmup 1'

said()
{
    failed && has err "$1"
}

# error_is CONDITION: of awk, on e
error_is()
{
    awk -v test="$1" '
        $1 == "error" { e = $2; n++ }
        END {
            split(test, words, " ")
            good = words[1] == "below" ? e < words[2] : e > words[2]
            exit !(n == 1 && good)
        }' out
}

timed "$bench" --round 3
check "an unknown option is an error" said "'--round'"
timed "$bench" --rounds 0
check "a bad number is an error" said "'--rounds'"
timed "$bench" --tensors missing.csv
check "and no file of tensors" said 'missing.csv: No such file'

native 2 "$bench" $small
check "it runs without the library" status_is 0
check "and prints a line a round" lines 3 out 'step '
check "... with two times" equal "$(awk '/^step/ { print NF }' out | sort -u)" 3
check "... and an error of nothing" error_is 'below 1e-6'

for options in '' --nonblocking; do
    policy p.yaml -t 'table: tensors.csv' -t 'steps: {order: backward}' \
        -t 'fuse: 1MiB' 'format: e8m23'
    job 2 APSMPI_POLICY=p.yaml "$bench" $small $options
    check "full floats ${options:-blocking}" error_is 'below 1e-6'
    check "... all rewritten" rewritten 15
    policy p.yaml -t 'table: tensors.csv' -t 'steps: {order: backward}' \
        -t 'fuse: 1MiB' \
        'compress: {mstopk: 0.01}, feedback: on'
    job 2 APSMPI_POLICY=p.yaml "$bench" $small $options
    check "selected elements ${options:-blocking}" status_is 0
    check "... leave something out" error_is 'above 0.01'
done

finish
