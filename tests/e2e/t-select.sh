#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MSTopK: every variant of the kernels has the thresholds and elements of an
# independent program.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all "$PYTHON3 does not run here"
for cpu in plain avx2 avx512; do
    check "$cpu: the loop as it is written, in Python" env "APSMPI_CPU=$cpu" \
        "$PYTHON3" "$top_srcdir/tests/e2e/mstopk.py" \
        "$top_builddir/tests/e2e/selector"
done
finish
