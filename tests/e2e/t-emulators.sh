#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Formats in blocks next to microxcaling and HBFPEmulator, as numpy formulates
# them: where values are equal, and why they differ elsewhere.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import numpy' 2>/dev/null ||
    skip_all "$PYTHON3 has no module numpy"
env ${sanitizer:+"LD_PRELOAD=${sanitizer%:}"} OPENBLAS_NUM_THREADS=1 \
    "$PYTHON3" "$top_srcdir/tests/e2e/emulators.py" \
    "$top_builddir/.libs/libaps.so"
