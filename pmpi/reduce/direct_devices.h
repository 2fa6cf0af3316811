/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of `direct` for blocks in the memory of a GPU, for direct.c alone.
 * MPI sends them from there, so that their headers are there, too. A chunk has one
 * piece. All blocks of a stage are queued and waited for together.
 *
 * A chunk costs a rank 5 waits for its GPU: one to encode, one for the headers of
 * what has come and one to add and encode, one for the headers of the results and
 * one to decode. With a format that has a marker 2 more, with a magnitude of each
 * block 2 more. All that up to some 30 ranks; for more, in proportion.
 */
#ifndef APS_PMPI_REDUCE_DIRECT_DEVICES_H
#define APS_PMPI_REDUCE_DIRECT_DEVICES_H

#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"
#include "cut/chunk.h"

struct aps_direct_devices; /* opaque: a queue, and headers */

/* For `size` ranks, of which this is `rank`. NULL: out of memory. */
struct aps_direct_devices *aps_direct_devices_create(int rank, int size);
void aps_direct_devices_destroy(struct aps_direct_devices *devices);

/* Memory of the GPU that `near` is in the memory of, where the stages work; NULL,
 * and a line says why. `devices` may be NULL: out of memory. */
void *aps_direct_devices_allocate(const struct aps_direct_devices *devices,
                                  const struct aps_device_memory *verbs,
                                  const float *near, size_t bytes);

/* Our values of all slices: rank i's block at outgoing + i * aps_chunk_stride, our
 * own at the same place of `own`. */
void aps_direct_devices_encode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk,
                               unsigned char *outgoing, unsigned char *own,
                               struct aps_cost *cost);

/* Our slice of all ranks, which lie as above, added in sum[] and encoded at
 * `to`. */
void aps_direct_devices_sum(struct aps_direct_devices *devices,
                            const struct aps_wire *wire,
                            const struct aps_chunk *chunk,
                            const unsigned char *incoming, float *sum,
                            unsigned char *to, struct aps_cost *cost);

/* All slices of the result, at chunk->blocks. */
void aps_direct_devices_decode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk);

#endif
