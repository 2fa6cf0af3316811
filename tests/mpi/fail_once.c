/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to preload in front, in which a message of this rank fails when the
 * program asks for it: see fail_once_arm. The program finds both functions by
 * dlsym.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long countdown[2]; /* of sends, of receives; 0: none fails */
static atomic_long failures, times;

EXPORT void fail_once_arm(int receives, long call, long how_often);
EXPORT long fail_once_disarm(void);

/* The call-th PMPI_Isend from now on fails, or PMPI_Irecv, and so do those
 * after it, `how_often` in all. */
void fail_once_arm(int receives, long call, long how_often)
{
    failures = 0;
    times = how_often;
    countdown[0] = countdown[1] = 0;
    countdown[receives] = call;
}

/* No more fails. How many did. */
long fail_once_disarm(void)
{
    countdown[0] = countdown[1] = 0;
    return failures;
}

static int fails(int receives)
{
    if (countdown[receives] == 0)
        return 0;
    if (countdown[receives] > 1) {
        countdown[receives]--;
        return 0;
    }
    if (++failures == times)
        countdown[receives] = 0;
    return 1;
}

EXPORT int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                MPI_Request *);

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
    return fails(0) ? MPI_ERR_OTHER
                    : next(buffer, count, type, to, tag, comm, request);
}

EXPORT int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Irecv");
    return fails(1) ? MPI_ERR_OTHER
                    : next(buffer, count, type, from, tag, comm, request);
}
