#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The interface for programs: exported names with their versions, the layout of
# public structs, the declarations. After an intended change,
#
# make update-interface
#
# writes the files in tests/structure/interface/ again, to be committed with the
# change. A new function needs a symbol version: src/libaps.map.

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-build}" && pwd)
golden=$top_srcdir/tests/structure/interface
LC_ALL=C
export LC_ALL
number=0
failures=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# same NAME TEXT: $tmp/NAME equals the file of that name.
same()
{
    if [ -n "$UPDATE_INTERFACE" ]; then
        cp "$tmp/$1" "$golden/$1"
        return
    fi
    number=$((number + 1))
    if diff -u "$golden/$1" "$tmp/$1" >"$tmp/difference" 2>&1; then
        echo "ok $number - $2"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $number - $2"
    sed 's/^/#   /' "$tmp/difference"
    echo "# Programs that were built before this change rely on the old lines."
    echo "# If the change is meant: make update-interface, and commit"
    echo "# tests/structure/interface/$1 with it."
}

# skip TEXT REASON
skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

# symbols LIBRARY FILE
symbols()
{
    text="$1 exports the names of $2, each of its version"
    if ! [ -e "$top_builddir/.libs/$1.so" ]; then
        skip "$text" "there is no $1.so in this build"
    elif ! nm --version >"$tmp/version" 2>&1; then
        skip "$text" 'there is no nm'
    else
        nm -D --defined-only --with-symbol-versions \
            "$top_builddir/.libs/$1.so" | awk '{ print $2, $3 }' | sort >"$tmp/$2"
        same "$2" "$text"
    fi
}

# declarations HEADER FILE: the compiler's view of this header alone
declarations()
{
    # shellcheck disable=SC2086 # a command with options
    $CC -std=c11 -E -I"$top_builddir/src" -I"$top_srcdir/src" \
        -I"$top_srcdir" "$top_srcdir/$1" | awk -v name="/$(basename "$1")\"" '
        /^# [0-9]+ "/ { own = index($3, name) > 0; next }
        own { printf "%s ", $0 }' |
        sed -e 's/[[:space:]][[:space:]]*/ /g' \
            -e 's/__attribute__((visibility("default"))) //g' -e 's/; */;\n/g' \
            -e 's/{ */{\n/g' >"$tmp/$2"
    same "$2" "the declarations of $1 are those of $2"
}

CC=${CC:-cc}
symbols libaps libaps.symbols
symbols libaps-cuda libaps-cuda.symbols
declarations src/aps.h aps.h.declarations
declarations src/aps_policy.h aps_policy.h.declarations
declarations cuda/aps_cuda.h aps_cuda.h.declarations

text='public structs and constants are those of structs'
# shellcheck disable=SC2086 # a command with options
if ! $CC -DWITH_CUDA -I"$top_builddir/src" -I"$top_srcdir/src" \
    -I"$top_srcdir" -o "$tmp/interface" \
    "$top_srcdir/tests/structure/interface.c" 2>"$tmp/errors"; then
    number=$((number + 1))
    failures=$((failures + 1))
    echo "not ok $number - $text"
    sed 's/^/#   /' "$tmp/errors"
elif [ "$(getconf LONG_BIT)" != 64 ]; then
    skip "$text" 'their offsets are those of 64-bit machines'
else
    "$tmp/interface" >"$tmp/structs"
    same structs "$text"
fi

# ok STATUS TEXT
ok()
{
    number=$((number + 1))
    [ "$1" -eq 0 ] || failures=$((failures + 1))
    [ "$1" -eq 0 ] || printf 'not '
    echo "ok $number - $2"
}

# identity FILE...: the number that identifies these files
identity()
{
    sh "$top_srcdir/config/identity.sh" "$tmp" X "$@" | sed -n 's/^#define //p'
}

if [ -z "$UPDATE_INTERFACE" ]; then
    mkdir -p "$tmp/pmpi/entry" "$tmp/src"
    echo one >"$tmp/src/one.c"
    echo two >"$tmp/src/two.c"
    echo mpich >"$tmp/pmpi/entry/f08.c"
    both=$(identity src/one.c src/two.c)
    [ -n "$both" ] &&
        [ "$both" = "$(identity "$tmp/src/two.c" src/one.c src/two.c)" ]
    ok $? 'the identity of sources does not depend on how they are named'
    [ "$both" = "$(identity src/one.c src/two.c pmpi/entry/f08.c)" ]
    ok $? '... nor on files that differ from MPI to MPI'
    echo Two >"$tmp/src/two.c"
    [ "$both" != "$(identity src/one.c src/two.c)" ]
    ok $? '... but on what is in them'
    echo "1..$number"
fi
[ $failures -eq 0 ]
