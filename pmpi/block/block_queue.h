/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in a device's memory that are encoded and decoded together: what is
 * queued is done in order, and waited for once. Their headers lie in host memory,
 * which inside a node all ranks see that read the blocks, so that nobody asks the
 * device for a header. Where blocks are sent from the device's memory, headers are
 * put there, and got, as steps of their own.
 */
#ifndef APS_PMPI_BLOCK_BLOCK_QUEUE_H
#define APS_PMPI_BLOCK_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"

/* A queue is run when it is full, and whenever the caller says so. */
struct aps_block_queue {
    const struct aps_wire *wire; /* with a device; *wire->lost is set where a
                                    step fails */
    size_t count;
    struct aps_device_step steps[APS_DEVICE_STEPS];
    /* Who is told what a step finds: of one that encodes or gets a header, of one
     * that measures; else NULL. */
    struct aps_block_header *headers[APS_DEVICE_STEPS];
    struct aps_magnitude *magnitudes[APS_DEVICE_STEPS];
};

/* Empty. */
void aps_block_queue_begin(struct aps_block_queue *queue,
                           const struct aps_wire *wire);

/* Like aps_block_encode, of a block whose `known` is exact where the wire measures.
 * `header` is complete after the run. */
int aps_block_queue_encode(struct aps_block_queue *queue,
                           const struct aps_block *block,
                           struct aps_block_header *header, unsigned char *to);

/* x[n] = the block's values, or x[n] += them; the header is read at once. */
void aps_block_queue_decode(struct aps_block_queue *queue,
                            const struct aps_block_header *header,
                            const unsigned char *block, size_t n, bool add,
                            float *x);

/* *magnitude, after the run: {0, false} where it cannot be had. */
void aps_block_queue_measure(struct aps_block_queue *queue, const float *x,
                             size_t n, struct aps_magnitude *magnitude);

/* Write a header, complete as it is now, to the begin of its block; read it there,
 * to *header after the run. */
void aps_block_queue_put(struct aps_block_queue *queue,
                         const struct aps_block_header *header,
                         unsigned char *block);
void aps_block_queue_get(struct aps_block_queue *queue,
                         const unsigned char *block,
                         struct aps_block_header *header);

/* Do all that is queued; the queue is empty then. */
void aps_block_queue_run(struct aps_block_queue *queue);

#endif
