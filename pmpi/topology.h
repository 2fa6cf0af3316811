/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks: by node, and inside a node by what hwloc tells of it.
 */
#ifndef APS_PMPI_TOPOLOGY_H
#define APS_PMPI_TOPOLOGY_H

#include <mpi.h>
#include <stddef.h>

#include "policy/policy.h"

/* How the ranks of a communicator are grouped, as one rank sees it. */
struct aps_groups {
    MPI_Comm group; /* the ranks of this rank's group, in rank order */
    int groups;     /* how many there are */
    int smallest;   /* ranks of the smallest one */
    /* Ranks with the same place in their groups, in the order of the groups'
     * first ranks. MPI_COMM_NULL beyond `smallest`, or with one group. */
    MPI_Comm peers;
};

/*
 * COLLECTIVE over comm. Group its ranks by `kind`; `number` is the size of
 * APS_GROUP_NUMBER. `test_nodes` > 0 pretends that many nodes (a test variable;
 * `cyclic`: ranks in turn). The communicators are new and the caller's.
 *
 * 0 on all ranks, or -1 on all ranks: then `cause` says why on the rank that
 * found out, and is "" on the others.
 */
int aps_topology_groups(MPI_Comm comm, enum aps_group_kind kind, int number,
                        int test_nodes, int cyclic, struct aps_groups *groups,
                        char *cause, size_t size);

/* Free the communicators. */
void aps_topology_release(struct aps_groups *groups);

#endif
