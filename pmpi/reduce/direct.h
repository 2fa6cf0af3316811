/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct reduction across ranks. Every rank owns a slice; ranks send
 * encoded slices to their owner, which sums them in rank order, encodes the sum
 * once and sends it to all ranks. A value is rounded twice, for any number of
 * ranks.
 *
 * It works chunk by chunk in three stages, which callers run in a pipeline
 * (pipeline.h): send_contributions, reduce_slice, receive_results. Chunk number
 * k uses scratch number k % APS_DIRECT_DEPTH.
 */
#ifndef APS_PMPI_REDUCE_DIRECT_H
#define APS_PMPI_REDUCE_DIRECT_H

#include <stddef.h>

#include "device/device.h"
#include "message/vcomm.h"
#include "reduce/algorithm.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "cut/pipeline.h"

struct aps_direct; /* opaque: a virtual communicator and scratch */

/*
 * Local. Creates the stages for slices of up to `elements` elements and blocks
 * of up to `bytes` bytes over `vcomm`, which is not owned. Returns NULL if out
 * of memory.
 */
struct aps_direct *aps_direct_create(const struct aps_vcomm *vcomm,
                                     size_t elements, size_t bytes);

void aps_direct_destroy(struct aps_direct *direct); /* NULL is allowed */

/*
 * Local. aps_direct_begin comes first, and clears the outcome of the previous
 * call.
 *
 * COLLECTIVE over vcomm. Callers call the other functions in the order of k.
 * aps_direct_send_contributions sends this rank's contributions and posts all
 * receives. aps_direct_reduce_slice sums this rank's slice and sends the
 * result. aps_direct_receive_results waits for the results of the other ranks.
 * Each returns the outcome of the call so far, an MPI error code; after an
 * error callers still run all stages (messages.h).
 */
void aps_direct_begin(struct aps_direct *direct);
int aps_direct_send_contributions(struct aps_direct *direct,
                                  const struct aps_wire *wire, size_t k,
                                  const struct aps_chunk *chunk,
                                  struct aps_cost *cost);
int aps_direct_reduce_slice(struct aps_direct *direct,
                            const struct aps_wire *wire, size_t k,
                            const struct aps_chunk *chunk,
                            struct aps_cost *cost);
int aps_direct_receive_results(struct aps_direct *direct, size_t k);

/* Reports a stage that failed elsewhere: later messages are empty. */
void aps_direct_fail(struct aps_direct *direct, int rc);

/* `reduce: direct`; local. Messages are longer if MPI takes them from GPU memory
 * (params->devices). If the vectors of a call are in GPU memory, each rank decides
 * by itself to put its blocks there. */
aps_algorithm_create_fn aps_direct_algorithm;

#endif
