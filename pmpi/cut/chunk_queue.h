/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes slices of a piece together on a device, through a queue of blocks
 * (block/block_queue.h).
 */
#ifndef APS_PMPI_CUT_CHUNK_QUEUE_H
#define APS_PMPI_CUT_CHUNK_QUEUE_H

#include <stdbool.h>

#include "block/block_queue.h"
#include "cut/chunk.h"

/* This rank's values in slices of a piece, one block for each owner. */
struct aps_chunk_queue {
    const struct aps_piece *piece;
    int rank;   /* this rank, which rounds */
    int ranks;  /* ranks of the stage */
    int owners; /* number of slices */
    struct aps_cost *cost;
    /* Return the block of an owner, and its header. `state` is passed to both. */
    unsigned char *(*block)(const void *state, int owner);
    struct aps_block_header *(*header)(const void *state, int owner);
    const void *state;
    bool in_band; /* true if headers are written into their blocks */
};

/* Encodes the slices and runs the queue. Waits once for each APS_DEVICE_STEPS
 * steps, once more if the wire measures, and once more if headers lie in their
 * blocks and the format has a marker. */
void aps_chunk_queue_encode(struct aps_block_queue *queue,
                            const struct aps_chunk_queue *slices);

#endif
