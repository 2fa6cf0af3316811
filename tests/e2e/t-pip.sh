#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pip builds a wheel from the files of the tree, without MPI and autotools, and the
# package of the wheel passes its tests. It is compiled at -O1: -O3 takes minutes.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

for module in numpy pip setuptools; do
    "$PYTHON3" -c "import $module" 2>/dev/null ||
        skip_all "$PYTHON3 has no module $module"
done
"$PYTHON3" -c 'from setuptools.command import bdist_wheel' 2>/dev/null ||
    "$PYTHON3" -c 'import wheel' 2>/dev/null ||
    skip_all "$PYTHON3 has setuptools before 70.1, and no module wheel"
[ -z "$sanitizer" ] || skip_all 'a build with sanitizers'
[ -r /usr/include/yaml.h ] || skip_all 'there is no yaml.h'

mkdir tree
for name in configure.ac src pmpi scripts; do
    cp -R "$top_srcdir/$name" tree/
done
find tree -name built.py -exec rm {} +
pip="$PYTHON3 -m pip --disable-pip-version-check"
# shellcheck disable=SC2086 # a command with options
limit=900 timed env CFLAGS=-O1 $pip wheel -q --no-build-isolation --no-deps \
    -w wheels ./tree/scripts
check 'pip builds a wheel' status_is 0
[ "$status" -eq 0 ] || { tail -n 20 err | sed 's/^/# /'; finish; }
# shellcheck disable=SC2086
timed $pip install -q --no-index --no-deps --target site wheels/*.whl
check '... and installs it' status_is 0
timed env PYTHONPATH="$PWD/site" OPENBLAS_NUM_THREADS=1 "$PYTHON3" \
    "$top_srcdir/tests/e2e/python_package.py" "$top_srcdir/tests/e2e/data" \
    "$top_srcdir/scripts/apsmpi-python.7"
grep -v '^ok' out | sed 's/^/# /'
check '... which passes the tests of the package' status_is 0
timed env PYTHONPATH="$PWD/site" "$PYTHON3" -c \
    'import apsmpi; print(apsmpi.__version__, apsmpi.LIB.loaded._name)'
check '... by the library inside it' has out "$PACKAGE_VERSION $PWD/site/apsmpi/_libaps"
finish
