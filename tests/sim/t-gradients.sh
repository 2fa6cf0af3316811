#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The stored gradients equal those that their script draws.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

if ! "$PYTHON3" -c '' 2>"$tmp/err"; then
    echo "1..0 # SKIP $PYTHON3 does not run here"
    exit 0
fi
echo 1..1
if "$PYTHON3" "$top_srcdir/tests/sim/gradients.py" "$tmp/drawn" &&
    cmp "$tmp/drawn" "$gradients" >&2; then
    echo 'ok 1 - drawn again, the gradients are the stored ones'
else
    echo 'not ok 1 - drawn again, the gradients are the stored ones'
    exit 1
fi
