/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct reduction across ranks: every rank owns a slice; encoded slices go
 * to their owner, which sums them in rank order in FP32, encodes the sum once
 * and sends it to all. Two roundings, whatever the number of ranks.
 */
#ifndef APS_PMPI_DIRECT_H
#define APS_PMPI_DIRECT_H

#include <mpi.h>
#include <stddef.h>

#include "block.h"

struct aps_direct; /* opaque: a communicator and scratch for one chunk */

/*
 * For up to `chunk` elements at a time over `comm`, an internal communicator
 * that is not owned. Local; NULL when out of memory.
 */
struct aps_direct *aps_direct_create(MPI_Comm comm, size_t chunk);
void aps_direct_destroy(struct aps_direct *direct); /* NULL: nothing */

/*
 * COLLECTIVE over the communicator. Agree on the stage's scale exponent for a
 * layer whose greatest finite magnitude is `max` on this rank (APS, N = ranks
 * of this communicator). An MPI error code.
 */
int aps_direct_exponent(struct aps_direct *direct, const struct aps_wire *wire,
                        float max, int *exponent);

/*
 * COLLECTIVE over the communicator. Reduce in[n], n <= chunk, in the memory
 * `memory`, to one encoded block a rank: block i holds slice i (aps_slice_of)
 * of the result and goes to blocks + i * stride. All ranks get the same bytes.
 * An MPI error code.
 */
int aps_direct_exchange(struct aps_direct *direct, const struct aps_wire *wire,
                        const struct aps_memory *memory, const float *in,
                        size_t n, int exponent, unsigned char *blocks,
                        size_t stride, struct aps_cost *cost);

/* COLLECTIVE over the communicator. The reduction `direct`: in[n] to out[n],
 * which may be the same. An MPI error code. */
int aps_direct_run(struct aps_direct *direct, const struct aps_wire *wire,
                   const float *in, float *out, size_t n,
                   struct aps_cost *cost);

#endif
