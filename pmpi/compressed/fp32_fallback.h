/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages of all compressors share. */
#ifndef APS_PMPI_COMPRESSED_FP32_FALLBACK_H
#define APS_PMPI_COMPRESSED_FP32_FALLBACK_H

#include "compress/bracket.h"
#include "compressed/compressed.h"

/*
 * COLLECTIVE over the reductions' communicator. Reduces the layers whose `whole` is
 * set in FP32, so that INF and NaN reach the result at their own elements. `rc` is
 * the MPI error code of the call so far; after an error nothing is reduced. Returns
 * an MPI error code: rc, or that of this reduction.
 */
int aps_compressed_reduce_fp32(const struct aps_compressed_env *site, int rc,
                               int count, const struct aps_compressed layers[],
                               struct aps_cost *cost);

/* The plan in full floats. */
struct aps_plan aps_compressed_fp32_plan(const struct aps_plan *plan);

/*
 * Write the layer's `delta` (with feedback), and which of its elements the plan's
 * compressor selects: indices[k], ascending. Returns how many, or -1 if not all
 * elements are finite.
 * The bracket is made in `work`, of aps_compressed_work(k, count) bytes, and says
 * what the elements are of.
 */
long aps_compressed_select(const struct aps_compressor *compressor,
                           const struct aps_compressed *layer, size_t k,
                           void *work, struct aps_bracket *bracket,
                           uint32_t *indices);

/* A multiple of 16. */
size_t aps_compressed_work(size_t k, size_t count);

/* How many of n elements the compressor selects at most; of none, none. And the work
 * for slices of n elements or one less, of which it selects so many. */
size_t aps_compressed_k(const struct aps_compressor *compressor, size_t n);
size_t aps_compressed_work_slices(const struct aps_compressor *compressor,
                                  size_t n);

/* The number of a vector that travels for a layer: `part` tells those of a layer
 * apart. */
uint64_t aps_compressed_number(const struct aps_compressed *layer,
                               unsigned part);

#endif
