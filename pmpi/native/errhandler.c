/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/errhandler.h"

#include <stdbool.h>

/* True if MPI_COMM_WORLD's errors end the job, or if there is no MPI_COMM_WORLD
 * (sessions). */
static bool errhandler_world_is_fatal(void)
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
 * MPICH gives communicators of MPI_Comm_create and some others no error
 * handler: the handler of MPI_COMM_WORLD acts for them.
 * PMPI_Comm_get_errhandler then returns MPI_ERRORS_ARE_FATAL, which must not be
 * restored.
 */
MPI_Errhandler aps_errhandler_push(MPI_Comm comm)
{
    MPI_Errhandler theirs;

    if (PMPI_Comm_get_errhandler(comm, &theirs) != MPI_SUCCESS)
        return MPI_ERRHANDLER_NULL;
    if (theirs == MPI_ERRORS_ARE_FATAL && !errhandler_world_is_fatal()) {
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
