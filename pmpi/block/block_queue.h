/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in a device's memory that are encoded and decoded together: queued
 * steps run in order, and share one wait. Their headers lie in host memory.
 * Inside a node all ranks that read the blocks see that memory, so no rank
 * reads a header from the device. If blocks are sent from the device's memory,
 * separate steps put headers there and get them.
 */
#ifndef APS_PMPI_BLOCK_BLOCK_QUEUE_H
#define APS_PMPI_BLOCK_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "block/block.h"

/* A queue runs when it is full, and when the caller runs it. */
struct aps_block_queue {
    /* has a device; *wire->lost is set if a step fails */
    const struct aps_wire *wire;
    size_t count;
    struct aps_device_step steps[APS_DEVICE_STEPS];
    /* Destinations of what a step finds: `headers` for a step that encodes or
     * gets a header, `magnitudes` for one that measures; otherwise NULL. */
    struct aps_block_header *headers[APS_DEVICE_STEPS];
    struct aps_magnitude *magnitudes[APS_DEVICE_STEPS];
};

/* Empties the queue. */
void aps_block_queue_begin(struct aps_block_queue *queue,
                           const struct aps_wire *wire);

/* Queues the encoding of a block, like aps_block_encode. Its `known` must be
 * exact if the wire measures. *header is complete after the run. */
int aps_block_queue_encode(struct aps_block_queue *queue,
                           const struct aps_block *block,
                           struct aps_block_header *header, unsigned char *to);

/* Queues x[n] = the block's values, or with `add` x[n] += them. The header is
 * read at once. */
void aps_block_queue_decode(struct aps_block_queue *queue,
                            const struct aps_block_header *header,
                            const unsigned char *block, size_t n, bool add,
                            float *x);

/* Queues the measurement of x[n]. *magnitude is valid after the run; {0,
 * false}: it could not be measured. */
void aps_block_queue_measure(struct aps_block_queue *queue, const void *x,
                             size_t n, struct aps_magnitude *magnitude);

/* Queue the writing of a header, complete as it is now, to the begin of its
 * block, and the reading of it from there. aps_block_queue_get sets *header
 * after the run. */
void aps_block_queue_put(struct aps_block_queue *queue,
                         const struct aps_block_header *header,
                         unsigned char *block);
void aps_block_queue_get(struct aps_block_queue *queue,
                         const unsigned char *block,
                         struct aps_block_header *header);

/* Runs all queued steps. The queue is empty afterwards. */
void aps_block_queue_run(struct aps_block_queue *queue);

#endif
