#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program whose calls of MPI do not reach the library: with a policy one line reports
# it at the end of the process, and nothing else changes.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

mpi_library=$(library_of_mpi)
cat >caller.c <<'END'
#include <mpi.h>
int run(void);
int run(void)
{
    float x[4096] = {1};
    int rank;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -shared -fPIC -o caller.so caller.c || exit 1
cat >program.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int (*init)(int *, char ***), (*finalize)(void), (*run)(void);
    void *handle;

    if (strcmp(how, "nothing") == 0)
        return 0;
    if (strcmp(how, "deep") == 0)
        handle = dlopen("./caller.so", RTLD_NOW | RTLD_DEEPBIND);
    else if (strcmp(how, "namespace") == 0)
        handle = dlmopen(LM_ID_NEWLM, "./caller.so", RTLD_NOW);
    else if (strcmp(how, "open") == 0)
        handle = dlopen("./caller.so", RTLD_NOW);
    else
        handle = dlopen(argv[2], RTLD_NOW);
    if (!handle) {
        puts(dlerror());
        return 3;
    }
    if (strcmp(how, "symbol") != 0) {
        *(void **)&run = dlsym(handle, "run");
        return run();
    }
    *(void **)&init = dlsym(handle, "MPI_Init");
    *(void **)&finalize = dlsym(handle, "MPI_Finalize");
    init(NULL, NULL);
    if (fork() == 0) /* a child is not a rank */
        return 0;
    wait(NULL);
    finalize();
    return 0;
}
END
$CC -w -o program program.c -ldl || exit 1
# A program with an MPI of its own in its file, as after static linking.
cat >own.c <<'END'
static int MPI_Init_thread(void)
{
    return 0;
}
int main(int argc, char **argv)
{
    return (argc > 1 ? MPI_Init_thread : 0) != 0;
}
END
$CC -w -O0 -o own own.c || exit 1
policy good.yaml 'format: e4m3'

# unseen HOW REASON [VARIABLE=VALUE]...
unseen()
{
    how=$1 reason=$2
    shift 2
    job 2 APSMPI_POLICY=good.yaml "$@" ./program "$how" "$mpi_library"
    check "$how: the job ends well" status_is 0
    check '... one line says that the policy had no effect' lines 1 err \
        'apsmpi: good.yaml had no effect: the program used MPI, but no call'
    check '... why' lines 1 err "$reason"
}
unseen symbol 'by dlsym, loaded its caller with RTLD_DEEPBIND'
unseen deep 'by dlsym, loaded its caller with RTLD_DEEPBIND'
if [ "$MPI" = mpich ]; then
    unseen namespace 'another copy of MPI, by dlmopen or dlopen'
    if [ -z "$sanitizer" ]; then # they come before every audited object
        unseen namespace 'another copy of MPI, by dlmopen or dlopen' \
            LD_AUDIT="$top_builddir/.libs/apsmpi-audit.so" \
            GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384
    fi
fi
job 2 APSMPI_SHADOW=e4m3 APSMPI_LOG=log.csv ./program symbol "$mpi_library"
check 'candidates alone: one line, too' lines 1 err \
    'apsmpi: APSMPI_SHADOW had no effect: the program used MPI, but no call'
job 2 APSMPI_POLICY=good.yaml ./own
check 'MPI inside the program: one line says so' lines 1 err \
    'MPI is linked into the program statically'

# silent WHAT [VARIABLE=VALUE]... PROGRAM...
silent()
{
    what=$1
    shift
    job 2 "$@"
    check "$what: not a word" not has err 'no effect'
}
silent 'no policy' APSMPI_DISCOVERY=off ./program symbol "$mpi_library"
silent 'switched off' APSMPI_POLICY=good.yaml APSMPI_ENABLE=off \
    ./program symbol "$mpi_library"
silent 'a program that does not use MPI' APSMPI_POLICY=good.yaml \
    ./program nothing
silent 'a shell' APSMPI_POLICY=good.yaml sh -c 'ls >/dev/null; true'
silent 'a program that loads its caller by dlopen' APSMPI_POLICY=good.yaml \
    ./program open
check '... is seen' lines 1 err 'call of MPI_Allreduce, 1 rewritten'
finish
