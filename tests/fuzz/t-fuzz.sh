#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Readers of files, and decoders of messages, get damaged inputs: the files of corpus/
# and samples of the tree, cut and mutated. `make fuzz SECONDS=60` goes on for a minute
# with each reader; build with --enable-sanitizers for it.

top=$(cd "${top_srcdir:-.}" && pwd)
built=${top_builddir:-.}/tests/fuzz
built=$(cd "$built" && pwd) || exit 1
seconds=${FUZZ_SECONDS:-0}
corpus=$top/tests/fuzz/corpus
ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1
export ASAN_OPTIONS UBSAN_OPTIONS

number=0 failed=0
# try TARGET COMMAND...: runs it; it prints a line with the number of inputs
try()
{
    target=$1
    shift
    number=$((number + 1))
    text=$("$@" 2>&1)
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok $number - $target: $text"
    else
        failed=$((failed + 1))
        echo "not ok $number - $target: status $status"
        printf '%s\n' "$text" | sed 's/^/# /'
    fi
}
for target in policy table machine wire blocks; do
    set -- "$corpus/$target"*
    case $target in
    policy) set -- "$@" "$top"/config/policies/*.yaml ;;
    table) set -- "$@" "$top/config/layers/resnet18-layers.csv" ;;
    esac
    try $target "$built/$target" --seconds "$seconds" "$@"
done
if command -v "${PYTHON3:-python3}" >/dev/null; then
    "${PYTHON3:-python3}" "$top/tests/e2e/suggest_log.py" candidates.csv &&
        try log "${PYTHON3:-python3}" "$top/tests/fuzz/log.py" "$seconds" \
            "$top/tests/e2e/data/report.csv" candidates.csv "$corpus/log-exponents"
    rm -f candidates.csv
else
    echo "ok $((number += 1)) - log # SKIP there is no Python"
fi
echo "1..$number"
exit $((failed > 0))
