/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of `direct` for blocks in GPU memory, for direct.c alone. MPI
 * sends the blocks from there, so their headers are there, too. A chunk has one
 * piece. All blocks of a stage are queued and waited for together.
 *
 * A chunk costs a rank 5 waits for its GPU: one to encode; one for the received
 * headers and one to add and encode; one for the headers of the results and one
 * to decode. A format with a marker costs 2 more, a magnitude of each block 2
 * more. These numbers hold up to some 30 ranks and grow in proportion beyond.
 */
#ifndef APS_PMPI_REDUCE_DIRECT_DEVICES_H
#define APS_PMPI_REDUCE_DIRECT_DEVICES_H

#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"
#include "cut/chunk.h"

struct aps_direct_devices; /* opaque: a queue, and headers */

/* Local. Creates the stages for `size` ranks and rank `rank`. Returns NULL if
 * out of memory. */
struct aps_direct_devices *aps_direct_devices_create(int rank, int size);
void aps_direct_devices_destroy(struct aps_direct_devices *devices);

/* Allocates memory on the GPU that holds `near`, for the stages. Returns NULL
 * and prints the cause as `rank` if that fails. `devices` may be
 * NULL, if it was out of memory. */
void *aps_direct_devices_allocate(const struct aps_direct_devices *devices,
                                  int rank,
                                  const struct aps_device_memory *verbs,
                                  const float *near, size_t bytes);

/* Encodes this rank's values of all slices: the block of rank i at outgoing + i
 * * aps_chunk_scratch_stride, this rank's own at the same offset in `own`. */
void aps_direct_devices_encode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk,
                               unsigned char *outgoing, unsigned char *own,
                               struct aps_cost *cost);

/* Adds this rank's slice of all ranks, laid out like `outgoing`, in sum[] and
 * encodes the sum at `to`. */
void aps_direct_devices_sum(struct aps_direct_devices *devices,
                            const struct aps_wire *wire,
                            const struct aps_chunk *chunk,
                            const unsigned char *incoming, float *sum,
                            unsigned char *to, struct aps_cost *cost);

/* Decodes all slices of the result, at chunk->blocks. */
void aps_direct_devices_decode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk);

#endif
