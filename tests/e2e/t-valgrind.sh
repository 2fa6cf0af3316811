#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# valgrind knows the stacks of fibers: it finds no error inside the library while
# nonblocking reductions run on them.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

valgrind --version >/dev/null 2>&1 || skip_all 'there is no valgrind'
grep -q '^#define HAVE_VALGRIND_VALGRIND_H' "$top_builddir/config.h" ||
    skip_all "valgrind's header was not there"
[ "$MPI" = mpich ] || skip_all 'this MPI has no requests that fibers drive'
cat >program.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[4][2048];
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 4; i++)
            MPI_Iallreduce(MPI_IN_PLACE, x[i], 2048, MPI_FLOAT, MPI_SUM,
                           MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -g -o program program.c || exit 1
policy good.yaml 'format: e4m3, scale: aps, reduce: direct'
# valgrind has no AVX-512. Without the notes of fibers it has hundreds of errors in
# the library, and says that the client switches stacks.
limit=300
job 2 APSMPI_POLICY=good.yaml APSMPI_CPU=avx2 APSMPI_THREADS=kept \
    valgrind --log-file=valgrind.%p --main-stacksize=8388608 ./program
check 'the job ends well' status_is 0
check '... with rewritten calls' grep -q ' [1-9][0-9]* rewritten' err
cat valgrind.* >all
check 'valgrind sees no stack that it does not know' not grep 'switching stacks' all
check '... and no error inside the library' not grep -E \
    'at 0x[0-9A-F]+: .*libapsmpi\.so' all
finish
