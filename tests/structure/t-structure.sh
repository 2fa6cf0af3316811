#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rules of the house (DESIGN.md, section 2) that a machine can check.

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
PYTHON3=${PYTHON3:-python3}
count=0
failures=0

# ok STATUS TEXT: one test, passed when STATUS is 0.
ok()
{
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        failures=$((failures + 1))
    fi
}

# skip TEXT REASON
skip()
{
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# rule RULE TEXT: structure.py finds no place that breaks the rule.
rule()
{
    broken=$("$PYTHON3" "$top_srcdir/tests/structure/structure.py" \
        "$top_srcdir" "$1") && [ -z "$broken" ]
    ok $? "$2"
    [ -z "$broken" ] || printf '%s\n' "$broken" | sed 's/^/#   /' >&2
}

# clang-format 14 changes no C file; another version breaks lines in other places.
formatted()
{
    text='clang-format changes nothing'
    formatter=
    for name in clang-format-14 clang-format; do
        if "$name" --version 2>/dev/null | grep -q ' version 14\.'; then
            formatter=$name
            break
        fi
    done
    if [ -z "$formatter" ]; then
        skip "$text" 'clang-format 14 is not installed'
        return
    fi
    changed=$(cd "$top_srcdir" &&
        find cuda pmpi scripts src tests -name '*.[ch]' -o -name '*.cu' |
        sort | xargs "$formatter" --dry-run -Werror 2>&1)
    ok $? "$text"
    [ -z "$changed" ] ||
        printf '%s\n' "$changed" | grep error: | head -n 20 | sed 's/^/#   /' >&2
}

if ! "$PYTHON3" -c '' 2>/dev/null; then
    echo '1..0 # SKIP there is no Python'
    exit 0
fi
# finds RULE LINE: structure.py prints LINE for the small tree.
finds()
{
    "$PYTHON3" "$top_srcdir/tests/structure/structure.py" "$tree" "$1" |
        grep -q -x -F -e "$2"
    ok $? "a tree with mistakes: $2"
}

# A small tree that breaks the rules.
tree=$(mktemp -d "${TMPDIR:-/tmp}/apsmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/pmpi/call" "$tree/pmpi/native" "$tree/pmpi/wrong" "$tree/src/base" \
    "$tree/cuda"
touch "$tree/pmpi/call/call.h" "$tree/cuda/plugin.h" "$tree/cuda/verbs.h"
echo '#include "call/call.h"' >"$tree/pmpi/native/up.c"
echo '#include "cuda/verbs.h"' >"$tree/pmpi/call/call.c"
echo '#include <mpi.h>' >"$tree/src/base/one.h"
echo '#include "base/one.h"' >"$tree/src/base/two.h"
echo '#include "base/two.h"' >"$tree/src/base/one.c"
echo 'int aps_one(void);' >"$tree/src/base/three.h"
echo 'static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;' >"$tree/cuda/a.c"
echo 'int f(void) { return snprintf(t, s, "%s: %.2f", "%d", x); }' \
    >"$tree/src/base/four.c"
echo '| 4 | `one`, cuda/b.c | nothing |' >"$tree/pmpi/LOCKS.md"
finds arrows 'pmpi/native/up.c:1: includes call/call.h: native lies below call'
finds arrows \
    'pmpi/call/call.c:1: includes cuda/verbs.h: of cuda/, pmpi/ includes plugin.h alone'
finds arrows 'src/base/one.h:1: includes mpi.h: src/ knows no MPI'
finds circles 'src/base/one -> src/base/two -> src/base/one'
finds rooms 'pmpi/wrong: not a room of pmpi/'
finds readmes 'pmpi/call/README.md: missing'
finds readmes 'src/README.md: no row for base'
finds twins 'src/base/three.h: aps_one is not defined in src/base/three.c'
finds numbers 'src/base/four.c:1: a number is printed by snprintf'
finds locks 'cuda/a.c:1: `one` is not in pmpi/LOCKS.md'

rule arrows 'no include runs up'
rule circles 'no files include each other in a circle'
rule lengths 'no .c of pmpi/, src/ or cuda/ is over 500 lines'
rule tests 'no .c of tests/ or scripts/ is over 500 lines'
rule columns 'no line is over 88 columns'
rule rooms 'every directory is a room of at most 45 files'
rule readmes 'every room says what may live there'
rule twins 'what X.h declares X.c defines'
rule numbers 'every number is printed by base/print.h'
rule locks 'every mutex has its row in pmpi/LOCKS.md'
formatted
echo "1..$count"
[ "$failures" -eq 0 ]
