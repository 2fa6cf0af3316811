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

/* What a block is made of. */
struct aps_block_values {
    const struct aps_memory *memory;
    const float *x; /* [n] */
    size_t n;
    struct aps_origin origin;
    int exponent; /* the stage's */
    /* What no value is greater than, and whether all are known to be finite; {0,
     * false}: nobody knows. */
    struct aps_magnitude bound;
    /* Of what was added, where x are sums that nobody has measured; else NULL. */
    const struct aps_scale_record *contributions;
};

/* At once. Returns the exponent used. */
int aps_block_values_encode(const struct aps_wire *wire,
                            const struct aps_block_values *values,
                            unsigned char *block);

/* A batch is run when it is full, and whenever the caller says so. What it was
 * given must stay until then. */
struct aps_block_batch {
    const struct aps_wire *wire;
    struct aps_cost *cost; /* of what is encoded */
    size_t count;          /* that wait: of one verb, and of one memory */
    struct aps_device_step steps[APS_DEVICE_STEPS];
    const struct aps_memory *memory;
    struct aps_block_values values[APS_DEVICE_STEPS]; /* to encode */
    unsigned char *blocks[APS_DEVICE_STEPS];
};

/* Empty. `cost` may be NULL where nothing is encoded. */
void aps_block_batch_begin(struct aps_block_batch *batch,
                           const struct aps_wire *wire, struct aps_cost *cost);

/* The exponent used is noted in *cost. */
void aps_block_batch_encode(struct aps_block_batch *batch,
                            const struct aps_block_values *values,
                            unsigned char *block);

/* As aps_block_decode; what is in the block is read by the end of the run. */
void aps_block_batch_decode(struct aps_block_batch *batch,
                            const struct aps_memory *memory,
                            const unsigned char *block, size_t n, float *x);

/* One block a slice, of all `parts` slices, to x[n]: block i lies at blocks + i *
 * stride. */
void aps_block_batch_decode_slices(struct aps_block_batch *batch,
                                   const struct aps_memory *memory, int parts,
                                   const unsigned char *blocks, size_t stride,
                                   size_t n, float *x);

/* Do all that waits; the batch is empty then. One wait for a GPU, and another one
 * where the wire measures what is encoded. */
void aps_block_batch_run(struct aps_block_batch *batch);

#endif
