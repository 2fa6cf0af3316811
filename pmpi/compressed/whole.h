/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages of all compressors share. */
#ifndef APS_PMPI_COMPRESSED_WHOLE_H
#define APS_PMPI_COMPRESSED_WHOLE_H

#include "compress/bracket.h"
#include "compressed/compressed.h"

/*
 * COLLECTIVE over the reductions' communicator. Reduce those of the layers that
 * are `whole` in full floats, so that an INF or a NaN arrives in its place. `rc` is
 * what has become of the call on this rank: after an error it does not know which
 * these are, and says so; then no rank reduces any. An MPI error code: rc, or the
 * first one here.
 */
int aps_compressed_reduce_whole(const struct aps_compressed_site *site, int rc,
                                int count, const struct aps_compressed layers[],
                                struct aps_cost *cost);

/* The plan in full floats. */
struct aps_plan aps_compressed_full(const struct aps_plan *plan);

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
