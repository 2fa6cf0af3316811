/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring: slice j of a chunk starts at rank j + 1, goes from rank to rank and
 * ends, summed, at its owner j; then the owners' results go round to all.
 *
 * accumulate: fp32    partial sums of the inputs travel as FP32, and the
 * finished
 *                     slice alone is rounded
 * accumulate: format  every input and every partial sum is cast to the format
 *                     and travels in it (the APS paper's ring)
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
 * For slices of up to `elements` elements, and blocks and partial sums of up to
 * `bytes` bytes, over `vcomm`, a virtual communicator of two ranks or more
 * that is not owned. Local; NULL when out of memory.
 */
struct aps_ring *aps_ring_create(const struct aps_vcomm *vcomm, size_t elements,
                                 size_t bytes);

/* The same for aps_ring_run; `granule` is as in pipeline_sizes.h. */
struct aps_ring *aps_ring_create_standalone(const struct aps_vcomm *vcomm,
                                            size_t granule);
void aps_ring_destroy(struct aps_ring *ring); /* NULL: nothing */

/*
 * Local, before the first window of a call: its outcome so far (messages.h).
 * Then COLLECTIVE over vcomm, up to APS_RING_WINDOW chunks at a time; with more
 * than one slice, their bytes and offsets are those of slices. The outcome of
 * the call so far; after an error all windows are gone through.
 */
void aps_ring_begin(struct aps_ring *ring, int outcome);
int aps_ring_window(struct aps_ring *ring, const struct aps_wire *wire,
                    int count, const struct aps_chunk *const chunks[],
                    struct aps_cost *cost);

/* COLLECTIVE over vcomm. The reduction `ring`, as in algorithm.h. */
int aps_ring_run(struct aps_ring *ring, const struct aps_wire *wire, int count,
                 struct aps_vector vectors[], struct aps_cost *cost);

/* `reduce: ring`. */
aps_algorithm_create_fn aps_ring_algorithm;

#endif
