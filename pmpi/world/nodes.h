/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the ranks that share a node. The library asks MPI once, when it makes a
 * world.
 */
#ifndef APS_PMPI_WORLD_NODES_H
#define APS_PMPI_WORLD_NODES_H

#include <mpi.h>

/*
 * COLLECTIVE over comm, a communicator of the library; blocking. Stores in
 * nodes[i] the lowest rank of comm on the node of rank i. Returns an MPI error
 * code.
 */
int aps_nodes_find(MPI_Comm comm, int nodes[]);

#endif
