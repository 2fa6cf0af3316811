/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that cannot take part in the agreement of a communicator's first rewritten
 * call (inject.c) gets an error from it, and from the next one: the other ranks wait
 * in a call of the library, and it must not wait in one of MPI's.
 *
 *     mpiexec -n 2 alone blocking|nonblocking CALL
 *
 * MPI_Iallreduce number CALL of rank 1 fails, and all after it. That rank ends the job,
 * with status 3 if it got both errors.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 4096

static int reduce(bool blocking, MPI_Comm comm)
{
    static float in[COUNT], out[COUNT];
    MPI_Request request;
    int rc;

    if (blocking)
        return MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    rc = MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
    return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    void (*arm)(const char *function, long call, long times);
    bool blocking, first, second;
    MPI_Comm comm;
    int rank;

    MPI_Init(&argc, &argv);
    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    if (argc != 3 || !arm)
        MPI_Abort(MPI_COMM_WORLD, 2);
    blocking = strcmp(argv[1], "blocking") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 1)
        arm("PMPI_Iallreduce", strtol(argv[2], NULL, 10), 1000000000);
    first = reduce(blocking, comm) != MPI_SUCCESS;
    second = reduce(blocking, comm) != MPI_SUCCESS;
    fprintf(stderr, "# rank %d: %s, %s\n", rank,
            first ? "an error" : "no error",
            second ? "and another" : "then none");
    MPI_Abort(MPI_COMM_WORLD, rank == 1 && first && second ? 3 : 4);
    return 1;
}
