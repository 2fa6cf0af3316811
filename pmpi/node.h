/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of a group of ranks on one node: a slot a rank, a result area,
 * and counts of what each rank has done, whose waits sleep.
 */
#ifndef APS_PMPI_NODE_H
#define APS_PMPI_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/memory.h"

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
size_t aps_node_slot_stride(const struct aps_node *node); /* rank to rank */
unsigned char *aps_node_result(const struct aps_node *node);

/*
 * How far the ranks are: each counts what it has done, once a chunk, and others
 * wait for its count. Memory written before a mark is seen by whoever has
 * awaited it.
 */
enum aps_node_mark {
    APS_NODE_CONTRIBUTED, /* its values are in its slot */
    APS_NODE_SUMMED,      /* it has read what it owns of all slots */
    APS_NODE_FINISHED,    /* its part of the result is there */
    APS_NODE_COLLECTED,   /* it has read the result */
    APS_NODE_MARKS
};
void aps_node_mark(struct aps_node *node, enum aps_node_mark mark);

/*
 * Until each of the group's first `ranks` ranks has made `mark` `times` times
 * since the node was made. Counts wrap; a count from before the first is reached
 * at once. `messages`: see aps_wait_reach.
 */
void aps_node_await(struct aps_node *node, enum aps_node_mark mark, int ranks,
                    uint32_t times, bool messages);

/*
 * A rank of the group could not do its part, for good: the others learn of it
 * with its next mark.
 */
void aps_node_fail(struct aps_node *node);
bool aps_node_failed(const struct aps_node *node);

/* The same of its GPU: they will go on without theirs. */
void aps_node_fail_device(struct aps_node *node);
bool aps_node_device_failed(const struct aps_node *node);

/* Where a rank leaves its token for the others, who may read it after the next
 * aps_node_max. */
struct aps_memory_token *aps_node_token(const struct aps_node *node, int rank);

/* This rank, which calls it once, will not need the others any more; how many
 * ranks have said so. */
void aps_node_leave(struct aps_node *node);
int aps_node_leavers(const struct aps_node *node);

/* COLLECTIVE over the group: the MAX of one value of every rank. */
int aps_node_max(struct aps_node *node, int value);

#endif
