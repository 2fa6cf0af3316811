#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make dist: it holds every file of the repository. With APS_TEST_LONG (make
# check-long), its content is configured, built, tested and installed.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# make_in BUILD ARGUMENT...: without the options of the make that runs the tests
make_in()
{
    limit=${patience:-120}
    timed env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
        ${MAKE:-make} -C "$@"
    limit=
}

dist=$tmp/dist
make_in "$top_builddir" distdir distdir="$dist" top_distdir="$dist"
check 'make distdir' status_is 0
[ "$status" -eq 0 ] || finish
(cd "$dist" && find . ! -type d | sed 's|^\./||' | sort) >held

if [ "$(git -C "$top_srcdir" rev-parse --show-toplevel 2>/dev/null)" = \
    "$top_srcdir" ]; then
    # Files for the repository only are not in the archive.
    git -C "$top_srcdir" ls-files | grep -v -x -e '\.gitignore' -e '\.ci/.*' |
        sort >tracked
    check 'the repository has files' test -s tracked
    check 'no file is left out' equal "$(comm -13 held tracked)" ''
    # Files that autoreconf makes.
    git -C "$top_srcdir" ls-files --cached --others --exclude-standard |
        sort >all
    check 'no other file is in it' equal "$(comm -23 held all |
        grep -v -x -e Makefile.in -e aclocal.m4 -e config.h.in -e configure \
            -e 'config/aux/.*' -e 'config/m4/l.*\.m4')" ''
else
    skip 'no file is left out' 'the sources are not a git repository'
fi
check 'the manual is in it' test -s "$dist/pmpi/apsmpi.7"
check 'configure can be executed' test -x "$dist/configure"

archive=$top_builddir/apsmpi-$PACKAGE_VERSION.tar.xz
for mask in 022 077; do
    umask $mask
    XZ_OPT=-0 make_in "$top_builddir" dist
    check "make dist, umask $mask" status_is 0
    sha256sum <"$archive" >sum.$mask
    rm -f "$archive"
done
umask 022
check '... makes the same archive, bit for bit' cmp sum.022 sum.077

if [ -z "${APS_TEST_LONG:-}" ]; then
    skip 'what it holds builds' 'make check-long tries it, for minutes'
    finish
fi

# The sources are read-only: a build must write only to its own directory.
chmod -R a-w "$dist"
mkdir build
cd build || exit 1
# shellcheck disable=SC2046 # the words are quoted for eval
eval "set -- $("$top_builddir/config.status" --config)"
limit=300
timed "$dist/configure" -q "$@" --prefix="$tmp/prefix" --without-cuda
limit=
check 'it can be configured' status_is 0
patience=900
make_in . -j2
check '... and built' status_is 0
make_in . check TESTS='tests/unit/number/format tests/unit/policy/policy
    tests/unit/codec/array
    tests/mpi/t-exact.sh tests/e2e/t-command.sh tests/e2e/t-json.sh
    tests/e2e/t-run.sh tests/e2e/t-manual.sh'
check '... its tests pass' status_is 0
find . -name '*.log' -path './tests/*' -exec grep -h '^not ok' {} +
make_in . install
check '... it can be installed' status_is 0
check '... where it says' test -x "$tmp/prefix/bin/apsmpi"
make_in . uninstall
check '... and uninstalled' status_is 0
check '... without a rest' equal "$(find "$tmp/prefix" ! -type d)" ''
make_in . distclean
check '... and cleaned' status_is 0
check '... to the last file' equal "$(find . ! -type d ! -name out ! -name err \
    ! -name said)" ''

finish
