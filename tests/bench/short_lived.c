/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that live for one sum: MPI_Comm_dup, an all-reduce,
 * MPI_Comm_free, alternately by the preloaded library and by MPI itself.
 *
 *     mpiexec -n P short_lived [--nonblocking] [ROUNDS]
 *
 * Rank 0 prints medians in microseconds, and their ratio.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 2048
#define ROUNDS 300

static float in[COUNT], out[COUNT];
static bool nonblocking;

/* Calls the library. */
static void reduce_rewritten(MPI_Comm comm)
{
    MPI_Request request;

    if (nonblocking) {
        MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    }
}

/* Calls MPI itself: no library intercepts it. */
static void reduce_native(MPI_Comm comm)
{
    MPI_Request request;

    if (nonblocking) {
        PMPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm, &request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        PMPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, comm);
    }
}

/* Returns microseconds. */
static double measure(void (*reduce)(MPI_Comm))
{
    double begin;
    MPI_Comm comm;

    PMPI_Barrier(MPI_COMM_WORLD);
    begin = PMPI_Wtime();
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    reduce(comm);
    PMPI_Comm_free(&comm);
    return 1e6 * (PMPI_Wtime() - begin);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(int count, double times[])
{
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

int main(int argc, char **argv)
{
    int rounds = ROUNDS, rank, size, level;
    double *native, *rewritten;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--nonblocking") == 0)
            nonblocking = true;
        else
            rounds = atoi(argv[i]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    native = calloc((size_t)rounds + 1, sizeof *native);
    rewritten = calloc((size_t)rounds + 1, sizeof *rewritten);
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i % 5);
    for (int i = 0; i < rounds; i++) {
        native[i] = measure(reduce_native);
        rewritten[i] = measure(reduce_rewritten);
    }
    if (rank == 0) {
        const double theirs = median(rounds, native);
        const double ours = median(rounds, rewritten);

        printf(
            "%d ranks: native %.1f us, rewritten %.1f us, %.2f times native\n",
            size, theirs, ours, ours / theirs);
    }
    free(native);
    free(rewritten);
    MPI_Finalize();
    return 0;
}
