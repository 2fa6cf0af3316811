/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "group/chunk_buffers.h"

#include <stdlib.h>

#include "base/cache.h"
#include "block/block.h"
#include "wire/pipeline_sizes.h"
#include "wire/buffer_depth.h"

#define CHUNK_UNIT APS_CODEC_GRANULE

/* In GPU memory a single group needs fewer results and longer chunks. A wait
 * for a kernel takes some 10 us and a chunk has a few waits; a GPU encodes a
 * million elements in that time. These are estimates, not measurements. A
 * rank's region must not take memory that the program will miss: with room for
 * FP32 a chunk of 4 Mi elements takes 40 to 64 MiB with 8 to 2 owners. */
#define DEVICE_CHUNK ((size_t)4 * 1024 * 1024)
#define DEVICE_BYTES ((size_t)65 * 1024 * 1024)

/* --- lengths ------------------------------------------------------------- */

static size_t buffers_slot_bytes(const struct aps_chunk_buffers *slots)
{
    return APS_SLOT_DEPTH * slots->room.slot_bytes;
}

static size_t buffers_result_bytes(const struct aps_chunk_buffers *slots)
{
    return slots->result_depth * slots->room.result_bytes;
}

static void buffers_set_chunk(struct aps_chunk_buffers *slots, size_t chunk)
{
    slots->room =
        aps_chunk_capacity_of(slots->owners, slots->parts, slots->results,
                              chunk / CHUNK_UNIT * CHUNK_UNIT, slots->granule);
}

/* Sets the length of chunks, the same in all groups. */
static void buffers_choose_chunk(struct aps_chunk_buffers *slots, int ranks,
                                 size_t longest)
{
    buffers_set_chunk(
        slots, aps_pipeline_group_elements(slots->owners, slots->parts, ranks));
    if (slots->room.chunk > longest)
        buffers_set_chunk(slots, longest + CHUNK_UNIT - 1);
}

/* --- host memory --------------------------------------------------------- */

static int buffers_allocate_sums(struct aps_chunk_buffers *slots)
{
    for (size_t i = 0; i < slots->sum_depth; i++) {
        /* Codecs add into whole cache lines, so that no line belongs to two
         * sums. */
        slots->sums[i] = aligned_alloc(
            APS_CACHE_LINE, aps_block_aligned(slots->sum * sizeof(float)));
        if (!slots->sums[i])
            return -1;
    }
    return 0;
}

int aps_chunk_buffers_init(struct aps_chunk_buffers *slots,
                           const struct aps_groups *groups, size_t longest,
                           size_t granule, bool narrow, char *cause,
                           size_t size)
{
    int rc;

    *slots = (struct aps_chunk_buffers){
        .owners = groups->smallest,
        .parts = groups->groups,
        .results = groups->smallest,
        .granule = granule,
        .result_depth = groups->groups > 1 ? APS_RESULT_DEPTH
                                           : APS_SINGLE_GROUP_RESULT_DEPTH,
        .sum_depth =
            groups->groups > 1 ? APS_SUM_DEPTH : APS_SINGLE_GROUP_SUM_DEPTH,
    };
    buffers_choose_chunk(slots, groups->largest, longest);
    slots->sum = aps_chunk_capacity_sum(&slots->room, narrow);
    aps_gpu_ipc_destroy_closed(); /* frees shared memory, which may be short */
    rc = aps_shm_group_create(&groups->group, buffers_slot_bytes(slots),
                              buffers_result_bytes(slots), &slots->node, cause,
                              size);
    if (rc != MPI_SUCCESS)
        return rc;
    return aps_shm_group_rank(slots->node) < slots->owners &&
                   buffers_allocate_sums(slots) < 0
               ? MPI_ERR_NO_MEM
               : MPI_SUCCESS;
}

/* --- GPU memory ----------------------------------------------------------- */

/* Offsets in a rank's region: its sums, its slot, the results of its slice. */
static size_t buffers_region_sums(const struct aps_chunk_buffers *slots)
{
    return slots->sum_depth * aps_block_stride_widest(slots->sum);
}

static size_t buffers_region_bytes(const struct aps_chunk_buffers *slots)
{
    return buffers_region_sums(slots) + APS_BLOCK_SKEW +
           buffers_slot_bytes(slots) + buffers_result_bytes(slots);
}

