/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/meet.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Computed once: the C library reads a file for it, which takes longer than a
 * short call, and would delay some ranks. */
bool aps_meet_shares_cores(int ranks)
{
    static long cores;

    if (cores == 0)
        cores = sysconf(_SC_NPROCESSORS_ONLN);
    return ranks > cores;
}

void aps_meet(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    MPI_Request request;
    bool naps;
    int done = 0, size;

    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    naps = aps_meet_shares_cores(size);
    PMPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (PMPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         PMPI_Test(&request, &done, MPI_STATUS_IGNORE))
        if (naps)
            nanosleep(&nap, NULL);
}

void aps_meet_all_good(const char *program, bool good, const char *cause)
{
    int first, rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    first = good ? INT_MAX : rank;
    PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX)
        return;
    if (first == rank)
        fprintf(stderr, "%s: rank %d: %s\n", program, rank, cause);
    MPI_Finalize();
    exit(2);
}
