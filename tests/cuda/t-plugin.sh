#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libapsmpi-cuda.so and libaps-cuda.so as files: their libraries, exports, the
# registers of their kernels, and the plugin's message without a GPU.

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
plugin=$top_builddir/.libs/libapsmpi-cuda.so
library=$top_builddir/.libs/libaps-cuda.so

if [ -n "${CUDA_SKIP-}" ]; then
    echo "1..0 # SKIP $CUDA_SKIP"
    exit 0
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
number=0
failures=0
resources=$tmp/resources
for part in kernels block_kernels sums; do
    cat "$top_builddir/cuda/$part.resources"
done >"$resources"

# check NAME COMMAND...: prints the command's output if it fails.
check()
{
    name=$1
    shift
    number=$((number + 1))
    if "$@" >"$tmp/said" 2>&1; then
        echo "ok $number - $name"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $number - $name"
    sed 's/^/# /' "$tmp/said"
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

not()
{
    ! "$@"
}

equal()
{
    echo "'$1', not '$2'"
    test "$1" = "$2"
}

# --- linking ------------------------------------------------------------------

if command -v readelf >/dev/null; then
    readelf -d "$plugin" >"$tmp/dynamic"
    check 'it is a library' grep -q NEEDED "$tmp/dynamic"
    check 'it needs no MPI, no driver, no CUDA library, no C++, not libapsmpi' \
        not grep -E 'NEEDED.*lib(mpi|cuda|stdc|aps|hwloc|yaml|nv)' \
        "$tmp/dynamic"
    readelf -d "$library" >"$tmp/dynamic"
    check '... nor does libaps-cuda.so' \
        not grep -E 'NEEDED.*lib(mpi|cuda|stdc|aps|hwloc|yaml|nv)' \
        "$tmp/dynamic"
    readelf -d "$top_builddir/.libs/libapsmpi.so" >"$tmp/dynamic"
    check 'libapsmpi.so is there' grep -q NEEDED "$tmp/dynamic"
    check '... and needs no CUDA' \
        not grep -E 'NEEDED.*(cuda|nv)' "$tmp/dynamic"
else
    skip 'what it needs' 'no readelf'
fi
if command -v nm >/dev/null; then
    check 'it exports one symbol' equal \
        "$(nm -D --defined-only "$plugin" | awk '{ print $NF }')" \
        aps_cuda_plugin
    check 'libaps-cuda.so exports aps_cuda.h' equal \
        "$(nm -D --defined-only "$library" |
            sed -n 's/.* \([a-z_]*\)@@LIBAPS_CUDA_.*/\1/p' | sort)" \
        "$(sed -n 's/^APS_API int \(aps_cuda_[a-z_]*\)(.*/\1/p' \
            "${top_srcdir:-.}/cuda/aps_cuda.h" | sort)"
else
    skip 'what it exports' 'no nm'
fi

# --- loading ------------------------------------------------------------------

sanitizer=$(ldd "$plugin" 2>/dev/null | awk '/libasan/ { print $3 }')
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
check 'it loads where nothing of CUDA is loaded' \
    env ${sanitizer:+LD_PRELOAD=$sanitizer} \
    "$top_builddir/tests/cuda/load" "$plugin" "$PACKAGE_VERSION"
cat "$tmp/said" >"$tmp/state"
case $(cat "$tmp/state") in
open)
    skip 'it says why it cannot work' 'there is a GPU' ;;
*)
    check 'it says why it cannot work' \
        grep -E '^closed: .*(CUDA driver|CUDA device)' "$tmp/state"
    if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
        skip '... that there is no driver' 'there is one'
    else
        check '... that there is no driver' grep \
            '^closed: no CUDA driver: libcuda\.so\.1' "$tmp/state"
    fi ;;
esac

# --- kernels ------------------------------------------------------------------

# Of each kernel for each GPU ptxas prints two lines:
#     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
#     ptxas info    : Used 40 registers, ...
kernels=$(grep -c 'Used [0-9]* registers' "$resources")
gpus=$(sed -n "s/.*Compiling entry function.* for '\(sm_[0-9a-z]*\)'.*/\1/p" \
    "$resources" | sort -u | wc -l)
check 'what the kernels use is known' test "$kernels" -gt 10 -a "$gpus" -gt 0
check 'all of them for all GPUs' test $((kernels % gpus)) -eq 0
check 'no kernel uses local memory' equal "$(grep -c 'bytes stack frame' \
    "$resources") $(grep -c '^ *0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads$' \
    "$resources")" "$kernels $kernels"
check '... nor calls for more of it' not grep -E 'cumulative stack|lmem' \
    "$resources"
# 64 registers: half of the threads that a GPU can hold, in blocks of 256.
check 'no kernel uses more than 64 registers' equal \
    "$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$resources" |
        awk '$1 > 64' | wc -l)" 0
check 'the compiler has nothing to say of them' not grep -iE \
    'warning|error' "$resources"

# --- flags that would change the bits -------------------------------------------

mkdir "$tmp/configured"
(cd "$tmp/configured" && "$top_srcdir/configure" -q NVCCFLAGS=-use_fast_math \
    >"$tmp/refused" 2>&1)
check 'configure refuses -use_fast_math' grep \
    'error: .*remove -use_fast_math' "$tmp/refused"

echo "1..$number"
[ "$failures" -eq 0 ]
