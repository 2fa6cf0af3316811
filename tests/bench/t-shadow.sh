#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bench of candidates' cost runs its pairs, and reports a job that fails. No
# test asserts a time.
# shellcheck disable=SC2317 # functions that check calls
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# shadow [VARIABLE=VALUE...]: two pairs
shadow()
{
    limit=120
    timed env PAIRS=2 EPOCHS=4 "$@" sh "$top_srcdir/tests/bench/shadow.sh"
}

shadow PAIRS=0
check "no pairs are an error" status_is 2
check "... that names the variable" has err "PAIRS='0' is not a whole number above 0"
shadow CANDIDATES=e4m33
check "a job that fails ends it" status_is 2
check "... with what the job said" has err "APSMPI_SHADOW:1:1: format 'e4m33'"
check "... and which job it was" has err 'a job (with) ended with status'
shadow EPOCHS=0
check "a job that measures nothing ends it" status_is 2
check "... and the command reports it" has err 'pair 1: no candidate was measured'
shadow
check "pairs run" status_is 0
check "... as many as were asked for" \
    test "$(grep -c '^ *[12] .*[0-9] %' out)" -eq 2
check "... whose quotients are summed up" grep -q \
    '^2 pairs: with/plain: median [0-9.]*, least [0-9.]*, greatest [0-9.]*$' out
check "... of which the median lies between the others" awk '
    /^2 pairs/ { good = 0 < $7 + 0 && $7 + 0 <= $5 + 0 && $5 + 0 <= $9 + 0 }
    END { exit !good }' out
finish
