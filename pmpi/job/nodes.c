/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/nodes.h"

int aps_nodes_find(MPI_Comm comm, int nodes[])
{
    MPI_Comm node;
    int rank, lowest, rc;

    PMPI_Comm_rank(comm, &rank);
    rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                              &node);
    if (rc != MPI_SUCCESS)
        return rc;
    lowest = rank; /* true of rank 0 of `node` */
    rc = PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    if (rc != MPI_SUCCESS)
        return rc;
    return PMPI_Allgather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, comm);
}
