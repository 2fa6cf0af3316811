#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# min_count applies to layers, also if a call has several of them: explain, the
# log and the summary agree.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

layer_table >table.csv

# policy_for FILE MIN_COUNT RULE...: writes a policy for the table, with a log
policy_for()
{
    file=$1 least=$2
    shift 2
    printf 'version: 1\ntable: table.csv\nmin_count: %s\n' "$least" >"$file"
    printf 'log: {file: %s.csv, every: 1}\nrules:\n' "${file%.yaml}" >>"$file"
    printf '  - {%s}\n' "$@" >>"$file"
}

# saved FILE: prints the per cent saved, by the summary in FILE
saved()
{
    sed -n 's/.*MPI_Allreduce.*(\([0-9.]*\) % saved).*/\1/p' "$1"
}

# foretold POLICY: prints the per cent saved, by explain, for the only span of time
foretold()
{
    "$apsmpi" explain "$1" | sed -n '/^total/,/^$/s/^all .* \([0-9.]*\)%$/\1/p'
}

# near A B: equal except for the headers of blocks, which explain does not count
near()
{
    echo "'$1' and '$2'"
    awk -v a="$1" -v b="$2" \
        'BEGIN { d = a - b; exit !(a > 0 && b > 0 && d < 0.4 && d > -0.4) }'
}

# one_meaning NAME POLICY SAMPLED: runs with calls of all layers, and of one
# layer; both logs have these layers
one_meaning()
{
    wanted=$(foretold "$2")
    log=${2%.yaml}.csv
    job 2 APSMPI_POLICY="$2" $digits --epochs 1 --fused
    check "$1: a call of all layers saves what explain says" \
        near "$(saved err)" "$wanted"
    check '... and the log has the same layers' \
        equal "$(distinct layer "$log")" "$3"
    mv out fused
    rm "$log"
    job 2 APSMPI_POLICY="$2" $digits --epochs 1
    check '... as if each had a call of its own' \
        equal "$(distinct layer "$log")" "$3"
    check '... with the same results' cmp out fused
}

policy_for usual.yaml 1024 'format: e4m3, scale: aps, reduce: direct'
one_meaning 'layers below min_count are left to MPI' usual.yaml '0 2'
policy_for low.yaml 100 'format: e4m3, scale: aps, reduce: direct'
one_meaning 'fewer are rewritten, if min_count is lower' low.yaml '0 2 4'
policy_for rule.yaml 1 'layers: fc2.weight, format: fp32' \
    'format: e4m3, scale: aps, reduce: direct'
one_meaning 'and those of which a rule says fp32' rule.yaml '0 1 3 4 5'

# --- settings of a rule -------------------------------------------------------

policy_for small.yaml 1024 'max_count: 1023, format: fp32' 'format: e4m3'
timed "$apsmpi" check small.yaml
check 'a rule may say that layers below min_count are FP32' status_is 0
check '... although it need not' has err \
    'small.yaml:6:17: warning: the rule has no effect: max_count 1023 is below'
policy_for none.yaml 1024 'max_count: 1023, format: e5m2' 'format: e4m3'
timed "$apsmpi" check none.yaml
check 'another format for them is refused' status_is 1
check '... with what to do' has err \
    "give min_count next to 'rules' to rewrite such layers"

finish
