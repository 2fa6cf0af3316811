/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of a group of ranks on one node: a slot a rank, a result area,
 * and a barrier whose waits sleep.
 */
#ifndef APS_PMPI_NODE_H
#define APS_PMPI_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct aps_node; /* opaque */

/*
 * COLLECTIVE over `group`, whose ranks share a machine. One mapping of
 * group size * slot_bytes + result_bytes. `progress` is an internal
 * communicator that outlives the node and is used to drive MPI's progress while
 * waiting. On success *node is a new object, on all ranks or on none; on
 * failure `cause` (size bytes) says why on the rank that failed, or is "".
 * Returns 0 or -1.
 */
int aps_node_create(MPI_Comm group, MPI_Comm progress, size_t slot_bytes,
                    size_t result_bytes, struct aps_node **node, char *cause,
                    size_t size);
void aps_node_destroy(struct aps_node *node); /* local; NULL: nothing */

int aps_node_rank(const struct aps_node *node);
int aps_node_size(const struct aps_node *node);
unsigned char *aps_node_slot(const struct aps_node *node, int rank);
unsigned char *aps_node_result(const struct aps_node *node);

/* All ranks of the group; memory written before is seen by all after. */
void aps_node_barrier(struct aps_node *node);

/*
 * A rank of the group could not do its part, for good: the others learn of it
 * behind the next barrier.
 */
void aps_node_fail(struct aps_node *node);
bool aps_node_failed(const struct aps_node *node);

/* COLLECTIVE over the group: the MAX of one value of every rank. */
int aps_node_max(struct aps_node *node, int value);

#endif
