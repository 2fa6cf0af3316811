#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How deep a blocking MPI_Allreduce of e4m3, aps, hierarchical is: prints the frames
# from the entry to the kernel that encodes, and allows FRAMES of them. Also counts the
# plans that nine calls resolve. Needs gdb and a build without optimization in O0/:
#
#     make check-frames
FRAMES=18 # 31 before one object held a call

top_builddir=$(cd "${top_builddir:-build}" && pwd)
library=$top_builddir/O0/.libs/libapsmpi.so
program=$top_builddir/O0/tests/structure/frames

skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}
gdb --version >/dev/null 2>&1 || skip_all 'there is no gdb'
[ -e "$library" ] || skip_all 'there is no build in O0/: make check-frames'

tmp=$(mktemp -d "${TMPDIR:-/tmp}/apsmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/policy.yaml" <<'END'
version: 1
rules:
  - format: e4m3
    scale: aps
    reduce: hierarchical
END
# A process of MPI in which the other rank runs without the debugger.
cat >"$tmp/commands" <<END
set pagination off
set confirm off
set breakpoint pending on
set environment LD_PRELOAD $library
set environment APSMPI_POLICY $tmp/policy.yaml
tbreak frames_steady
run
rbreak float.c:^encode_[pa]
continue
backtrace
delete
tbreak frames_steady
continue
break aps_policy_resolve
ignore \$bpnum 1000
tbreak frames_steady if call == 10
continue
info breakpoints
END
timeout 120 "$MPIEXEC" \
    -n 1 gdb -batch -x "$tmp/commands" "$program" : \
    -n 1 -env LD_PRELOAD "$library" -env APSMPI_POLICY "$tmp/policy.yaml" \
    "$program" </dev/null >"$tmp/out" 2>"$tmp/err"

sed -n '/^#0 /,/ in main /p' "$tmp/out" >"$tmp/frames"
frames=$(grep -n -m 1 ' MPI_Allreduce ' "$tmp/frames" | cut -d : -f 1)
plans=$(sed -n '/aps_policy_resolve/,$s/.*already hit \([0-9]*\) times.*/\1/p' "$tmp/out")
sed 's/^/# /; s/ (.*)* at / at /' "$tmp/frames"
echo "# frames: ${frames:-none}, plans of 9 calls: ${plans:-none}"
status=0
if [ -n "$frames" ] && [ "$frames" -le "$FRAMES" ]; then
    echo "ok 1 - a blocking call has at most $FRAMES frames"
else
    echo "not ok 1 - a blocking call has at most $FRAMES frames"
    sed 's/^/#   /' "$tmp/err" | head -n 20
    status=1
fi
if [ "$plans" = 9 ]; then
    echo "ok 2 - a call resolves one plan"
else
    echo "not ok 2 - a call resolves one plan"
    status=1
fi
echo 1..2
exit "$status"
