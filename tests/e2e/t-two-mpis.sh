#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Libraries for several MPIs, installed in one prefix: each job preloads its own. Needs
# other builds besides this one: those that `make build-openmpi build-abi` makes in
# openmpi/ and abi/ of the build with MPICH.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

value() # BUILD NAME: prints a variable of that build's Makefile
{
    sed -n "s/^$2 = //p" "$1/Makefile"
}
builds=$top_builddir
for folder in "$top_builddir/openmpi" "$top_builddir/abi" "$top_builddir/.."; do
    [ ! -e "$folder/.libs/libapsmpi.so" ] ||
        [ "$(value "$folder" MPI)" = "$MPI" ] ||
        builds="$(cd "$folder" && pwd) $builds"
done
[ "$builds" != "$top_builddir" ] ||
    skip_all 'only one MPI is built (make build-openmpi build-abi)'

# make_in BUILD TARGET: the make that runs the tests hands down its own options.
# A plugin that was not built yet would take minutes.
make_in()
{
    set -- "$1" "$2" DESTDIR="$tmp/dest"
    [ -e "$1/cuda/kernels.o" ] || ! grep -q '^HAVE_CUDA_TRUE = $' "$1/Makefile" ||
        set -- "$@" mpilib_LTLIBRARIES=libapsmpi.la lib_LTLIBRARIES=libaps.la
    limit=400
    timed env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
        ${MAKE:-make} -C "$@"
    limit=
}

for build in $builds; do
    make_in "$build" install
    check "make install of the build for $(value "$build" MPI)" status_is 0
done
dest=$tmp/dest$(value "$top_builddir" prefix)
run=$dest/bin/apsmpi-run
for build in $builds; do
    mpi=$(value "$build" MPI)
    check "the library for $mpi" test -s \
        "$(find "$dest" -path "*/apsmpi/$mpi/libapsmpi.so")"
done
# shellcheck disable=SC2086 # a list of words
number_of_builds=$(set -- $builds; echo $#)
check 'every library is there once for each MPI' equal \
    "$(find "$dest" -name libapsmpi.so | wc -l)" "$number_of_builds"

timed "$dest/bin/apsmpi" info
check 'apsmpi info lists them' equal \
    "$(grep -c -E 'version .*, for (MPICH|Open MPI|MPI ABI) [0-9]' out)" \
    "$number_of_builds"

# job_of NAME BUILD LAUNCHER: runs a job by apsmpi-run
job_of()
{
    policy good.yaml 'format: e4m3'
    timed "$run" -p good.yaml "$3" -n 2 "$2/tests/e2e/probe" sums 2
    check "$1: a job of its own program" status_is 0
    check '... is rewritten' rewritten 2
    check '... by its own library, which the job prints' lines 1 err \
        ": the ranks preload $(find "$dest" -path "*/apsmpi/$1/libapsmpi.so")"
    check '... in a line of its own' lines 1 err 'apsmpi-run: '
    timed "$run" -q -p good.yaml "$3" -n 2 "$2/tests/e2e/probe" sums 2
    check '... or with --quiet nothing' empty err
}
for build in $builds; do
    mpi=$(value "$build" MPI)
    if [ -x "$build/tests/e2e/probe" ]; then
        job_of "$mpi" "$build" "$(value "$build" MPIEXEC)"
    else
        skip "a program for $mpi" 'it is not built'
    fi
done

# --- uninstall ----------------------------------------------------------------

for build in $builds; do
    check 'the library of this build is installed' test -s \
        "$(find "$dest" -path "*/apsmpi/$MPI/libapsmpi.so")"
    make_in "$build" uninstall
    check "make uninstall of the build for $(value "$build" MPI)" status_is 0
done
check '... leaves nothing' equal "$(find "$dest" ! -type d)" ''
check '... and no directory of its own' equal \
    "$(find "$dest" -mindepth 1 -name '*apsmpi*')" ''

finish
