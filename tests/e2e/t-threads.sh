#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The program sees its own thread level, also if the library has raised MPI's.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

cat >levels.c <<'END'
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf before;

static void leave(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    longjmp(before, 1);
}

int main(int argc, char **argv)
{
    const int asked = atoi(argv[1]);
    int rank, provided = MPI_THREAD_SINGLE, program, mpi;
    static float x[4096];
    MPI_Errhandler handler;
    MPI_Request request;

    if (asked < 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, asked, &provided);
    MPI_Query_thread(&program);
    PMPI_Query_thread(&mpi);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (argc > 2) { /* an error handler that does not return */
        MPI_Comm_create_errhandler(leave, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        if (setjmp(before) == 0)
            MPI_Send(x, 1, MPI_FLOAT, 1000, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("provided %d, program %d, MPI %d\n", provided, program, mpi);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o levels levels.c || exit 1
policy good.yaml 'format: e4m3'

# levels THREADS ASKED LINE WHAT
levels()
{
    job 2 APSMPI_POLICY=good.yaml APSMPI_THREADS="$1" ./levels "$2"
    check "$4" equal "$(cat out)" "$3"
    check '... the job ends well' status_is 0
}
native 2 ./levels 1
check 'without the library' equal "$(cat out)" 'provided 1, program 1, MPI 1'
levels '' -1 'provided 0, program 0, MPI 3' 'MPI_Init: the program sees one thread'
levels '' 1 'provided 1, program 1, MPI 3' 'MPI_Init_thread: it sees its own level'
levels hidden 3 'provided 3, program 3, MPI 3' '... which may be the greatest'
levels shown 1 'provided 3, program 3, MPI 3' "shown: it sees MPI's level"
levels kept 1 'provided 1, program 1, MPI 1' 'kept: the level is not raised'
job 2 APSMPI_POLICY=good.yaml APSMPI_THREADS=kept ./levels 0 leave
check '... an error handler may leave' equal "$(cat out)" \
    'provided 0, program 0, MPI 0'
job 2 APSMPI_POLICY=good.yaml APSMPI_THREADS=one ./levels 1
check 'another word stops the job' lines 1 err \
    "APSMPI_THREADS='one' is wrong: the value must be hidden|shown|kept"

# Fortran's functions see the same.
cat >levels.f90 <<'END'
program levels
    use mpi_f08
    integer :: provided, seen, rank
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
    call MPI_Query_thread(seen)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) print '(2i2)', provided, seen
    call MPI_Finalize()
end program
END
sed 's/mpi_f08/mpi/; s/provided)$/provided, ierror)/; s/(seen)/(seen, ierror)/
    s/rank)$/rank, ierror)/; s/Finalize()/Finalize(ierror)/; s/:: p/:: ierror, p/' \
    levels.f90 >plain.f90
fortran=$(echo "$MPICC" | sed 's/mpicc/mpifort/')
libraries=$("$MPICC" -show | tr ' ' '\n' | grep '^-L')
policy thread.yaml -t 'progress: thread' 'format: e4m3'
for source in levels plain; do
    # shellcheck disable=SC2086 # options
    if ! "$fortran" -o $source.f $source.f90 $libraries >reason 2>&1; then
        skip "$source.f90" "does not compile: $(tail -n 1 reason)"
        continue
    fi
    job 2 APSMPI_POLICY=thread.yaml ./$source.f
    check "Fortran, $source.f90: the program sees its own level" equal \
        "$(tr -d ' ' <out)" 11
    job 2 APSMPI_POLICY=thread.yaml APSMPI_THREADS=shown ./$source.f
    check "... or MPI's" equal "$(tr -d ' ' <out)" 33
done
finish
