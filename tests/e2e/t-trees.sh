#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The place of the tree makes no difference: scripts/tree.sh finds a directory
# to build in. With APS_TEST_LONG (make check-long), scripts/check and
# scripts/demo have the same results in each of these trees.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

TMPDIR=$tmp/copies
export TMPDIR
mkdir copies trees

# A tree of a few files, whose scripts/check prints its directory.
mkdir -p few/scripts
cp "$top_srcdir/scripts/tree.sh" few/scripts
cat >few/scripts/check <<'END'
#!/bin/sh
set -eu
. "$(dirname "$0")/tree.sh"
echo "top $top"
printf 'argument %s\n' "$@"
cat "$top/few" "$top/build/made" 2>/dev/null || mkdir -p "$top/build"
echo few >"$top/build/made"
END
chmod +x few/scripts/check
echo few >few/few

# checked TREE [COMMAND...]: its scripts/check succeeds, started by the command
checked()
{
    where=$1
    shift
    timed "$@" "$where/scripts/check" one 'two  words'
    check "$where: it builds" status_is 0
    found=$(sed -n 's/^top //p' out)
    check '... with all arguments' equal "$(grep -c \
        -e '^argument one$' -e '^argument two  words$' out)" 2
}

for tree in apsmpi "caf$(printf '\303\251')"; do
    cp -R few "trees/$tree"
    checked "trees/$tree"
    check '... in the tree itself' equal "$found" "$(pwd -P)/trees/$tree"
done
ln -s apsmpi trees/link
checked trees/link
check '... in the tree to which the link leads' equal "$found" \
    "$(pwd -P)/trees/apsmpi"

for tree in 'a blank' 'a$HOME' "it's" 'a;b' 'a,b'; do
    cp -R few "trees/$tree"
    checked "trees/$tree"
    check '... in a copy' has out "building in a copy, $found"
    case $found in
    "$TMPDIR"/*) check '... which lies with temporary files' true ;;
    *) check "... which lies with temporary files, not in $found" false ;;
    esac
    check '... and nothing is made in the tree' test ! -e "trees/$tree/build"
done
rm 'trees/a blank/few'
checked 'trees/a blank'
check '... what was built is there the next time' has out few
check '... what the tree has no longer is gone' equal "$(grep -c '^few$' out)" 1

# Runs with a tree that cannot be written to, not even by root: ./ro TREE COMMAND...
cat >ro <<'END'
#!/bin/sh
exec unshare -r -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
    shift && exec "$@"' ro "$@"
END
chmod +x ro
if ./ro few true 2>said; then
    checked few ./ro few
    check '... in a copy' has out "building in a copy, $found"
else
    skip 'a tree that is read-only' "$(tail -n 1 said)"
fi

if [ -x "$top_srcdir/configure" ]; then
    mkdir 'a blank'
    cd 'a blank' || exit 1
    timed "$top_srcdir/configure" -q
    cp out err ..
    cd ..
    check 'configure refuses a path with a blank' status_is 1
    check '... and says which script does not' has err 'scripts/check makes a copy'
fi

if [ -z "${APS_TEST_LONG:-}" ]; then
    skip 'the sources in each of these trees' 'make check-long tries it, for minutes'
    finish
fi

# --- the sources --------------------------------------------------------------

# Without the options of the make that runs the tests.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
limit=1200
timed "${MAKE:-make}" -C "$top_builddir" distdir distdir="$tmp/dist" \
    top_distdir="$tmp/dist"
check 'make distdir' status_is 0
# Few programs, no CUDA, and no modules for Python.
tests='tests/unit/number/format tests/mpi/t-exact.sh tests/e2e/t-run.sh
    tests/e2e/t-command.sh tests/structure/t-structure.sh'
MAKEFLAGS=' -- check_PROGRAMS=tests/unit/number/format\ tests/mpi/exact\'
MAKEFLAGS="$MAKEFLAGS tests/e2e/probe\\ tests/apps/digits"
printf 'with_cuda=no\ncache_file=%s\n' "$tmp/config.cache" >site
CONFIG_SITE=$tmp/site PIP_NO_INDEX=1 CI=1 CCACHE_NOHASHDIR=1
! command -v ccache >/dev/null || CC="ccache ${CC#ccache }"
export MAKEFLAGS CONFIG_SITE PIP_NO_INDEX CI CCACHE_NOHASHDIR CC

# works TREE [COMMAND...]: scripts/check and scripts/demo succeed; COMMAND starts them
works()
{
    where=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    timed "$@" "$where/scripts/check" $tests
    check "$where: scripts/check" status_is 0
    check '... all tests pass' grep -x '[1-9][0-9]* passed, 0 failed, .*' out
    timed "$@" "$where/scripts/demo" --ranks 2 --epochs 1
    check '... scripts/demo' status_is 0
    check '... has a table' has out 'e4m3, APS '
}

mkdir sources
for tree in apsmpi "caf$(printf '\303\251')" 'a $b' read-only; do
    cp -Rp dist "sources/$tree"
done
ln -s apsmpi sources/link
works sources/apsmpi
works sources/link
works "sources/caf$(printf '\303\251')"
works 'sources/a $b'
if ./ro few true 2>said; then
    works sources/read-only ./ro sources/read-only
fi

finish
