#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of another MPI than the library was built for: one line names it. A
# library whose handles are pointers passes every call through; one whose handles
# are ints ends the program before MPI_Init.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ -z "$sanitizer" ] || skip_all 'the sanitizers find what another MPI leaks'
case $MPI in
mpich) other=openmpi theirs='Open MPI' ours=MPICH ;;
openmpi) other=mpich theirs=MPICH ours='Open MPI' ;;
abi) other=mpich theirs=MPICH ours="the MPI standard's ABI" ;;
esac
policy aps.yaml 'format: e4m3'

# told MPI: one line of the library names that MPI
told()
{
    [ "$(grep -c 'apsmpi: ' err)" = 1 ] &&
        has err "built for $ours, but the program runs with '$1"
}

# is_refused MPI: the result of a job that runs with that MPI
is_refused()
{
    check '... is reported once' told "$1"
    check '... and what to do' has err 'start the program with apsmpi-run'
    check '... without a signal' not has err 'signal'
    if [ "$ours" = MPICH ]; then
        check '... and ends' status_is 125
        check '... before MPI_Init' empty out
    else
        check '... and ends well' status_is 0
    fi
}

# A draft of the standard's ABI, in a library that calls itself MPICH.
cat >standard.c <<'END'
int PMPI_Init(int *argc, char ***argv)
{
    return !argc || !argv;
}
int PMPI_Get_library_version(char *version, int *length)
{
    static const char text[] = "MPICH Version: 9.9, of a draft";
    for (*length = 0; text[*length]; ++*length)
        version[*length] = text[*length];
    version[*length] = '\0';
    return 0;
}
int MPI_Init(int *argc, char ***argv) __attribute__((weak, alias("PMPI_Init")));
END
cat >main.c <<'END'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv);
int main(int argc, char **argv)
{
    return MPI_Init(&argc, &argv) || puts("ready") < 0;
}
END
name=libmpi_abi.so.0
# shellcheck disable=SC2086 # ccache gcc
$CC -shared -fPIC -Wl,-soname,$name -o $name standard.c &&
    $CC -o standard main.c ./$name || exit 1
timed env LD_PRELOAD="$library" LD_LIBRARY_PATH=. APSMPI_POLICY=aps.yaml \
    ./standard
check "a program of a draft of the standard's ABI" has err ' and an unknown ABI: '
is_refused 'MPICH Version: 9.9'

# Each library with a program of each ABI, in the builds that there are: this one, and
# those that `make build-openmpi build-abi` makes in a build with MPICH.
#
# value FOLDER NAME: prints a variable of that build's Makefile
value()
{
    sed -n "s|^$2 = ||p" "$1/Makefile"
}
builds=
for folder in "$top_builddir" "$top_builddir/openmpi" "$top_builddir/abi" \
    "$top_builddir/.." "$top_builddir/../openmpi" "$top_builddir/../abi"; do
    [ -x "$folder/tests/e2e/probe" ] && [ -e "$folder/.libs/libapsmpi.so" ] ||
        continue
    folder=$(cd "$folder" && pwd)
    case " $builds " in
    *" $folder "*) ;;
    *) builds="$builds $folder" ;;
    esac
done
for built in $builds; do
    for program in $builds; do
        name="$(value "$built" MPI)'s library, $(value "$program" MPI)'s program"
        set -- MPI="$(value "$program" MPI)" MPIEXEC="$(value "$program" MPIEXEC)" \
            $launch -n 2 env LD_PRELOAD="$built/.libs/libapsmpi.so" \
            APSMPI_POLICY=aps.yaml "$program/tests/e2e/probe" sums 2
        timed env "$@"
        if [ "$built" = "$program" ]; then
            check "$name: rewritten" rewritten 2
            continue
        fi
        check "$name: a line" lines 1 err 'built for '
        check '... without a signal' not has err 'signal'
        if [ "$(value "$built" MPI)" = mpich ]; then
            check '... and the job ends before MPI_Init' status_is 125
        else
            check '... and the job is right' lines 1 out '2 sums right'
        fi
    done
done

none=
for command in mpicc.$other mpiexec.$other; do
    command -v $command >/dev/null || none="there is no $command"
done
[ "$none" ] ||
    { mpicc.$other -o probe "$top_srcdir/tests/e2e/probe.c" >reason 2>&1 &&
        mpicc.$other -O2 -o digits "$top_srcdir"/tests/apps/digits*.c -lm \
            >reason 2>&1; } ||
    none="mpicc.$other does not compile: $(tail -n 1 reason)"
if [ "$none" ]; then
    skip 'a program of a second MPI' "$none"
    finish
fi

mpi_of_library=$MPI
mpiexec_of_library=$MPIEXEC
MPI=$other
MPIEXEC=mpiexec.$other
data=$top_srcdir/tests/apps/digits.csv

job 2 APSMPI_POLICY=aps.yaml ./probe sums 3
check "a program of $theirs" has err "$theirs"
is_refused "$theirs"
job 2 APSMPI_POLICY=aps.yaml sh -c 'echo shell'
check 'a shell' lines 2 out shell
check '... has no message' empty err
if [ "$ours" = 'Open MPI' ]; then
    job 2 APSMPI_POLICY=missing.yaml ./probe sums 3
    check 'a bad policy is not looked at' lines 1 out '3 sums right'
    job 2 APSMPI_POLICY=aps.yaml ./probe threads 50
    check 'three threads at a time' lines 3 out '50 sums right'

    native 2 ./digits --data "$data" --epochs 1
    cp out native
    job 2 APSMPI_POLICY=aps.yaml ./digits --data "$data" --epochs 1
    check 'a training program' trained
    check '... is untouched' cmp native out
fi

# Calls by Fortran's names pass through. The program must need MPI's own library itself:
# one that only its Fortran bindings need comes after the one that the library needs.
libraries=$(mpicc.$other -show | tr ' ' '\n' | grep '^-L')
libraries="-Wl,--no-as-needed $libraries"
# shellcheck disable=SC2086 # options
if mpif90.$other -o sums "$top_srcdir/tests/e2e/sums.f90" $libraries \
    >reason 2>&1; then
    job 2 APSMPI_POLICY=aps.yaml ./sums
    check 'a Fortran program' has out 'right T'
    if [ "$ours" = MPICH ]; then
        check '... whose calls do not reach the library: a line at the end' \
            lines 1 err 'or calls another MPI'
    else
        check '... is reported, too' lines 1 err "runs with '$theirs"
    fi
else
    skip 'a Fortran program' "does not compile: $(tail -n 1 reason)"
fi

# A module that a program without MPI loads, as Python loads mpi4py's.
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
# shellcheck disable=SC2086
$CC -o host host.c -ldl || exit 1
"mpicc.$other" -shared -fPIC -o module.so module.c || exit 1
native 2 ./host
check 'a module that is loaded works without the library' status_is 0
job 2 APSMPI_POLICY=aps.yaml ./host
check '... and with it: a line names its MPI' has err "$theirs"
is_refused "$theirs"
MPI=$mpi_of_library
MPIEXEC=$mpiexec_of_library
"$MPICC" -shared -fPIC -o module.so module.c || exit 1
job 2 APSMPI_POLICY=aps.yaml ./host
check '... a module of the right MPI gets none' not has err 'built for'
check '... and works' status_is 0

finish
