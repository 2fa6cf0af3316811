/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/thread_level.h"

#include <mpi.h>
#include <stddef.h>

const char *aps_thread_level_name(void)
{
    int initialized = 0, finalized = 1, level;

    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized ||
        PMPI_Finalized(&finalized) != MPI_SUCCESS || finalized ||
        PMPI_Query_thread(&level) != MPI_SUCCESS)
        return NULL;
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}
