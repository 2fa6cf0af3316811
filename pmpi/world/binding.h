/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores to which a rank is bound: `threads: auto`. */
#ifndef APS_PMPI_WORLD_BINDING_H
#define APS_PMPI_WORLD_BINDING_H

#include <mpi.h>

/*
 * COLLECTIVE over comm, a communicator of the library; blocking. Returns the
 * cores of this rank's binding, divided by the ranks with that binding on
 * `node`, the lowest rank of this rank's node: at least 1, at most
 * APS_WORKERS_MAX. Threads of a core count once. Returns 1 if the system or MPI
 * does not tell.
 */
int aps_binding_threads(MPI_Comm comm, int node);

#endif
