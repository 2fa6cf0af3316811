/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shared-memory group: ranks of one node with a common shared-memory segment.
 * The segment has a slot for each rank, a result area, and counts of what each
 * rank has done. A rank that waits for a count sleeps.
 */
#ifndef APS_PMPI_GROUP_SHM_GROUP_H
#define APS_PMPI_GROUP_SHM_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/memory.h"
#include "message/vcomm.h"

struct aps_shm_group; /* opaque */

/*
 * COLLECTIVE over `group`, whose ranks share a node. Maps one segment of group
 * size * slot_bytes + result_bytes. The communicator of `group` outlives the
 * shared-memory group. Returns MPI_SUCCESS on all ranks, with the new shared-memory
 * group in *node; -1 on all ranks: `cause` (size bytes) says why on the rank that
 * cannot share memory, and is "" on the others; or an MPI error code.
 */
int aps_shm_group_create(const struct aps_vcomm *group, size_t slot_bytes,
                         size_t result_bytes, struct aps_shm_group **node,
                         char *cause, size_t size);
void aps_shm_group_destroy(
    struct aps_shm_group *node); /* local; NULL is allowed */

int aps_shm_group_rank(const struct aps_shm_group *node);
int aps_shm_group_size(const struct aps_shm_group *node);
unsigned char *aps_shm_group_slot(const struct aps_shm_group *node, int rank);
size_t
aps_shm_group_slot_stride(const struct aps_shm_group *node); /* bytes from one
                                                              * rank's slot to
                                                              * the next */
unsigned char *aps_shm_group_result(const struct aps_shm_group *node);

/*
 * The marks of a rank: it makes each mark once a chunk, and other ranks wait
 * for the number of its marks. A rank that has awaited a mark sees the memory
 * that was written before the mark.
 */
enum aps_shm_group_mark {
    APS_SHM_GROUP_CONTRIBUTED, /* the rank's values are in its slot */
    APS_SHM_GROUP_SUMMED,      /* the rank has read its slice of all slots */
    APS_SHM_GROUP_FINISHED,    /* the rank's slice of the result is written */
    APS_SHM_GROUP_COLLECTED,   /* the rank has read the result */
    APS_SHM_GROUP_MARKS
};
void aps_shm_group_signal(struct aps_shm_group *node,
                          enum aps_shm_group_mark mark);

/*
 * Wait until each of the first `ranks` ranks of the group has made `mark`
 * `times` times since the group was created. Counts wrap around; a wait for a
 * number before the first mark ends at once. `messages`: see aps_wait_reach.
 */
void aps_shm_group_await(struct aps_shm_group *node,
                         enum aps_shm_group_mark mark, int ranks,
                         uint32_t times, bool messages);

/*
 * aps_shm_group_fail reports that this rank could not do its part in `call`.
 * Every rank numbers its calls from 1. The other ranks see the failure when
 * they have awaited the next mark of this rank.
 *
 * aps_shm_group_failed is true if a rank has failed in `call`. A rank that is
 * ahead may have failed in the next call, but no rank may be two calls ahead.
 */
void aps_shm_group_fail(struct aps_shm_group *node, uint64_t call);
bool aps_shm_group_failed(const struct aps_shm_group *node, uint64_t call);

/*
 * aps_shm_group_tell_shape publishes a number that must be equal on all ranks in
 * `call`, before this rank's first mark. aps_shm_group_find_other_shape returns
 * the first rank of the group whose number differs from this rank's, and stores
 * that number in *shape; it returns -1 if all numbers are equal. Call it
 * after awaiting that mark of all ranks, or a mark of a rank that has awaited
 * the marks of all ranks.
 */
void aps_shm_group_tell_shape(struct aps_shm_group *node, uint64_t call,
                              uint64_t shape);
int aps_shm_group_find_other_shape(const struct aps_shm_group *node,
                                   uint64_t call, uint64_t *shape);

/* aps_shm_group_fail_device reports that this rank's GPU has failed: the group
 * uses no GPU memory from then on. */
void aps_shm_group_fail_device(struct aps_shm_group *node);
bool aps_shm_group_device_failed(const struct aps_shm_group *node);

/* Returns the token of a rank. A rank writes its own token; the others may read
 * it after the next aps_shm_group_max. */
struct aps_memory_token *aps_shm_group_token(const struct aps_shm_group *node,
                                             int rank);

/* A rank calls aps_shm_group_leave once, when it no longer needs the other
 * ranks. aps_shm_group_leavers returns the number of ranks that have left. */
void aps_shm_group_leave(struct aps_shm_group *node);
int aps_shm_group_leavers(const struct aps_shm_group *node);

/* COLLECTIVE over the group. aps_shm_group_max returns the MAX of `value` over
 * the ranks; aps_shm_group_max_all replaces each values[i] by its MAX. */
int aps_shm_group_max(struct aps_shm_group *node, int value);
void aps_shm_group_max_all(struct aps_shm_group *node, int count, int values[]);

#endif