static void buffers_set_device_chunk(struct aps_chunk_buffers *slots,
                                     size_t chunk)
{
    buffers_set_chunk(slots, chunk);
    slots->sum = aps_chunk_capacity_sum(&slots->room, false);
}

int aps_chunk_buffers_init_devices(struct aps_chunk_buffers *slots,
                                   const struct aps_chunk_buffers *host)
{
    const bool alone = host->parts == 1;
    /* The longest chunk in host memory in a format whose blocks depend on where
     * a vector is cut. Vectors in GPU memory are cut in the same way. */
    const size_t least =
        (size_t)host->owners * aps_chunk_capacity_sum(&host->room, false);

    *slots = (struct aps_chunk_buffers){
        .node = host->node,
        .owners = host->owners,
        .parts = host->parts,
        .results = 1,
        .granule = host->granule,
        .result_depth = alone ? APS_DEVICE_RESULT_DEPTH : 0,
        .sum_depth = APS_SUM_DEPTH,
    };
    buffers_set_device_chunk(slots, alone ? DEVICE_CHUNK : host->room.chunk);
    while (slots->room.chunk / 2 >= least &&
           buffers_region_bytes(slots) > DEVICE_BYTES)
        buffers_set_device_chunk(slots, slots->room.chunk / 2);
    slots->peers = aps_gpu_ipc_create(slots->node, buffers_region_bytes(slots));
    return slots->peers ? 0 : -1;
}

void aps_chunk_buffers_clear(struct aps_chunk_buffers *host,
                             struct aps_chunk_buffers *devices)
{
    if (devices->peers)
        aps_gpu_ipc_destroy(devices->peers); /* destroys the node too */
    else
        aps_shm_group_destroy(host->node);
    for (int i = 0; i < APS_SUM_DEPTH; i++)
        free(host->sums[i]);
}

/* --- positions ------------------------------------------------------------ */

/* Returns the address of a rank's slot. */
static unsigned char *buffers_slot_of(const struct aps_chunk_buffers *slots,
                                      int rank)
{
    if (slots->peers)
        return aps_gpu_ipc_region(slots->peers, rank) +
               buffers_region_sums(slots) + APS_BLOCK_SKEW;
    return aps_shm_group_slot(slots->node, rank);
}

unsigned char *aps_chunk_buffers_slice(const struct aps_chunk_buffers *slots,
                                       const struct aps_chunk_layout *layout,
                                       size_t c, int rank, int owner)
{
    const size_t turn = c % APS_SLOT_DEPTH;

    return buffers_slot_of(slots, rank) + turn * slots->room.slot_bytes +
           (size_t)owner * layout->slice_stride;
}

unsigned char *aps_chunk_buffers_result(const struct aps_chunk_buffers *slots,
                                        const struct aps_chunk_layout *layout,
                                        size_t c, int owner)
{
    const size_t turn = c % slots->result_depth;
    unsigned char *results =
        slots->peers ? buffers_slot_of(slots, owner) + buffers_slot_bytes(slots)
                     : aps_shm_group_result(slots->node) +
                           (size_t)owner * layout->owner_stride;

    return results + turn * slots->room.result_bytes;
}

float *aps_chunk_buffers_sum(const struct aps_chunk_buffers *slots, size_t c)
{
    const size_t turn = c % slots->sum_depth;

    if (slots->peers)
        return (float *)(void *)(aps_gpu_ipc_region(
                                     slots->peers,
                                     aps_shm_group_rank(slots->node)) +
                                 turn * aps_block_stride_widest(slots->sum));
    return slots->sums[turn];
}

/* --- headers of blocks in GPUs' memory ------------------------------------ */

/* Layout of headers that are stored without their blocks. Every block has room
 * for such a header. */
static const struct aps_chunk_layout headers = {.slice_stride = 64,
                                                .owner_stride = 64};

struct aps_block_header *
aps_chunk_buffers_slice_header(const struct aps_chunk_buffers *host, size_t c,
                               int rank, int owner)
{
    return (struct aps_block_header *)(void *)aps_chunk_buffers_slice(
        host, &headers, c, rank, owner);
}

struct aps_block_header *
aps_chunk_buffers_result_header(const struct aps_chunk_buffers *host, size_t c,
                                int owner)
{
    return (struct aps_block_header *)(void *)aps_chunk_buffers_result(
        host, &headers, c, owner);
}
