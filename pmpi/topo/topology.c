/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "topo/topology.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>

#include "progress/agree.h"

static hwloc_obj_type_t topology_object_type(enum aps_group_kind kind)
{
    switch (kind) {
    case APS_GROUP_PACKAGE:
        return HWLOC_OBJ_PACKAGE;
    case APS_GROUP_NUMA:
        return HWLOC_OBJ_NUMANODE;
    default:
        return HWLOC_OBJ_L3CACHE;
    }
}

/*
 * Where this rank stands. On this machine: its binding. On a described one
 * (HWLOC_SYNTHETIC, HWLOC_XMLFILE) rank i of the node stands on core i.
 */
static int topology_rank_cpuset(hwloc_topology_t topology, int node_rank,
                                hwloc_cpuset_t set, char *cause, size_t size)
{
    int cores;

    if (hwloc_topology_is_thissystem(topology)) {
        if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0)
            return 0;
        snprintf(cause, size, "hwloc cannot tell this rank's binding");
        return -1;
    }
    cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (cores <= 0) {
        snprintf(cause, size, "the described topology has no cores");
        return -1;
    }
    hwloc_bitmap_copy(set, hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE,
                                                 (unsigned)(node_rank % cores))
                               ->cpuset);
    return 0;
}

/* The index of the one object that holds all of `set`, or -1. */
static int topology_covering_object(hwloc_topology_t topology,
                                    hwloc_obj_type_t type,
                                    hwloc_const_cpuset_t set)
{
    int count = hwloc_get_nbobjs_by_type(topology, type);

    for (int i = 0; i < count; i++) {
        hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, (unsigned)i);

        if (object->cpuset && hwloc_bitmap_isincluded(set, object->cpuset))
            return i;
    }
    return -1;
}

/* The colour of this rank inside its node by hwloc, or -1 with a cause. */
static int topology_hardware_colour(enum aps_group_kind kind, int node_rank,
                                    char *cause, size_t size)
{
    const hwloc_obj_type_t type = topology_object_type(kind);
    hwloc_topology_t topology;
    hwloc_cpuset_t set;
    int colour = -1;

    if (hwloc_topology_init(&topology) != 0) {
        snprintf(cause, size, "hwloc_topology_init failed");
        return -1;
    }
    set = hwloc_bitmap_alloc();
    if (!set || hwloc_topology_load(topology) != 0) {
        snprintf(cause, size, "hwloc cannot load the topology");
        goto destroy;
    }
    if (hwloc_get_nbobjs_by_type(topology, type) <= 0) {
        snprintf(cause, size, "hwloc sees no %s here", aps_group_name(kind));
        goto destroy;
    }
    if (topology_rank_cpuset(topology, node_rank, set, cause, size) < 0)
        goto destroy;
    colour = topology_covering_object(topology, type, set);
    if (colour < 0)
        snprintf(cause, size,
                 "this rank is not bound inside one %s: bind the ranks "
                 "(mpiexec -bind-to core) or use group: node",
                 aps_group_name(kind));

destroy:
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return colour;
}

/*
 * The ranks of comm that this rank can be grouped with: those on its (perhaps
 * pretended) node, or all.
 */
static int topology_candidates(MPI_Comm comm,
                               const struct aps_grouping *grouping,
                               MPI_Comm *node)
{
    MPI_Comm machine;
    int rank, size, colour;
    int rc;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (grouping->kind == APS_GROUP_NUMBER && grouping->across_nodes)
        return PMPI_Comm_split(comm, 0, rank, node);
    rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                              grouping->test_nodes > 0 ? &machine : node);
    if (rc != MPI_SUCCESS || grouping->test_nodes <= 0)
        return rc;
    colour = grouping->test_cyclic
                 ? rank % grouping->test_nodes
                 : (int)((long)rank * grouping->test_nodes / size);
    rc = PMPI_Comm_split(machine, colour, rank, node);
    PMPI_Comm_free(&machine);
    return rc;
}

/* Number the groups by their first ranks, and connect the ranks that have the
 * same place in each. */
static int topology_connect_peers(MPI_Comm comm, struct aps_groups *groups)
{
    int place, members, first, leads, owns, rc;
    int extremes[2];

    PMPI_Comm_rank(groups->group, &place);
    PMPI_Comm_size(groups->group, &members);
    PMPI_Comm_rank(comm, &first);
    leads = place == 0;
    extremes[0] = -members; /* the MAX of it is the smallest group */
    extremes[1] = members;
    rc = aps_agree_bytes(groups->group, &first, sizeof first);
    if (rc == MPI_SUCCESS)
        rc = aps_agree_sum(comm, &leads);
    groups->groups = leads;
    if (rc == MPI_SUCCESS)
        rc = aps_agree_max(comm, 2, extremes);
    groups->smallest = -extremes[0];
    groups->largest = extremes[1];
    groups->peers = MPI_COMM_NULL;
    if (rc != MPI_SUCCESS || groups->groups == 1)
        return rc;
    owns = place < groups->smallest;
    rc = PMPI_Comm_split(comm, owns ? place : MPI_UNDEFINED, first,
                         &groups->peers);
    if (rc == MPI_SUCCESS && groups->peers != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(groups->peers, MPI_ERRORS_RETURN);
    return rc;
}

int aps_topology_groups(MPI_Comm comm, const struct aps_grouping *grouping,
                        struct aps_groups *groups, char *cause, size_t size)
{
    MPI_Comm node = MPI_COMM_NULL;
    int node_rank, node_size, colour = 0, homeless;

    *groups =
        (struct aps_groups){.group = MPI_COMM_NULL, .peers = MPI_COMM_NULL};
    cause[0] = '\0';
    if (topology_candidates(comm, grouping, &node) != MPI_SUCCESS)
        goto mpi_failed;
    PMPI_Comm_rank(node, &node_rank);
    PMPI_Comm_size(node, &node_size);
    if (grouping->kind == APS_GROUP_NUMBER)
        colour = node_rank / grouping->number;
    else if (grouping->kind != APS_GROUP_NODE)
        colour =
            topology_hardware_colour(grouping->kind, node_rank, cause, size);
    homeless = colour < 0;
    if (aps_agree_max(comm, 1, &homeless) != MPI_SUCCESS)
        goto mpi_failed;
    if (homeless)
        goto fail; /* on every rank, and one of them knows why */
    if (node_size == 1) {
        /* To split it would be as bad as aps_blocking_duplicates() says. */
        groups->group = node;
        node = MPI_COMM_NULL;
    } else if (PMPI_Comm_split(node, colour, node_rank, &groups->group) !=
               MPI_SUCCESS) {
        goto mpi_failed;
    }
    if (topology_connect_peers(comm, groups) != MPI_SUCCESS)
        goto mpi_failed;
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    return 0;

mpi_failed:
    snprintf(cause, size, "MPI failed while grouping the ranks");
fail:
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    aps_topology_release(groups);
    return -1;
}

void aps_topology_release(struct aps_groups *groups)
{
    if (groups->group != MPI_COMM_NULL)
        PMPI_Comm_free(&groups->group);
    if (groups->peers != MPI_COMM_NULL)
        PMPI_Comm_free(&groups->peers);
}
