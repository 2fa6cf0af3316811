/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the ranks of a group on one node share on their GPUs: one region
 * for each rank, which all ranks of the group have opened (CUDA IPC).
 */
#ifndef APS_PMPI_GROUP_GPU_IPC_H
#define APS_PMPI_GROUP_GPU_IPC_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "group/shm_group.h"

struct aps_gpu_ipc; /* opaque */

/* Local. Describes regions of `bytes` over the ranks of `node`, without
 * allocating GPU memory yet. Returns NULL if out of memory. */
struct aps_gpu_ipc *aps_gpu_ipc_create(struct aps_shm_group *node,
                                       size_t bytes);

/*
 * COLLECTIVE over the node. True if `in` and `out` of every rank lie in the
 * memory of the device of its region. `memory` is this rank's backend.
 *
 * The regions are made in the first call in which all vectors are in GPU
 * memory. If that fails on a rank, the first such rank prints why, and the
 * group never tries again. The group also stops trying if a rank's backend has
 * no such verbs, if its GPU has failed, or after many calls without GPU memory.
 */
bool aps_gpu_ipc_meet(struct aps_gpu_ipc *peers,
                      const struct aps_memory *memory, const void *in,
                      const void *out);

/* Returns a rank's region, aligned to 16 bytes, for the verbs of
 * `memory->device`. */
unsigned char *aps_gpu_ipc_region(const struct aps_gpu_ipc *peers, int rank);

/* Local. Destroys the peers and the node. If there are regions, this rank's
 * region and the node are kept until the other ranks have closed it. NULL is
 * allowed. */
void aps_gpu_ipc_destroy(struct aps_gpu_ipc *peers);

/* Local. Frees the kept regions that the other ranks have closed. */
void aps_gpu_ipc_destroy_closed(void);

#endif
