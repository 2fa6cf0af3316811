#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Block formats and integers: every variant of the kernels has the bytes and
# values of an independent writer and reader.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all "$PYTHON3 does not run here"
for cpu in plain avx2 avx512; do
    check "$cpu" env ${sanitizer:+"LD_PRELOAD=${sanitizer%:}"} "APSMPI_CPU=$cpu" \
        "$PYTHON3" "$top_srcdir/tests/e2e/blocks.py" "$top_builddir/.libs/libaps.so"
done
finish
