/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/topology.h"

#include <stdlib.h>

#include "group/hardware.h"
#include "message/agree.h"

/* A partition of n ranks: ranks with the same two keys are in the same part. */
struct partition {
    int n;
    int parts;
    int *part;    /* [n]: the part of each rank, in the order of first ranks */
    int *place;   /* [n]: the rank's number in its part */
    int *first;   /* [parts]: the first rank */
    int *members; /* [parts]: the number of ranks */
};

static void topology_part(struct partition *p, const int a[], const int b[])
{
    p->parts = 0;
    for (int i = 0; i < p->n; i++) {
        int part = p->parts - 1; /* neighbours are often in the same part */

        while (part >= 0 &&
               (a[p->first[part]] != a[i] || b[p->first[part]] != b[i]))
            part--;
        if (part < 0) {
            part = p->parts++;
            p->first[part] = i;
            p->members[part] = 0;
        }
        p->part[i] = part;
        p->place[i] = p->members[part]++;
    }
}

/* Returns the pretended node of a rank. */
static int topology_pretend(const struct aps_vcomm *vcomm, int nodes,
                            bool cyclic, int rank)
{
    if (nodes <= 0)
        return 0;
    return cyclic ? rank % nodes : (int)((long)rank * nodes / vcomm->size);
}

/* Stores the node and the pretended node of each rank, as the two keys of a
 * partition. If groups span nodes, all ranks get the same keys. */
static void topology_node_keys(const struct aps_vcomm *vcomm,
                               const struct aps_grouping *grouping, int node[],
                               int pretended[])
{
    const bool anywhere =
        grouping->kind == APS_GROUP_NUMBER && grouping->across_nodes;
    const int nodes = anywhere ? 0 : grouping->test_nodes;

    for (int i = 0; i < vcomm->size; i++) {
        node[i] = anywhere ? 0 : vcomm->nodes[aps_vcomm_rank(vcomm, i)];
        pretended[i] = topology_pretend(vcomm, nodes, grouping->test_cyclic, i);
    }
}

int aps_topology_count_nodes(const struct aps_vcomm *vcomm, int test_nodes,
                             bool test_cyclic)
{
    int count = 0;

    /* A node begins with the first rank that shares it with no earlier rank. */
    for (int i = 0; i < vcomm->size; i++) {
        int j = 0;

        while (j < i &&
               (vcomm->nodes[aps_vcomm_rank(vcomm, j)] !=
                    vcomm->nodes[aps_vcomm_rank(vcomm, i)] ||
                topology_pretend(vcomm, test_nodes, test_cyclic, j) !=
                    topology_pretend(vcomm, test_nodes, test_cyclic, i)))
            j++;
        count += j == i;
    }
    return count;
}

/* COLLECTIVE over vcomm for the kinds that need hwloc. Ranks of a node with the
 * same colour form a group. Returns 0; -1 on all ranks if some rank has no colour,
 * and that rank reports the cause; or an MPI error code. */
static int topology_colours(const struct aps_vcomm *vcomm,
                            const struct aps_grouping *grouping,
                            const struct partition *nodes, int colours[],
                            char *cause, size_t size)
{
    int rc;

    for (int i = 0; i < vcomm->size; i++)
        colours[i] = grouping->kind == APS_GROUP_NUMBER
                         ? nodes->place[i] / grouping->number
                         : 0;
    if (grouping->kind == APS_GROUP_NUMBER || grouping->kind == APS_GROUP_NODE)
        return 0;
    colours[vcomm->rank] = aps_hardware_colour(
        grouping->kind, nodes->place[vcomm->rank], cause, size);
    rc = aps_agree_gather_bytes(vcomm, sizeof *colours, colours);
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < vcomm->size; i++)
        if (colours[i] < 0)
            return -1;
    return 0;
}

/* Local. Fills in the groups from the view of this rank. `members` is scratch.
 * Returns 0, or -1 if out of memory. */
static int topology_describe(const struct aps_vcomm *vcomm,
                             const struct partition *parts, int members[],
                             struct aps_groups *groups)
{
    const int own = parts->part[vcomm->rank];
    const int place = parts->place[vcomm->rank];
    int count = 0;

    groups->groups = parts->parts;
    groups->smallest = groups->largest = parts->members[0];
    for (int i = 0; i < parts->parts; i++) {
        if (parts->members[i] < groups->smallest)
            groups->smallest = parts->members[i];
        if (parts->members[i] > groups->largest)
            groups->largest = parts->members[i];
    }
    for (int i = 0; i < parts->n; i++)
        if (parts->part[i] == own)
            members[count++] = i;
    if (aps_vcomm_divide(&groups->group, vcomm, APS_PART_GROUP, count, place,
                         members) < 0)
        return -1;
    if (groups->groups == 1 || place >= groups->smallest)
        return 0;
    for (int i = 0; i < parts->n; i++)
        if (parts->place[i] == place)
            members[parts->part[i]] = i;
    return aps_vcomm_divide(&groups->peers, vcomm, APS_PART_PEERS, parts->parts,
                            own, members);
}

int aps_topology_groups(const struct aps_vcomm *vcomm,
                        const struct aps_grouping *grouping,
                        struct aps_groups *groups, char *cause, size_t size)
{
    const size_t n = (size_t)vcomm->size;
    int *scratch = malloc(7 * n * sizeof *scratch);
    struct partition parts;
    int rc;

    *groups = (struct aps_groups){0};
    cause[0] = '\0';
    if (!scratch)
        return MPI_ERR_NO_MEM;
    parts = (struct partition){
        .n = vcomm->size,
        .part = scratch,
        .place = scratch + n,
        .first = scratch + 2 * n,
        .members = scratch + 3 * n,
    };
    topology_node_keys(vcomm, grouping, scratch + 4 * n, scratch + 5 * n);
    topology_part(&parts, scratch + 4 * n, scratch + 5 * n);
    rc =
        topology_colours(vcomm, grouping, &parts, scratch + 6 * n, cause, size);
    if (rc == MPI_SUCCESS) {
        for (size_t i = 0; i < n; i++)
            scratch[4 * n + i] = parts.part[i];
        topology_part(&parts, scratch + 4 * n, scratch + 6 * n);
        rc = topology_describe(vcomm, &parts, scratch + 4 * n, groups) == 0
                 ? MPI_SUCCESS
                 : MPI_ERR_NO_MEM;
    }
    free(scratch);
    return rc;
}

void aps_topology_release(struct aps_groups *groups)
{
    aps_vcomm_clear(&groups->group);
    aps_vcomm_clear(&groups->peers);
}
