/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory of a group of ranks on one node: a slot a rank, a result area,
 * and counts of what each rank has done, whose waits sleep.
 */
#ifndef APS_PMPI_TOPO_SHM_GROUP_H
#define APS_PMPI_TOPO_SHM_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/memory.h"
#include "progress/vcomm.h"

struct aps_shm_group; /* opaque */

/*
 * COLLECTIVE over `group`, whose ranks share a machine. One mapping of
 * group size * slot_bytes + result_bytes. The communicator beneath `group`
 * outlives the node. On success *node is a new object, on all ranks or on none; on
 * failure `cause` (size bytes) says why on the rank that failed, or is "".
 * Returns 0 or -1.
 */
int aps_shm_group_create(const struct aps_vcomm *group, size_t slot_bytes,
                         size_t result_bytes, struct aps_shm_group **node,
                         char *cause, size_t size);
void aps_shm_group_destroy(
    struct aps_shm_group *node); /* local; NULL: nothing */

int aps_shm_group_rank(const struct aps_shm_group *node);
int aps_shm_group_size(const struct aps_shm_group *node);
unsigned char *aps_shm_group_slot(const struct aps_shm_group *node, int rank);
size_t
aps_shm_group_slot_stride(const struct aps_shm_group *node); /* rank to rank */
unsigned char *aps_shm_group_result(const struct aps_shm_group *node);

/*
 * How far the ranks are: each counts what it has done, once a chunk, and others
 * wait for its count. Memory written before a mark is seen by whoever has
 * awaited it.
 */
enum aps_shm_group_mark {
    APS_SHM_GROUP_CONTRIBUTED, /* its values are in its slot */
    APS_SHM_GROUP_SUMMED,      /* it has read what it owns of all slots */
    APS_SHM_GROUP_FINISHED,    /* its part of the result is there */
    APS_SHM_GROUP_COLLECTED,   /* it has read the result */
    APS_SHM_GROUP_MARKS
};
void aps_shm_group_mark(struct aps_shm_group *node,
                        enum aps_shm_group_mark mark);

/*
 * Until each of the group's first `ranks` ranks has made `mark` `times` times
 * since the node was made. Counts wrap; a count from before the first is
 * reached at once. `messages`: see aps_wait_reach.
 */
void aps_shm_group_await(struct aps_shm_group *node,
                         enum aps_shm_group_mark mark, int ranks,
                         uint32_t times, bool messages);

/*
 * A rank of the group could not do its part in a call: the others, which number
 * their calls from 1 alike, learn of it with its next mark. It failed where it
 * failed in that call or, as it may be ahead, in a later one.
 */
void aps_shm_group_fail(struct aps_shm_group *node, uint32_t call);
bool aps_shm_group_failed(const struct aps_shm_group *node, uint32_t call);

/* A rank's GPU has failed, for good: the others will go on without theirs. */
void aps_shm_group_fail_device(struct aps_shm_group *node);
bool aps_shm_group_device_failed(const struct aps_shm_group *node);

/* Where a rank leaves its token for the others, who may read it after the next
 * aps_shm_group_max. */
struct aps_memory_token *aps_shm_group_token(const struct aps_shm_group *node,
                                             int rank);

/* This rank, which calls it once, will not need the others any more; how many
 * ranks have said so. */
void aps_shm_group_leave(struct aps_shm_group *node);
int aps_shm_group_leavers(const struct aps_shm_group *node);

/* COLLECTIVE over the group: the MAX of one value of every rank; and values[i]
 * becomes the MAX of those of all ranks. */
int aps_shm_group_max(struct aps_shm_group *node, int value);
void aps_shm_group_max_all(struct aps_shm_group *node, int count, int values[]);

#endif
