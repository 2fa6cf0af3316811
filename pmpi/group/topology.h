/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks: the ranks of a node, or of an object of the node that hwloc
 * finds, such as a package.
 */
#ifndef APS_PMPI_GROUP_TOPOLOGY_H
#define APS_PMPI_GROUP_TOPOLOGY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "message/vcomm.h"

/* The groups of a virtual communicator, from the view of one rank. */
struct aps_groups {
    struct aps_vcomm group; /* the ranks of this rank's group, in rank order */
    int groups;             /* the number of groups */
    int smallest;           /* ranks of the smallest group */
    int largest;            /* ranks of the largest group */
    /* Ranks with the same rank in their groups as this rank, in the order of
     * the groups' first ranks. The size is 0 if some group has no such rank, or
     * if there is a single group. */
    struct aps_vcomm peers;
};

/* Rule for grouping ranks. */
struct aps_grouping {
    enum aps_group_kind kind;
    /* For APS_GROUP_NUMBER: the ranks of a group; the last group may have
     * fewer. */
    int number;
    /* For APS_GROUP_NUMBER: true: a group has consecutive ranks of any nodes,
     * instead of ranks of one node. */
    bool across_nodes;
    int test_nodes;   /* > 0: number of nodes to pretend, for tests */
    bool test_cyclic; /* pretend that ranks lie on the nodes in turn */
};

/*
 * COLLECTIVE over vcomm. Groups the ranks of vcomm, whose `nodes` are set and
 * which outlives the groups.
 *
 * Returns MPI_SUCCESS; -1 on all ranks if a rank has no such group: then
 * `cause` says why on that rank, and is "" on the others; or an MPI error code.
 * The caller calls aps_topology_release in any case.
 */
int aps_topology_groups(const struct aps_vcomm *vcomm,
                        const struct aps_grouping *grouping,
                        struct aps_groups *groups, char *cause, size_t size);

/* Local. Returns the number of nodes of the ranks of vcomm, whose `nodes` are
 * set; the other arguments are as in struct aps_grouping. */
int aps_topology_count_nodes(const struct aps_vcomm *vcomm, int test_nodes,
                             bool test_cyclic);

/* Frees the groups. Does nothing to {0} and to groups that were released
 * before. */
void aps_topology_release(struct aps_groups *groups);

#endif
