/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in host memory that are encoded together, or decoded together: those of
 * values in a GPU's memory are waited for once (struct aps_memory: run). Where the
 * memory of the values has no such verb, as the host's, each block is done at once.
 */
#ifndef APS_PMPI_BLOCK_BLOCK_BATCH_H
#define APS_PMPI_BLOCK_BLOCK_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"

/* They are run when there is no room for more, and whenever the caller says so. What
 * they were given must stay until then. */
struct aps_blocks {
    const struct aps_wire *wire;
    struct aps_cost *cost; /* of the blocks that are encoded */
    size_t count;          /* that wait: of one verb, and of one memory */
    struct aps_device_step steps[APS_DEVICE_STEPS];
    const struct aps_memory *memory;
    struct aps_block values[APS_DEVICE_STEPS]; /* to encode */
    unsigned char *to[APS_DEVICE_STEPS];
};

/* None. `cost` may be NULL where no block is encoded. */
void aps_blocks_begin(struct aps_blocks *blocks, const struct aps_wire *wire,
                      struct aps_cost *cost);

/* The exponent used is noted in *cost. */
void aps_blocks_encode(struct aps_blocks *blocks, const struct aps_block *block,
                       unsigned char *to);

/* Like aps_block_decode. The block is read by the end of the run. */
void aps_blocks_decode(struct aps_blocks *blocks,
                       const struct aps_memory *memory,
                       const unsigned char *block, size_t n, float *x);

/* Decodes one block a slice, of all `parts` slices, to x[n]: block i lies at from + i
 * * stride. */
void aps_blocks_decode_slices(struct aps_blocks *blocks,
                              const struct aps_memory *memory, int parts,
                              const unsigned char *from, size_t stride,
                              size_t n, float *x);

/* Encodes or decodes all that wait. One wait for a GPU, and another one where the
 * wire measures values before it encodes them. */
void aps_blocks_run(struct aps_blocks *blocks);

#endif
