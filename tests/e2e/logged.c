/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes every kind of call that a round-off log may have; does not use apsmpi.
 *
 *     logged TIMES [NAME]...
 *
 * makes each call TIMES times, on MPI_COMM_WORLD and on a communicator of each
 * NAME. The empty name makes a communicator without a name.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#define COUNT 2048
#define RANKS_MAX 16

static float in[COUNT], out[COUNT * RANKS_MAX];

static void fill(int rank)
{
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(1 + rank) * (float)(1 + i % 13) / 16;
}

static void nonblocking(MPI_Comm comm)
{
    MPI_Request request;

    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static void persistent(MPI_Comm comm, long times)
{
    MPI_Request request;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering",
                 "true");
    MPI_Allreduce_init(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, info,
                       &request);
    MPI_Info_free(&info);
    for (long i = 0; i < times; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}
#endif

static void blocking(MPI_Comm comm, int ranks)
{
    int counts[RANKS_MAX];

    for (int i = 0; i < ranks; i++)
        counts[i] = COUNT / ranks;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(in, out, COUNT / ranks, MPI_FLOAT, MPI_SUM, comm);
    MPI_Allgather(in, COUNT, MPI_FLOAT, out, COUNT, MPI_FLOAT, comm);
    MPI_Reduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, 0, comm);
}

static void all(MPI_Comm comm, int ranks, long times)
{
    for (long i = 0; i < times; i++) {
        blocking(comm, ranks);
        nonblocking(comm);
    }
#if MPI_VERSION >= 4
    persistent(comm, times);
#endif
}

int main(int argc, char **argv)
{
    long times;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    times = argc > 1 ? atol(argv[1]) : 1;
    if (ranks > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    fill(rank);
    all(MPI_COMM_WORLD, ranks, times);
    for (int i = 2; i < argc; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (argv[i][0])
            MPI_Comm_set_name(comm, argv[i]);
        all(comm, ranks, times);
        MPI_Comm_free(&comm);
    }
    if (rank == 0)
        puts("all calls made");
    MPI_Finalize();
    return 0;
}
