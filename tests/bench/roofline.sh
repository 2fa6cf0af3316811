#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bounds of an all-reduce of RANKS (2) ranks on this node: the bytes and
# instructions of each kernel, the time that the kernels take alone, and the measured
# time.
#
#   roofline.sh [OPTION...]
#
# Runs `codec` twice at the same time, since two ranks share the memory, `passes`, which
# only moves the bytes, and then the all-reduce bench with the library preloaded under
# `scale: aps` and `scale: aps-tight`; roofline.py prints the tables and describes the
# bounds. SIZES ("1Mi 4Mi 25.6Mi") and FORMATS ("e4m3 e3m0 e5m10") choose. The options
# are the all-reduce bench's own (--help). Leaves its files in tests/bench/ of
# the build directory. By hand, run
#
#   top_srcdir=. top_builddir=build sh tests/bench/roofline.sh
set -eu

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
. "$top_srcdir/tests/tap/mpi.sh"
PYTHON3=${PYTHON3:-python3}
RANKS=${RANKS:-2}
SIZES=${SIZES:-1Mi 4Mi 25.6Mi}
FORMATS=${FORMATS:-e4m3 e3m0 e5m10}
KIB=${KIB:-256 262144}
library=$top_builddir/.libs/libapsmpi.so
codec=$top_builddir/tests/bench/codec
bench=$top_builddir/pmpi/bench/apsmpi-bench
files=$top_builddir/tests/bench/roofline

set -- --sizes "$(echo "$SIZES" | tr ' ' ,)" \
    --formats "$(echo "$FORMATS" | tr ' ' ,)" --rows floor --seconds 1 --cold 8 "$@"

rm -f "$files"-*
# shellcheck disable=SC2086 # lists of words
{
    "$codec" instructions $FORMATS >"$files-instructions.txt"
    "$codec" $KIB $FORMATS >"$files-kernels-1.txt" &
    first=$!
    "$codec" $KIB $FORMATS >"$files-kernels-2.txt"
    wait $first
    timeout -k 5 300 $launch -n "$RANKS" "$top_builddir/tests/bench/passes" $SIZES \
        </dev/null >"$files-passes.txt"
}
for scale in aps aps-tight; do
    to=$files-$scale
    # shellcheck disable=SC2086 # two words
    timeout -k 5 300 $launch -n "$RANKS" -genv LD_PRELOAD "$library" \
        -genv APSMPI_SUMMARY off \
        "$bench" "$@" --rule "scale: $scale" --csv "$to.csv" </dev/null \
        >"$to.txt" 2>&1 || {
        echo "roofline.sh: $scale: status $?" >&2
        cat "$to.txt" >&2
        exit 1
    }
done
exec "$PYTHON3" "$top_srcdir/tests/bench/roofline.py" --ranks "$RANKS" \
    --cores "$(nproc)" "$files"
