#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The simulated jobs of the Python package apsmpi have the bits of MPI jobs.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import numpy' 2>/dev/null ||
    skip_all "$PYTHON3 has no module numpy"
[ -z "$sanitizer" ] || skip_all 'a build with sanitizers'
# shellcheck disable=SC2086 # a command with options
exec env LIBAPS="$top_builddir/.libs/libaps.so" PYTHONPATH="$top_srcdir/scripts" \
    OPENBLAS_NUM_THREADS=1 "$PYTHON3" "$top_srcdir/tests/e2e/python_cluster.py" \
    "$launch" "$library" "$top_builddir/tests/e2e/reduced"
