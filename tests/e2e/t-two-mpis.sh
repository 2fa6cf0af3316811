#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The libraries for MPICH and for Open MPI, installed in one prefix: each job
# preloads its own. Needs both builds: this one and the one that `make
# build-openmpi` makes in openmpi/ of the build with MPICH.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

other=
for folder in "$top_builddir/openmpi" "$top_builddir/.."; do
    [ ! -e "$folder/.libs/libapsmpi.so" ] || other=$(cd "$folder" && pwd)
done
[ "$other" ] || skip_all 'only one MPI is built (make build-openmpi)'
value() # of a variable of the other build's Makefile
{
    sed -n "s/^$1 = //p" "$other/Makefile"
}
[ "$(value MPI)" != "$MPI" ] || skip_all "both builds are for $MPI"

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

make_in "$other" install
check "make install of the build for $(value MPI)" status_is 0
make_in "$top_builddir" install
check "make install of the build for $MPI" status_is 0
dest=$tmp/dest$(value prefix)
run=$dest/bin/apsmpi-run
for mpi in mpich openmpi; do
    check "the library for $mpi" test -s \
        "$(find "$dest" -path "*/apsmpi/$mpi/libapsmpi.so")"
done
check 'every library is there once for each MPI' equal \
    "$(find "$dest" -name libapsmpi.so | wc -l)" 2

timed "$dest/bin/apsmpi" info
check 'apsmpi info knows both' equal \
    "$(grep -c -E 'version .*, for (MPICH|Open MPI) [0-9]' out)" 2

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
job_of "$MPI" "$top_builddir" "$MPIEXEC"
if [ -x "$other/tests/e2e/probe" ]; then
    job_of "$(value MPI)" "$other" "$(value MPIEXEC)"
else
    skip "a program for $(value MPI)" 'it is not built'
fi

# --- uninstall ----------------------------------------------------------------

make_in "$other" uninstall
check "make uninstall of the build for $(value MPI)" status_is 0
check "... leaves the library for $MPI" test -s \
    "$(find "$dest" -path "*/apsmpi/$MPI/libapsmpi.so")"
make_in "$top_builddir" uninstall
check "make uninstall of the build for $MPI" status_is 0
check '... leaves nothing' equal "$(find "$dest" ! -type d)" ''
check '... and no directory of its own' equal \
    "$(find "$dest" -mindepth 1 -name '*apsmpi*')" ''

finish
