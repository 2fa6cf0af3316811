/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks: by node, and inside a node by what hwloc tells of it.
 */
#ifndef APS_PMPI_TOPO_TOPOLOGY_H
#define APS_PMPI_TOPO_TOPOLOGY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "progress/vcomm.h"

/* How the ranks of a virtual communicator are grouped, as one rank sees it. */
struct aps_groups {
    struct aps_vcomm group; /* the ranks of this rank's group, in rank order */
    int groups;             /* how many there are */
    int smallest;           /* ranks of the smallest one */
    int largest;            /* and of the largest */
    /* Ranks with the same place in their groups, in the order of the groups'
     * first ranks. Of size 0 beyond `smallest`, or with one group. */
    struct aps_vcomm peers;
};

/* How to group them. */
struct aps_grouping {
    enum aps_group_kind kind;
    int number; /* ranks of a group, for APS_GROUP_NUMBER; the last one may have
                   fewer */
    bool
        across_nodes; /* by number: any ranks that follow each other, instead of
                          ranks of one node */
    int test_nodes;   /* > 0: pretend so many nodes (a test variable) ... */
    bool test_cyclic; /* ... and ranks on them in turn */
};

/*
 * COLLECTIVE over vcomm, whose nodes are known and which outlives the groups.
 * Group its ranks.
 *
 * 0 on all ranks, or -1 on all ranks: then `cause` says why on the rank that
 * found out, and is "" on the others. In any case aps_topology_release is due.
 */
int aps_topology_groups(const struct aps_vcomm *vcomm,
                        const struct aps_grouping *grouping,
                        struct aps_groups *groups, char *cause, size_t size);

/* Zeros, or groups that have been released: nothing. */
void aps_topology_release(struct aps_groups *groups);

#endif
