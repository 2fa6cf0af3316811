/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for the chunks of a reduction inside a group: a slot for each rank,
 * with one slice for each owner; the results of every owner, with one part for
 * each group; and this rank's sums. Chunks use all of them in rotation, so that
 * the buffers hold several chunks at a time. Buffers lie either in the host's
 * shared memory or in GPU memory (gpu_ipc.h).
 */
#ifndef APS_PMPI_GROUP_CHUNK_BUFFERS_H
#define APS_PMPI_GROUP_CHUNK_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "group/shm_group.h"
#include "group/chunk_layout.h"
#include "group/gpu_ipc.h"
#include "wire/buffer_depth.h"
#include "group/topology.h"

struct aps_block_header;

struct aps_chunk_buffers {
    struct aps_shm_group *node; /* owned; by the peers, if there are any */
    struct aps_gpu_ipc *peers;  /* owned; NULL: buffers in host memory */
    int owners;                 /* ranks of a group that own a slice */
    int parts;                  /* parts of a result, one for each group */
    int results;                /* owners whose results lie in one place: all
                                 * owners, or one if there are peers */
    size_t granule;             /* largest granule of a codec */
    struct aps_chunk_capacity room; /* capacity of each chunk in rotation */
    size_t result_depth;
    size_t sum_depth;
    float *sums[APS_SUM_DEPTH]; /* sums of an owner, in host memory; owned */
    size_t sum;                 /* elements that a sum has room for */
};

/*
 * COLLECTIVE over groups->group, whose ranks share a machine. Creates the
 * buffers. Chunks are equally long in all groups, and have no room for more
 * FP32 values than a vector of `longest` elements has. There is room for codecs
 * with a granule of at most `granule` (pipeline_sizes.h), and for the sums of
 * chunks, which are longer for narrower codecs (aps_chunk_capacity_sum).
 * `narrow` is the same on all ranks. Returns 0, -1 with a cause, or an MPI error
 * code, on all ranks or on some. The caller calls aps_chunk_buffers_clear in any
 * case.
 */
int aps_chunk_buffers_init(struct aps_chunk_buffers *slots,
                           const struct aps_groups *groups, size_t longest,
                           size_t granule, bool narrow, char *cause,
                           size_t size);

/*
 * Local. Describes buffers in GPU memory that correspond to `host`;
 * aps_gpu_ipc_meet allocates them. With several groups the results stay in host
 * memory, and chunks are as long as the host's. Returns 0, or -1 if out of
 * memory.
 */
int aps_chunk_buffers_init_devices(struct aps_chunk_buffers *slots,
                                   const struct aps_chunk_buffers *host);

/* Local. Frees the buffers of `host` and `devices`. Callers must set the
 * structures to zeros before initialising them. */
void aps_chunk_buffers_clear(struct aps_chunk_buffers *host,
                             struct aps_chunk_buffers *devices);

/* Addresses of chunk c, which counts over all calls and layouts: the slice of
 * `owner` in the slot of `rank`; its result, with the parts of the groups at
 * part_stride; and this owner's sum. */
unsigned char *aps_chunk_buffers_slice(const struct aps_chunk_buffers *slots,
                                       const struct aps_chunk_layout *layout,
                                       size_t c, int rank, int owner);
unsigned char *aps_chunk_buffers_result(const struct aps_chunk_buffers *slots,
                                        const struct aps_chunk_layout *layout,
                                        size_t c, int owner);
float *aps_chunk_buffers_sum(const struct aps_chunk_buffers *slots, size_t c);

/* Headers in `host` while the blocks of chunk c lie in GPU memory: of the slice
 * of `owner` in the slot of `rank`, and of its result. They lie in place of
 * those blocks. */
struct aps_block_header *
aps_chunk_buffers_slice_header(const struct aps_chunk_buffers *host, size_t c,
                               int rank, int owner);
struct aps_block_header *
aps_chunk_buffers_result_header(const struct aps_chunk_buffers *host, size_t c,
                                int owner);

#endif
