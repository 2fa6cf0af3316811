/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: slice j of a chunk starts at rank j + 1, goes from rank to rank and
 * ends, summed, at its owner j; then the owners' results go round to all ranks.
 *
 *   accumulate: fp32    partial sums of the inputs are not encoded (FP32; FP64 for
 *                       wide formats), and only the finished slice is rounded
 *   accumulate: format  every input and every partial sum is cast to the format
 *                       and travels in it (the APS paper's ring)
 */
#ifndef APS_PMPI_REDUCE_RING_H
#define APS_PMPI_REDUCE_RING_H

#include <stddef.h>

#include "message/vcomm.h"
#include "reduce/algorithm.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "wire/buffer_depth.h"

struct aps_ring; /* opaque: a virtual communicator and scratch */

/*
 * Local. Creates a ring for slices of up to `elements` elements, and blocks and
 * partial sums of up to `bytes` bytes, over `vcomm`, which has two ranks or
 * more and is not owned. Returns NULL if out of memory.
 */
struct aps_ring *aps_ring_create(const struct aps_vcomm *vcomm, size_t elements,
                                 size_t bytes);

void aps_ring_destroy(struct aps_ring *ring); /* NULL is allowed */

/*
 * Local. aps_ring_begin comes before the first window of a call, and sets the
 * outcome of the call so far (messages.h).
 *
 * COLLECTIVE over vcomm. aps_ring_window reduces up to APS_RING_WINDOW chunks
 * at a time. If a chunk has several slices, its bytes and offsets refer to
 * slices. Returns the outcome of the call so far. After an error callers still
 * run all windows.
 */
void aps_ring_begin(struct aps_ring *ring, int outcome);
int aps_ring_window(struct aps_ring *ring, const struct aps_wire *wire,
                    int count, const struct aps_chunk *const chunks[],
                    struct aps_cost *cost);

/* `reduce: ring`. */
aps_algorithm_create_fn aps_ring_algorithm;

#endif
