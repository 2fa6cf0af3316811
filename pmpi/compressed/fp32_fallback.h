/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the messages of all compressors share. */
#ifndef APS_PMPI_COMPRESSED_FP32_FALLBACK_H
#define APS_PMPI_COMPRESSED_FP32_FALLBACK_H

#include "compress/bracket.h"
#include "compressed/compressed.h"

/*
 * COLLECTIVE over the reductions' communicator. Reduces the layers whose
 * `fp32_fallback` is set in FP32, so that INF and NaN reach the result at their
 * own elements. `rc` is the MPI error code of the call so far; after an error
 * nothing is reduced. Returns `rc` or the MPI error code of this reduction.
 */
int aps_compressed_reduce_fp32(const struct aps_compressed_env *site, int rc,
                               int count, const struct aps_compressed layers[],
                               struct aps_cost *cost);

/* Returns the plan with the format FP32. */
struct aps_plan aps_compressed_fp32_plan(const struct aps_plan *plan);

/*
 * Writes the layer's `delta` (with feedback), and the elements that the plan's
 * compressor selects: indices[k], ascending. Returns their number, or -1 if not
 * all elements are finite. The bracket is built in `work`, of
 * aps_compressed_work(k, count) bytes, and describes the elements.
 */
long aps_compressed_select(const struct aps_compressor *compressor,
                           const struct aps_compressed *layer, size_t k,
                           void *work, struct aps_bracket *bracket,
                           uint32_t *indices);

/* Returns the bytes of work for k of `count` elements, a multiple of 16. */
size_t aps_compressed_work(size_t k, size_t count);

/* aps_compressed_k returns the most elements that the compressor selects of n;
 * 0 if n is 0. aps_compressed_work_slices returns the bytes of work for slices
 * of n elements or one fewer, with that selection. */
size_t aps_compressed_k(const struct aps_compressor *compressor, size_t n);
size_t aps_compressed_work_slices(const struct aps_compressor *compressor,
                                  size_t n);

/* Returns the number of a vector that travels for a layer. `part` distinguishes
 * the vectors of a layer. */
uint64_t aps_compressed_number(const struct aps_compressed *layer,
                               unsigned part);

#endif
