#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bench of nonblocking all-reduces: sums are right under every policy that
# it compares, ranks may wait anywhere, and the bench finds wrong sums. No test
# asserts a time.
# shellcheck disable=SC2086 # options are words
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

bench=$top_builddir/tests/bench/nonblocking
# Tensors below and above the groups' size, most of them small.
printf 'layer,name,count\n' >tensors.csv
seq 0 39 | awk '{ printf "%d,t%d,%d\n", $1, $1, $1 % 7 ? 50 + 37 * $1 : 20000 + $1 }' \
    >>tensors.csv
small='--tensors tensors.csv --rounds 3 --warmup 1'

said()
{
    failed && has err "$1"
}

# --- bad arguments

timed "$bench"
check "neither step nor overlap is an error" said 'See --help'
timed "$bench" step --tensor x
check "an unknown option is an error" said "'--tensor'"
timed "$bench" step --rounds 0
check "and a bad number" said "'--rounds'"
timed "$bench" overlap --size 8Mb
check "and a bad size" said "'--size'"
timed "$bench" step --tensors missing.csv
check "and no file of tensors" said 'missing.csv: No such file'

# --- without the library

native 2 "$bench" step $small
check "it runs without the library" status_is 0
check "and prints a line a round" lines 3 out 'step '
native 2 "$bench" overlap --size 64Ki --rounds 2 --warmup 0
check "the overlap works, too" equal "$status $(grep -c '^overlap ' out)" '0 2'
check "... with five times" equal "$(awk '{ print NF }' out | sort -u)" 6

# --- with it

while read -r ranks progress fuse rule; do
    policy p.yaml -t "progress: $progress" -t "fuse: $fuse" "$rule, reduce: direct"
    what="$ranks ranks, progress $progress, fuse $fuse, $rule"
    for options in '' --ragged; do
        job "$ranks" APSMPI_POLICY=p.yaml "$bench" step $small $options
        check "$what${options:+, $options}" status_is 0
        check "... all rewritten" rewritten 160
    done
    job "$ranks" APSMPI_POLICY=p.yaml "$bench" overlap --size 64Ki --rounds 2
    check "... under a computation" status_is 0
done <<END
2 calls off format: e8m23
2 calls 64KiB format: e8m23
2 thread 64KiB format: e8m23
3 thread off format: e5m2, scale: aps
4 calls 1MiB format: e5m2, scale: aps
4 thread 16KiB format: e5m10, scale: aps
END
policy p.yaml 'format: e5m2, scale: aps, reduce: direct'
job 2 APSMPI_POLICY=p.yaml "$bench" step $small --blocking
check "blocking calls" rewritten 160

# --- wrong sums

policy p.yaml 'format: e5m2, scale: {fixed: 1e30}, reduce: direct'
job 2 APSMPI_POLICY=p.yaml "$bench" step $small
check "sums that overflow are found" said 'element '

finish
