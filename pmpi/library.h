/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI behind us: passing calls through goes to the next library in line, so
 * that a profiler behind us still sees them.
 */
#ifndef APS_PMPI_LIBRARY_H
#define APS_PMPI_LIBRARY_H

#include <mpi.h>

struct aps_library {
    int (*init)(int *argc, char ***argv);
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*allreduce)(const void *send, void *receive, int count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm);
#ifdef HAVE_PMPI_ALLREDUCE_C
    int (*allreduce_c)(const void *send, void *receive, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm);
#endif
};

/* Resolved on first use. Thread-safe. */
const struct aps_library *aps_library(void);

#endif
