#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# If no call is rewritten, an unmodified program prints the same bytes.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policy fp32.yaml 'format: fp32'
policy low.yaml 'format: e4m3'
policy exact.yaml 'format: e8m23'
policy direct.yaml 'format: e8m23, reduce: direct'
policy large.yaml 'min_count: 100000, format: e3m0'

# as_native NAME RANKS ARGUMENTS OF job...: the same output as without the library
as_native()
{
    name=$1
    shift
    job "$@"
    check "$name" cmp native out
}

for ranks in 1 2 3; do
    native $ranks $digits --epochs 1
    cp out native
    check "$ranks ranks: the program works without the library" trained
    as_native "... and prints the same in discovery mode" \
        $ranks APSMPI_DISCOVERY=found$ranks $digits --epochs 1
    check '... which reports it' lines 1 err 'none rewritten (no policy)'
    as_native '... under a policy of fp32' \
        $ranks APSMPI_POLICY=fp32.yaml $digits --epochs 1
    check '... which reports it' rewritten 0
    as_native '... with APSMPI_ENABLE=off' $ranks APSMPI_ENABLE=off \
        APSMPI_POLICY=low.yaml $digits --epochs 1
    check '... and nothing rewritten' rewritten 0
done

native 1 $digits --epochs 1
cp out native
as_native 'one rank alone has nothing to reduce' \
    1 APSMPI_POLICY=low.yaml $digits --epochs 1
check '... and rewrites nothing' rewritten 0

native 2 $digits --epochs 2
cp out native
# Two values have one FP32 sum, and e8m23 rounds nothing.
for policy in exact direct; do
    as_native "$policy.yaml: rewritten FP32 sums are MPI's on two ranks" \
        2 APSMPI_POLICY=$policy.yaml $digits --epochs 2
    check '... and was rewritten' rewritten 132
done
as_native 'a policy that matches no call' \
    2 APSMPI_POLICY=large.yaml $digits --epochs 2
check '... rewrites none' rewritten 0

job 2 APSMPI_POLICY=low.yaml $digits --epochs 2
check '8 bits change the weights' not cmp native out
check '... in a program that still trains' trained

as_native 'without summary and discovery' \
    2 APSMPI_SUMMARY=off APSMPI_DISCOVERY=off $digits --epochs 2
check '... without any message' empty err

native 2 $digits --epochs 1 --nonsense
cp out native
cp err native.err
wanted=$status
as_native "the program's own failure keeps its output" \
    2 APSMPI_SUMMARY=off $digits --epochs 1 --nonsense
check '... its messages' cmp native.err err
check '... and its exit status' status_is "$wanted"

finish
