#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Numbers, codecs and compressors on 64-bit Arm: cross-compiled with Debian's compiler
# and run under qemu-user. Tests against MPFR are left out, because there is no MPFR for
# Arm. Instead the codes, values and rounded arrays of every format, and the results of
# compressors for random values, must have the hashes that this machine computes.
#
# AARCH64_CC and QEMU_AARCH64 name other tools.

top_srcdir=${top_srcdir:-.}
cross=${AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU_AARCH64:-qemu-aarch64}
root=${AARCH64_ROOT:-/usr/aarch64-linux-gnu}
native=${CC:-cc}

for tool in "$cross" "$qemu"; do
    if ! command -v "$tool" >/dev/null; then
        echo "1..0 # SKIP no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"
        exit 0
    fi
done

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
echo '#define PACKAGE_VERSION "0.0.0"' >"$tmp/config.h"
sed -e 's/@APS_VERSION_NUMBER@/0/' -e 's/@PACKAGE_VERSION@/0.0.0/' \
    "$top_srcdir/src/aps_version.h.in" >"$tmp/aps_version.h"

rooms='base number kernel float blockwise codec compress'
sources=$top_srcdir/tests/tap/tap.c
for room in $rooms; do
    sources="$sources $top_srcdir/src/$room/*.c"
done
# Tests with more sources than one, or of MPFR, are left out.
tests='array codec codec_blocks codec_large codec_levels codec_passes codec_random
    codec_sizes entropy stream format rounding sum gemm gemm_blocks chunks
    compressor_takes feedback indices lowrank lowrank_factors lowrank_products
    magnitudes select sparse ternary vote'

flags="-std=gnu11 -O3 -fno-trapping-math -ffp-contract=off -D_GNU_SOURCE -I$tmp
    -I$top_srcdir/src -I$top_srcdir/tests -I$top_srcdir/tests/tap -I$top_srcdir"

# objects COMPILER: compiles all sources, once, into $tmp/COMPILER
objects()
{
    [ ! -e "$tmp/$1" ] || return 0
    mkdir "$tmp/$1"
    for source in $sources; do
        # shellcheck disable=SC2086 # a list of flags
        "$1" $flags -c -o "$tmp/$1/$(echo "${source#"$top_srcdir/"}" |
            tr / _).o" "$source" ||
            return 1
    done
}

# build COMPILER TEST: builds $tmp/TEST.COMPILER
build()
{
    # shellcheck disable=SC2086 # a list of flags
    objects "$1" 2>"$tmp/errors" &&
        "$1" $flags -o "$tmp/$2.$1" "$top_srcdir"/tests/unit/*/"$2.c" \
            "$tmp/$1"/*.o -lm -lpthread 2>"$tmp/errors" || {
        sed 's/^/# /' "$tmp/errors"
        return 1
    }
}

number=0
failures=0

# result STATUS NAME
result()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failures=$((failures + 1))
        echo "not ok $number - $2"
    fi
}

for test in $tests; do
    build "$cross" "$test" &&
        "$qemu" -L "$root" "$tmp/$test.$cross" >"$tmp/out" 2>&1
    status=$?
    [ "$status" -eq 0 ] || grep -v '^ok' "$tmp/out" | head -n 20 | sed 's/^/# /'
    result "$status" "$test: $(grep -c '^ok' "$tmp/out") tests on aarch64"
done

for hashes in hashes hashes_compress; do
    build "$native" $hashes && "$tmp/$hashes.$native" >"$tmp/here" &&
        build "$cross" $hashes &&
        "$qemu" -L "$root" "$tmp/$hashes.$cross" >"$tmp/there"
    result $? "$hashes: computed here and on aarch64"
    diff "$tmp/here" "$tmp/there" >"$tmp/changes" && [ -s "$tmp/here" ]
    status=$?
    sed 's/^/# /' "$tmp/changes"
    result "$status" "$hashes: the same $(wc -l <"$tmp/here") lines"
done

echo "1..$number"
[ "$failures" -eq 0 ]
