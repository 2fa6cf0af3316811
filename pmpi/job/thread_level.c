/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/thread_level.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>

#include "job/job.h"

/* Level for which the program has asked; -1: it was not raised. */
static atomic_int own = -1;

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

int aps_thread_level_raise(int required)
{
    int none = -1;

    if (!aps_job_asks_for_threads())
        return required;
    /* A tool below the library may call MPI_Init_thread once more. */
    atomic_compare_exchange_strong(&own, &none, required);
    return MPI_THREAD_MULTIPLE;
}

int aps_thread_level_shown(int level)
{
    const int asked = atomic_load(&own);

    return asked < 0 || asked > level ||
                   aps_job()->options.threads == APS_THREADS_SHOWN
               ? level
               : asked;
}
