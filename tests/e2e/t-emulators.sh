#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Block formats compared with numpy versions of microxcaling and HBFPEmulator:
# values are equal, or differ for known causes.

. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import numpy' 2>/dev/null ||
    skip_all "$PYTHON3 has no module numpy"
env ${sanitizer:+"LD_PRELOAD=${sanitizer%:}"} OPENBLAS_NUM_THREADS=1 \
    "$PYTHON3" "$top_srcdir/tests/e2e/emulators.py" \
    "$top_builddir/.libs/libaps.so"
