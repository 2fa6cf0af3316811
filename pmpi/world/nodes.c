/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/nodes.h"

#include "base/message.h"
#include "native/error_text.h"

static void nodes_tell(int rank, int rc)
{
    char text[MPI_MAX_ERROR_STRING];

    aps_message(rank, "MPI cannot tell which ranks share a node: %s",
                aps_error_text(rc, text));
}

/* Local. Finds the rank in `comm` of rank 0 of `node`. It sends no message on
 * `node`, because a message would not pass a rank whose split has failed.
 * Returns an MPI error code. */
static int nodes_lowest(MPI_Comm comm, MPI_Comm node, int *lowest)
{
    MPI_Group all = MPI_GROUP_NULL, here = MPI_GROUP_NULL;
    int rc = PMPI_Comm_group(comm, &all);

    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_group(node, &here);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Group_translate_ranks(here, 1, &(int){0}, all, lowest);
    if (here != MPI_GROUP_NULL)
        PMPI_Group_free(&here);
    if (all != MPI_GROUP_NULL)
        PMPI_Group_free(&all);
    return rc;
}

int aps_nodes_find(MPI_Comm comm, int nodes[])
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank, size, lowest = -1, rc;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                              &node);
    if (rc == MPI_SUCCESS)
        rc = nodes_lowest(comm, node, &lowest);
    if (rc != MPI_SUCCESS) {
        nodes_tell(rank, rc);
        lowest = -1; /* reports the failure to the other ranks */
    }
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    rc = PMPI_Allgather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, comm);
    for (int i = 0; i < size && rc == MPI_SUCCESS; i++)
        if (nodes[i] < 0 || nodes[i] >= size)
            rc = MPI_ERR_OTHER;
    return rc;
}
