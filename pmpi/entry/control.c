/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function that replaces MPI_Pcontrol, as allreduce.c has the others.
 */
#include "config.h"

#include <stdarg.h>
#include <stdbool.h>

#include "entry/prototypes.h"
#include "job/job.h"
#include "job/pcontrol.h"
#include "native/next_mpi.h"

/* The same in every MPI. */
int PMPI_Initialized(int *flag);
int PMPI_Finalized(int *flag);

/* This call may come at any time; the job is not made outside MPI's life. Under
 * the sessions model there is no MPI_COMM_WORLD. */
static bool entry_control_is_initialized(void)
{
    int initialized = 0, finalized = 1;

    return PMPI_Initialized(&initialized) == 0 && initialized &&
           PMPI_Finalized(&finalized) == 0 && !finalized;
}

/* Whoever is behind us may know what the other arguments are: they go on as
 * five words, which all stand in registers, given or not. */
int MPI_Pcontrol(const int level, ...)
{
    void *words[5];
    va_list args;

    va_start(args, level);
    for (int i = 0; i < 5; i++)
        words[i] = va_arg(args, void *);
    va_end(args);
    if (entry_control_is_initialized() && !aps_job()->foreign)
        aps_pcontrol(level);
    return aps_next_mpi()->pcontrol(level, words[0], words[1], words[2],
                                    words[3], words[4]);
}
