/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct reduction across ranks: every rank owns a slice; encoded slices go
 * to their owner, which sums them in rank order, encodes the sum once and sends
 * it to all. Two roundings, whatever the number of ranks.
 *
 * It works chunk by chunk in three stages, which callers run in a pipeline
 * (pipeline.h): offer, turn, finish. Chunk number k uses scratch number
 * k % APS_DIRECT_DEPTH.
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
 * The stages for slices of up to `elements` elements and blocks of up to
 * `bytes` bytes over `vcomm`, a virtual communicator that is not owned. Local;
 * NULL when out of memory.
 */
struct aps_direct *aps_direct_create(const struct aps_vcomm *vcomm,
                                     size_t elements, size_t bytes);

/*
 * The same for aps_direct_run, which needs room for results, too. `devices`,
 * the same on all ranks: messages are longer where MPI takes them from GPUs'
 * memory. If the vectors of a call are there, blocks are, too: each rank sees
 * to that by itself. `granule` is as in pipeline_sizes.h.
 */
struct aps_direct *aps_direct_create_standalone(const struct aps_vcomm *vcomm,
                                                enum aps_devices devices,
                                                size_t granule);
void aps_direct_destroy(struct aps_direct *direct); /* NULL: nothing */

/*
 * Local, first: what went wrong in an earlier call is forgotten. Then COLLECTIVE
 * over vcomm, each, in the order of k: send our contributions and be ready for
 * all that comes; sum our slice and send the result; wait for the results of
 * the others. The outcome of the call so far, an MPI error code: after an error
 * the stages are gone through to the end (messages.h).
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

/* For a stage that fails elsewhere: what is sent from now on is empty. */
void aps_direct_fail(struct aps_direct *direct, int rc);

/* COLLECTIVE over vcomm. The reduction `direct`, as in algorithm.h. */
int aps_direct_run(struct aps_direct *direct, const struct aps_wire *wire,
                   int count, struct aps_vector vectors[],
                   struct aps_cost *cost);

/* `reduce: direct`. */
aps_algorithm_create_fn aps_direct_algorithm;

#endif
