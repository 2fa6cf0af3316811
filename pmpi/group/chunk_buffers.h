/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the chunks of a reduction inside a group lie while it is under way: a
 * slot a rank, one slice an owner; the results of every owner, one part a
 * group; and this rank's sums. All are used by turns, so that they hold some
 * chunks at a time. Either in the host's shared memory, or in the GPUs'
 * (gpu_ipc.h).
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
    struct aps_shm_group *node; /* owned: by the peers, if there are any */
    struct aps_gpu_ipc *peers;  /* owned; NULL: the host's */
    int owners;                 /* ranks of a group that own a slice */
    int parts;                  /* of a result */
    int results;                /* of so many owners lie in one place: of all,
                                   or, with peers, of one */
    size_t granule;             /* of codecs, at most */
    struct aps_chunk_capacity room; /* of each turn */
    size_t result_depth;
    size_t sum_depth;
    float *sums[APS_SUM_DEPTH]; /* the host's, of an owner; owned */
    size_t sum;                 /* elements that a sum has room for */
};

/*
 * COLLECTIVE over groups->group, whose ranks share a machine; chunks are
 * equally long in all groups, and have no room for more FP32 values than a vector of
 * `longest` elements has. There is room for codecs whose granule is `granule` at most
 * (pipeline_sizes.h), and for the sums of chunks that are the longer the narrower the
 * codec (aps_chunk_capacity_sum); `narrow` is the same on all ranks.
 * 0, or -1 with a cause, on all ranks or only on some: aps_chunk_buffers_clear is due
 * in any case.
 */
int aps_chunk_buffers_init(struct aps_chunk_buffers *slots,
                           const struct aps_groups *groups, size_t longest,
                           size_t granule, bool narrow, char *cause,
                           size_t size);

/*
 * Local. The same buffers in GPU memory, beside those of `host`; they are not
 * allocated yet (aps_gpu_ipc_meet). With several groups the results stay in host
 * memory, and chunks are as long as the host's. 0, or -1: out of memory.
 */
int aps_chunk_buffers_init_devices(struct aps_chunk_buffers *slots,
                                   const struct aps_chunk_buffers *host);

/* Local. Of both, which must have been zeros before they were initialised. */
void aps_chunk_buffers_clear(struct aps_chunk_buffers *host,
                             struct aps_chunk_buffers *devices);

/* Of chunk c, counted over all calls, however each was laid out: the slice of
 * `owner` in the slot of `rank`; its result, one part a group at part_stride;
 * and this owner's sum. */
unsigned char *aps_chunk_buffers_slice(const struct aps_chunk_buffers *slots,
                                       const struct aps_chunk_layout *layout,
                                       size_t c, int rank, int owner);
unsigned char *aps_chunk_buffers_result(const struct aps_chunk_buffers *slots,
                                        const struct aps_chunk_layout *layout,
                                        size_t c, int owner);
float *aps_chunk_buffers_sum(const struct aps_chunk_buffers *slots, size_t c);

/* Of `host`, while the blocks of chunk c lie in GPUs' memory: the headers of the
 * slice of `owner` in the slot of `rank`, and of its result. They take the place of
 * those blocks. */
struct aps_block_header *
aps_chunk_buffers_slice_header(const struct aps_chunk_buffers *host, size_t c,
                               int rank, int owner);
struct aps_block_header *
aps_chunk_buffers_result_header(const struct aps_chunk_buffers *host, size_t c,
                                int owner);

#endif
