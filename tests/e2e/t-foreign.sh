#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of another MPI than the library was built for: one line says so, and
# every call passes through, where the library can do that.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

case $MPI in
mpich) other=openmpi theirs='Open MPI' ours=MPICH ;;
*) other=mpich theirs=MPICH ours='Open MPI' ;;
esac
for command in mpicc.$other mpiexec.$other; do
    command -v $command >/dev/null ||
        skip_all "there is no second MPI: no $command"
done
mpicc.$other -o probe "$top_srcdir/tests/e2e/probe.c" >reason 2>&1 &&
    mpicc.$other -O2 -o digits "$top_srcdir"/tests/apps/digits*.c -lm \
        >reason 2>&1 ||
    skip_all "mpicc.$other does not compile: $(tail -n 1 reason)"
[ -z "$sanitizer" ] || skip_all 'the sanitizers find what another MPI leaks'

mpi_of_library=$MPI
mpiexec_of_library=$MPIEXEC
MPI=$other
MPIEXEC=mpiexec.$other
policy aps.yaml 'format: e4m3'
data=$top_srcdir/tests/apps/digits.csv

job 2 APSMPI_POLICY=aps.yaml ./probe sums 3
check "a program of $theirs" lines 1 out '3 sums right'
check '... ends well' status_is 0
check '... is told once' lines 1 err \
    "built for $ours, but the program runs with '$theirs"
check '... and nothing else' equal "$(wc -l <err)" 1
job 2 APSMPI_POLICY=missing.yaml ./probe sums 3
check 'a bad policy is not looked at' lines 1 out '3 sums right'
job 2 APSMPI_POLICY=aps.yaml ./probe threads 50
check 'three threads at a time' lines 3 out '50 sums right'

native 2 ./digits --data "$data" --epochs 1
cp out native
job 2 APSMPI_POLICY=aps.yaml ./digits --data "$data" --epochs 1
check 'a training program' trained
check '... is untouched' cmp native out

# Fortran's names, too, go on. The program must need MPI's own library itself: one
# that only its Fortran bindings need comes behind the one that we need.
libraries=$(mpicc.$other -show | tr ' ' '\n' | grep '^-L')
libraries="-Wl,--no-as-needed $libraries"
# shellcheck disable=SC2086 # options
if mpif90.$other -o sums "$top_srcdir/tests/e2e/sums.f90" $libraries \
    >reason 2>&1; then
    job 2 APSMPI_POLICY=aps.yaml ./sums
    check 'a Fortran program' has out 'right T'
    if [ "$ours" = MPICH ]; then
        check '... and nothing is said: its calls pass us by' empty err
    else
        check '... is told, too' lines 1 err "runs with '$theirs"
    fi
else
    skip 'a Fortran program' "does not compile: $(tail -n 1 reason)"
fi

# A module that a program of no MPI loads, as Python loads mpi4py's: its calls go
# to the MPI that the library needs, for which nothing can be done.
cat >module.c <<'END'
#include <mpi.h>
#include <stddef.h>
int run(void)
{
    return MPI_Init(NULL, NULL) || MPI_Finalize();
}
END
cat >host.c <<'END'
#include <dlfcn.h>
int main(void)
{
    void *module = dlopen("./module.so", RTLD_NOW);
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : 0;
    return run ? run() : 9;
}
END
"${CC:-cc}" -o host host.c -ldl || exit 1
"mpicc.$other" -shared -fPIC -o module.so module.c || exit 1
native 2 ./host
check 'a module that is loaded works without us' status_is 0
MPI=$mpi_of_library
MPIEXEC=$mpiexec_of_library
job 2 APSMPI_POLICY=aps.yaml ./host
check '... and with us: a line names it and both MPIs' lines 1 err \
    "module.so was built for '$theirs"
check '... and what to do' has err "take one that was built for $ours"
"$MPICC" -shared -fPIC -o module.so module.c || exit 1
job 2 APSMPI_POLICY=aps.yaml ./host
check '... a module of our MPI gets none' not has err 'wrong MPI'
check '... and works' status_is 0

finish
