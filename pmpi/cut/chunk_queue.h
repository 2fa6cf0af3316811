/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices of a piece that a device encodes together, through a queue of blocks
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
    int rank;   /* this rank, whose rounding it is */
    int ranks;  /* ranks of the stage */
    int owners; /* slices */
    struct aps_cost *cost;
    /* Return the block of an owner, and its header; `state` is passed on. */
    unsigned char *(*block)(const void *state, int owner);
    struct aps_block_header *(*header)(const void *state, int owner);
    const void *state;
    bool in_band; /* headers are put into their blocks */
};

/* Encodes the slices and runs the queue: one wait for each APS_DEVICE_STEPS steps,
 * another one if the wire measures, and another one if headers are in their blocks
 * and the format has a marker. */
void aps_chunk_queue_encode(struct aps_block_queue *queue,
                            const struct aps_chunk_queue *slices);

#endif
