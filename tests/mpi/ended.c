/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of MPI, or an allocation, fails inside the library on rank 1
 * (inject.c): the program's call returns the error there. The next call returns
 * the error at once and sends nothing.
 *
 * mpiexec -n 2 ended CALL later|first FUNCTION NUMBER handled|fatal|waits
 *
 * The NUMBERth call of FUNCTION fails: in a call on a communicator that has had
 * a reduction before (`later`), or in the first call on a new one (`first`).
 * `handled`: the program's error handler returns, and rank 1 ends the job, with
 * status 3 if all is well, because rank 0 may wait for ever. `waits`: rank 1
 * ends the job after 12 seconds. `fatal`: MPI ends the job.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 3000
#define FUSED 3

static float in[COUNT], out[2 * COUNT];
static int told; /* errors that the program's handler got */

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

static int blocking(MPI_Comm comm)
{
    return MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
}

/* Makes FUSED calls at most, until one fails. */
static int nonblocking_calls(MPI_Comm comm, int calls)
{
    MPI_Request requests[FUSED];
    int rc = MPI_SUCCESS, made = 0;

    for (; made < calls && rc == MPI_SUCCESS; made++)
        rc = MPI_Iallreduce(in + made * 1000, out + made * 1000, 1000,
                            MPI_FLOAT, MPI_SUM, comm, &requests[made]);
    for (int i = 0; i < made && requests[i] != MPI_REQUEST_NULL; i++) {
        const int now = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);

        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

static int nonblocking(MPI_Comm comm)
{
    return nonblocking_calls(comm, 1);
}

static int fused(MPI_Comm comm)
{
    return nonblocking_calls(comm, FUSED);
}

static int rooted(MPI_Comm comm)
{
    return MPI_Reduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, 0, comm);
}

static int scatter(MPI_Comm comm)
{
    return MPI_Reduce_scatter_block(in, out, COUNT / 2, MPI_FLOAT, MPI_SUM,
                                    comm);
}

static int gather(MPI_Comm comm)
{
    return MPI_Allgather(in, COUNT, MPI_FLOAT, out, COUNT, MPI_FLOAT, comm);
}

static int broadcast(MPI_Comm comm)
{
    return MPI_Bcast(in, COUNT, MPI_FLOAT, 1, comm);
}

static const struct kind {
    const char *name;
    int (*run)(MPI_Comm comm);
    bool tells; /* the communicator's handler gets each error */
} kinds[] = {
    {"blocking", blocking, true}, {"nonblocking", nonblocking, false},
    {"fused", fused, false},      {"reduce", rooted, true},
    {"scatter", scatter, true},   {"allgather", gather, true},
    {"bcast", broadcast, true},
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* Runs on rank 1, whose call has failed with this code. */
static bool ends_well(const struct kind *kind, MPI_Comm comm, int rc)
{
    long (*count)(const char *function);
    long sent;
    int again;

    *(void **)&count = dlsym(RTLD_DEFAULT, "inject_count");
    sent = count("PMPI_Isend") + count("PMPI_Iallreduce");
    again = kind->run(comm);
    fprintf(stderr, "# codes %d and %d, the handler is called %d times\n", rc,
            again, told);
    return rc != MPI_SUCCESS && again != MPI_SUCCESS &&
           count("PMPI_Isend") + count("PMPI_Iallreduce") == sent &&
           (!kind->tells || told == 2);
}

int main(int argc, char **argv)
{
    const struct kind *kind = argc == 6 ? kind_named(argv[1]) : NULL;
    void (*arm)(const char *function, long call, long times);
    MPI_Errhandler handler;
    int rank, level, rc;
    MPI_Comm comm;

    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    if (!kind || !arm)
        return 99;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    if (strcmp(argv[5], "fatal") != 0) {
        MPI_Comm_set_errhandler(comm, handler);
        /* The handler for MPI_Wait, which has no communicator. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    if (strcmp(argv[2], "later") == 0 && kind->run(comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 98);
    if (rank == 1)
        arm(argv[3], strtol(argv[4], NULL, 10), 1);
    rc = kind->run(comm);
    if (rank == 1) {
        const bool good = ends_well(kind, comm, rc);

        /* mpiexec must have forwarded the line before it ends the job. */
        usleep(300000);
        if (strcmp(argv[5], "waits") == 0)
            sleep(3);
        MPI_Abort(MPI_COMM_WORLD, good ? 3 : 4);
    }
    PMPI_Recv(out, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
