/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiler that is preloaded behind us: it answers whatever it gets. */
#include "config.h"

#include <mpi.h>

__attribute__((visibility("default"))) int
MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm)
{
    (void)send, (void)receive, (void)type, (void)op, (void)comm;
    return count < 0 ? MPI_ERR_COUNT : MPI_ERR_OTHER;
}
