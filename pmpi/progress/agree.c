/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/agree.h"

#include <limits.h>
#include <stdatomic.h>

#include "base/message.h"
#include "progress/wait.h"

static int agree_telling(MPI_Comm comm, int count, void *values,
                         MPI_Datatype type, MPI_Op op, void (*tell)(void))
{
    MPI_Request request;
    int rc =
        PMPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests_telling(1, &request, tell)
                             : rc;
}

static int agree_agree(MPI_Comm comm, int count, void *values,
                       MPI_Datatype type, MPI_Op op)
{
    return agree_telling(comm, count, values, type, op, NULL);
}

int aps_agree_max(MPI_Comm comm, int count, int values[])
{
    return agree_agree(comm, count, values, MPI_INT, MPI_MAX);
}

int aps_agree_sum(MPI_Comm comm, int *value)
{
    return agree_agree(comm, 1, value, MPI_INT, MPI_SUM);
}

int aps_agree_or(MPI_Comm comm, void *bits, size_t size)
{
    return agree_agree(comm, (int)size, bits, MPI_BYTE, MPI_BOR);
}

bool aps_agree_all(MPI_Comm comm, bool good)
{
    int bad = !good;

    return aps_agree_max(comm, 1, &bad) == MPI_SUCCESS && !bad;
}

/* One or two ranks of the job are enough to say it. */
void aps_agree_tell_missing(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int rank;

    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank < 2 &&
        !atomic_flag_test_and_set(&told))
        aps_message(rank,
                    "waits at the first reduction of a communicator for ranks "
                    "that have not come yet; if they never do: is the library "
                    "preloaded, and APSMPI_POLICY set, on all ranks?");
}

bool aps_agree_first(MPI_Comm comm, bool good)
{
    int bad = !good;

    return agree_telling(comm, 1, &bad, MPI_INT, MPI_MAX,
                         aps_agree_tell_missing) == MPI_SUCCESS &&
           !bad;
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

/* Is it MPI_COMM_WORLD's error handler that ends the job? Where there is no
 * MPI_COMM_WORLD (sessions), yes. */
static bool agree_world_is_fatal(void)
{
    MPI_Errhandler handler;
    bool fatal;
    int initialized;

    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized ||
        PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS)
        return true;
    fatal = handler == MPI_ERRORS_ARE_FATAL;
    PMPI_Errhandler_free(&handler);
    return fatal;
}

/*
 * MPICH gives communicators of MPI_Comm_create and others no error handler:
 * MPI_COMM_WORLD's acts for them, yet they show MPI_ERRORS_ARE_FATAL, which
 * must not be "put back" then.
 */
MPI_Errhandler aps_errhandler_push(MPI_Comm comm)
{
    MPI_Errhandler theirs;

    if (PMPI_Comm_get_errhandler(comm, &theirs) != MPI_SUCCESS)
        return MPI_ERRHANDLER_NULL;
    if (theirs == MPI_ERRORS_ARE_FATAL && !agree_world_is_fatal()) {
        PMPI_Errhandler_free(&theirs);
        return MPI_ERRHANDLER_NULL;
    }
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return theirs;
}

void aps_errhandler_pop(MPI_Comm comm, MPI_Errhandler theirs)
{
    if (theirs == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_set_errhandler(comm, theirs);
    PMPI_Errhandler_free(&theirs);
}
