#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-run --audit: programs that take MPI's functions from the handle of the library,
# or call them in a module that they open with RTLD_DEEPBIND.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ -z "$sanitizer" ] || skip_all 'the sanitizers come before every audited object'
policy good.yaml 'format: e4m3'
mpi_library=$(library_of_mpi)

cat >handle.c <<'END'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
static float in[4096], out[4096];
int main(int argc, char **argv)
{
    void *mpi = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*begin)(int *, char ***), (*end)(void);
    int (*sum)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

    *(void **)&begin = dlsym(mpi, "MPI_Init");
    *(void **)&end = dlsym(mpi, "MPI_Finalize");
    *(void **)&sum = dlsym(mpi, "MPI_Allreduce");
    in[0] = 1;
    if (begin(NULL, NULL) ||
        sum(in, out, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) || end())
        return 1;
    return printf("sum %g\n", out[0]) < 0;
}
END
cat >module.c <<'END'
#include <mpi.h>
#include <stdio.h>
static float in[4096], out[4096];
int run(void)
{
    in[0] = 1;
    return MPI_Init(NULL, NULL) ||
           MPI_Allreduce(in, out, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) ||
           MPI_Finalize() || printf("sum %g\n", out[0]) < 0;
}
END
cat >deep.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
int main(void)
{
    void *module = dlopen("./module.so", RTLD_NOW | RTLD_DEEPBIND);
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : 0;
    return run ? run() : 9;
}
END
cat >handle.py <<'END'
import ctypes
import os
import sys
mpi = ctypes.CDLL(sys.argv[1])
numbers = [int(word, 0) for word in sys.argv[2:]]
values = (ctypes.c_float * 4096)(1)
sums = (ctypes.c_float * 4096)()
mpi.MPI_Init(None, None)
mpi.MPI_Allreduce(values, sums, 4096, *map(ctypes.c_void_p, numbers))
mpi.MPI_Finalize()
os.write(1, b"sum %g\n" % sums[0])
END
cat >handles.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    return printf("%#lx %#lx %#lx\n", (long)MPI_FLOAT, (long)MPI_SUM,
                  (long)MPI_COMM_WORLD) < 0;
}
END
includes=$("$MPICC" -show | tr ' ' '\n' | grep -e '^-[ID]')
# shellcheck disable=SC2086 # ccache gcc, options
$CC $includes -o handle handle.c -ldl && $CC -o deep deep.c -ldl &&
    "$MPICC" -shared -fPIC -o module.so module.c || exit 1

# audited NAME PROGRAM...: runs a job without and with --audit
audited()
{
    what=$1
    shift
    job 2 APSMPI_POLICY=good.yaml "$@"
    check "$what, preloaded: the job is right" lines 2 out 'sum 2'
    check '... a line names the cure' has err 'apsmpi-run --audit'
    # shellcheck disable=SC2086 # a launcher
    timed "$top_builddir/scripts/apsmpi-run" --library "$library" --audit -q \
        -p good.yaml $MPIEXEC -n 2 "$@"
    check "$what, audited: the job is right" lines 2 out 'sum 2'
    # shellcheck disable=SC2086
    timed "$top_builddir/scripts/apsmpi-run" --library "$library" --audit \
        -p good.yaml $MPIEXEC -n 2 "$@"
    check '... and is rewritten' lines 1 err ' 1 rewritten ('
}
audited 'dlsym of a handle' ./handle "$mpi_library"
audited 'a module with RTLD_DEEPBIND' ./deep
case $MPI in
openmpi) skip 'ctypes of Python' "Open MPI's handles are addresses" ;;
*)
    # shellcheck disable=SC2086
    $CC $includes -o handles handles.c && ./handles >numbers || exit 1
    # shellcheck disable=SC2046 # three numbers
    audited 'ctypes of Python' "$PYTHON3" handle.py "$mpi_library" $(cat numbers)
    ;;
esac
# shellcheck disable=SC2086
timed "$top_builddir/scripts/apsmpi-run" --library "$library" --audit -q \
    -p good.yaml $MPIEXEC -n 2 "$probe" sums 3
check 'a program that is linked with MPI, audited' lines 1 out '3 sums right'

# A tool after the library that looks for the next definition, as profilers do.
cat >tool.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
int MPI_Barrier(long comm)
{
    return ((int (*)(long))dlsym(RTLD_NEXT, "MPI_Barrier"))(comm);
}
int MPI_Allreduce(const void *send, void *receive, int count, long type, long op,
                  long comm)
{
    int (*next)(const void *, void *, int, long, long, long) =
        (int (*)(const void *, void *, int, long, long, long))dlsym(
            RTLD_NEXT, "MPI_Allreduce");

    return next(send, receive, count, type, op, comm);
}
END
$CC -shared -fPIC -o tool.so tool.c -ldl || exit 1
# shellcheck disable=SC2086
timed env LD_PRELOAD="$PWD/tool.so" "$top_builddir/scripts/apsmpi-run" \
    --library "$library" --audit -q -p good.yaml $MPIEXEC -n 2 "$probe" sums 3
check 'a tool after the library, audited' lines 1 out '3 sums right'
finish
