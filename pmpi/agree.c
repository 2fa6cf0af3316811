/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "agree.h"

#include <limits.h>

#include "wait.h"

int aps_agree_max(MPI_Comm comm, int count, int values[])
{
    MPI_Request request;
    int rc = PMPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT, MPI_MAX,
                             comm, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

bool aps_agree_all(MPI_Comm comm, bool good)
{
    int bad = !good;

    return aps_agree_max(comm, 1, &bad) == MPI_SUCCESS && !bad;
}

int aps_agree_bytes(MPI_Comm comm, void *bytes, size_t size)
{
    char *next = bytes;
    int rc = MPI_SUCCESS;

    while (size > 0 && rc == MPI_SUCCESS) {
        int part = size < INT_MAX / 2 ? (int)size : INT_MAX / 2;
        MPI_Request request;

        rc = PMPI_Ibcast(next, part, MPI_BYTE, 0, comm, &request);
        if (rc == MPI_SUCCESS)
            rc = aps_wait_requests(1, &request);
        next += part;
        size -= (size_t)part;
    }
    return rc;
}

void aps_agree_cause(MPI_Comm comm, char *text, size_t size)
{
    MPI_Request request;
    int rank, lowest;

    PMPI_Comm_rank(comm, &rank);
    /* MAX of the negated rank is the lowest rank that has something to say. */
    lowest = text[0] != '\0' ? -rank : INT_MIN;
    if (aps_agree_max(comm, 1, &lowest) != MPI_SUCCESS || lowest == INT_MIN)
        return;
    if (PMPI_Ibcast(text, (int)size, MPI_CHAR, -lowest, comm, &request) ==
        MPI_SUCCESS)
        (void)aps_wait_requests(1, &request);
}
