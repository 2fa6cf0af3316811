/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a group on one node have in the memory of their GPUs: a
 * region each, which all of them have opened (CUDA IPC).
 */
#ifndef APS_PMPI_GROUP_GPU_IPC_H
#define APS_PMPI_GROUP_GPU_IPC_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "group/shm_group.h"

struct aps_gpu_ipc; /* opaque */

/* Local, and no memory of a GPU yet: regions of `bytes` over the ranks of
 * `node`. NULL: out of memory. */
struct aps_gpu_ipc *aps_gpu_ipc_create(struct aps_shm_group *node,
                                       size_t bytes);

/*
 * COLLECTIVE over the node. Do `in` and `out` of every rank lie in the memory
 * of the device that its region is on? The first time that all are in some
 * GPU's memory, the regions are made; if that fails on a rank it never will be
 * tried again, and the first such rank has said why. Nor will it where a rank's
 * backend has no such verbs, or its GPU has failed, or after many calls in
 * vain. `memory` is this rank's backend.
 */
bool aps_gpu_ipc_meet(struct aps_gpu_ipc *peers,
                      const struct aps_memory *memory, const float *in,
                      const float *out);

/* A rank's region, at a multiple of 16 bytes, for `memory->device`'s verbs. */
unsigned char *aps_gpu_ipc_region(const struct aps_gpu_ipc *peers, int rank);

/* Local, and the end of the node, too. If there are regions its memory and ours
 * are kept until the others have closed it. NULL: nothing. */
void aps_gpu_ipc_destroy(struct aps_gpu_ipc *peers);

/* Local. Of what was kept, all that has been closed. */
void aps_gpu_ipc_destroy_closed(void);

#endif
