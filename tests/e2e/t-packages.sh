#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make deb and make wheel: the packages are installed into an empty root and into a new
# virtual environment, train a model there, and are removed without a trace. With
# APS_TEST_LONG (make check-packages), they are made twice, and a virtual environment
# with MPI and mpi4py of Python packages trains a model by two commands.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# packages WHAT: makes packages, without the options of the make that runs the tests
packages()
{
    limit=300
    timed env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
        ${MAKE:-make} --no-print-directory -C "$top_builddir" -s "$1"
    limit=
    made=$(sed -n "s,^apsmpi.*\.\(deb\|whl\)\$,$top_builddir/&,p" out)
}
policies=share/apsmpi/policies

# trains BIN PREFIX: apsmpi-run in BIN trains the example, both installed
trains()
{
    timed "$1/apsmpi-run" -q -p "$2/$policies/aps-e4m3.yaml" -l train.csv \
        $MPIEXEC -n 2 "$PYTHON3" "$2/share/apsmpi/examples/digits.py" --epochs 2
    check 'apsmpi-run trains the example' trained 2
    check '... and the log has its round-off' has train.csv e4m3
    rm -f train.csv
}
imports='import apsmpi; print("apsmpi", apsmpi.__version__, apsmpi.LIB.loaded._name)'
train=yes
"$PYTHON3" -c 'import numpy, mpi4py' 2>import.err || train=no

# --- Debian -------------------------------------------------------------------

if command -v dpkg-gencontrol >commands && command -v dpkg-deb >commands; then
    packages deb
    check 'make deb' status_is 0
    debs=$made
    root=$tmp/root
    mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
    : >"$root/var/lib/dpkg/status"
    # shellcheck disable=SC2086 # a list of words
    timed dpkg --root="$root" --force-not-root --force-depends \
        --force-script-chrootless -i $debs
    check 'the packages can be installed' status_is 0
    check '... with the dependencies of their programs' grep -q '^Depends: libc6 (>= ' \
        "$root/var/lib/dpkg/status"
    timed "$root/usr/bin/apsmpi" info
    check 'the installed apsmpi finds the installed library' has out \
        "library    $root/usr/lib/apsmpi/$MPI/libapsmpi.so"
    timed env PYTHONPATH="$root/usr/lib/python3/dist-packages" \
        LIBAPS="$root/usr/lib/libaps.so.0" "$PYTHON3" -c "$imports"
    check 'Python finds the module' has out "apsmpi $PACKAGE_VERSION"
    PKG_CONFIG_PATH=$root/usr/lib/pkgconfig timed pkg-config --libs libaps
    check 'apsmpi-dev has libaps.pc' has out -laps
    if [ $train = yes ]; then
        trains "$root/usr/bin" "$root/usr"
    else
        skip 'apsmpi-run trains the example' 'no numpy or mpi4py'
    fi
    timed dpkg --root="$root" --force-not-root --force-script-chrootless \
        -P apsmpi-dev apsmpi
    check 'the packages can be removed' status_is 0
    check '... without a trace' equal \
        "$(find "$root" ! -type d ! -path "$root/var/lib/dpkg/*" \
            ! -path "$root/var/log/*")$(ls "$root")" var
    if [ "${APS_TEST_LONG:-}" ]; then
        mkdir first
        # shellcheck disable=SC2086
        cp $debs first
        packages deb
        for deb in $made; do
            check "a second make deb makes the same ${deb##*/}" cmp "$deb" \
                "first/${deb##*/}"
        done
    fi
else
    skip 'make deb' 'no dpkg-dev'
fi

# --- Python -------------------------------------------------------------------

for recipe in spack/package.py conda/meta.yaml; do
    check "the version of config/$recipe" has "$top_srcdir/config/$recipe" \
        "\"$PACKAGE_VERSION\""
done
packages wheel
check 'make wheel' status_is 0
wheel=$made
if ! "$PYTHON3" -m venv venv >venv.log 2>&1; then
    skip 'the wheel' "no virtual environment: $(tail -n 1 venv.log)"
    finish
fi
find venv ! -type d ! -name '*.pyc' | sort >before
timed venv/bin/python3 -m pip install -q --no-index --no-deps "$wheel"
check 'pip installs the wheel' status_is 0
for name in apsmpi apsmpi-run apsmpi-report apsmpi-suggest apsmpi-layers apsmpi-lab; do
    timed "venv/bin/$name" --version
    check "... with $name" equal "$(cat out)" "$name $PACKAGE_VERSION"
done
timed venv/bin/apsmpi info
check '... and the library' has out \
    "library    $tmp/venv/lib/apsmpi/$MPI/libapsmpi.so"
timed env PYTHONPATH="$(echo venv/lib/python3*/site-packages)" "$PYTHON3" -c "$imports"
check '... and the module with its library' has out \
    "apsmpi $PACKAGE_VERSION $tmp/venv/lib/python3"
if [ $train = yes ]; then
    trains venv/bin venv
else
    skip 'apsmpi-run trains the example' 'no numpy or mpi4py'
fi
timed venv/bin/python3 -m pip uninstall -q -y apsmpi
find venv ! -type d ! -name '*.pyc' | sort >after
check 'pip removes it without a trace' cmp before after
if [ -z "${APS_TEST_LONG:-}" ]; then
    skip 'a second make wheel, and two commands' 'make check-packages tries it'
    finish
fi
cp "$wheel" first.whl
packages wheel
check 'a second make wheel makes the same file' cmp first.whl "$wheel"
limit=600
timed venv/bin/python3 -m pip install -q "$wheel" 'mpich~=5.0.0' mpi4py numpy
limit=
if [ "$status" -ne 0 ]; then
    skip 'two commands' "pip cannot install mpich, mpi4py and numpy: $(tail -n 1 err)"
    finish
fi
timed env PATH="$tmp/venv/bin:$PATH" apsmpi-run -p venv/$policies/aps-e4m3.yaml \
    mpiexec -n 2 python3 venv/share/apsmpi/examples/digits.py --epochs 2
check 'after pip install, the second command trains a model' trained 2
check '... with rewritten calls' has err ' rewritten ('
finish
