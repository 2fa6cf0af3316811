#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package apsmpi without MPI, by each Python here that has NumPy: the one
# of the tests, and the system's, which may have PyTorch.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ -z "$sanitizer" ] || skip_all 'a build with sanitizers'
page=$top_srcdir/scripts/apsmpi-python.7

# The functions of libaps-cuda, on the host.
cat >cuda.c <<'END'
#include <aps.h>
int aps_cuda_cast_array(const struct aps_format *format, const float *x, size_t n,
                        const struct aps_cast_options *options, float *y,
                        void *stream, struct aps_error *error)
{
    return stream == (void *)7 ? aps_cast_array(format, x, n, options, y, error) : -1;
}
int aps_cuda_gemm(const struct aps_gemm_arguments *arguments, void *stream,
                  struct aps_error *error)
{
    return stream == (void *)7 ? aps_gemm(arguments, error) : -1;
}
END
# shellcheck disable=SC2086 # a compiler may have arguments
$CC -shared -fPIC -I"$top_srcdir/src" -I"$top_builddir/src" -o cuda.so cuda.c \
    "$top_builddir/.libs/libaps.so" || exit 1

# package PYTHON
package()
{
    if ! "$1" -c 'import numpy' 2>/dev/null; then
        skip "$1" 'it has no module numpy'
        return
    fi
    timed env LIBAPS="$top_builddir/.libs/libaps.so" CUDA_ON_HOST="$tmp/cuda.so" \
        OPENBLAS_NUM_THREADS=1 \
        PYTHONPATH="$top_srcdir/scripts" "$1" \
        "$top_srcdir/tests/e2e/python_package.py" \
        "$top_srcdir/tests/e2e/data" "$page"
    grep -v '^ok' out | sed 's/^/# /'
    check "$1: the package passes its tests" status_is 0
    sed -n 's/^ok [0-9]* - \(.* # SKIP\)/# \1/p' out
    check '... more than 60' test "$(grep -c '^ok' out)" -gt 60
}

package "$PYTHON3"
[ "$(command -v "$PYTHON3")" = /usr/bin/python3 ] || package /usr/bin/python3

if "$PYTHON3" -c 'import mypy' 2>/dev/null; then
    cp "$top_srcdir/scripts/pyproject.toml" .
    timed "$PYTHON3" -m mypy "$top_srcdir/scripts/apsmpi"
    check 'mypy finds nothing' status_is 0
else
    skip 'mypy finds nothing' "$PYTHON3 has no module mypy"
fi

# A library that cannot be loaded.
timed env LIBAPS=/nowhere.so PYTHONPATH="$top_srcdir/scripts" "$PYTHON3" \
    -c 'import apsmpi'
check 'a missing library is an ImportError' has err 'cannot load libaps (/nowhere.so'
check '... that says what to do' has err 'set LIBAPS'
finish
