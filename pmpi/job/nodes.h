/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks share a node: asked of MPI once, when a world is made.
 */
#ifndef APS_PMPI_JOB_NODES_H
#define APS_PMPI_JOB_NODES_H

#include <mpi.h>

/*
 * COLLECTIVE over comm, one of ours, blocking. nodes[i] becomes the lowest rank
 * of comm on the node of rank i. An MPI error code.
 */
int aps_nodes_find(MPI_Comm comm, int nodes[]);

#endif
