/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarse-grained sparsification (Sun, Feng, Han, Yan, Wen: Optimizing Network
 * Performance for Distributed DNN Training on GPU Clusters: ImageNet/AlexNet
 * Training in 1.5 Minutes, 2019, "GradientFlow").
 * An array is cut into chunks. Each rank computes the L1 norms of its chunks, and
 * the ranks add the norms up. All choose the same chunks of the greatest norms,
 * and reduce those densely.
 *
 * Chunk c of n elements is elements [c*size, (c+1)*size); the last one ends at
 * n. An array has at most 2^32 - 1 chunks.
 */
#ifndef APS_COMPRESS_CHUNKS_H
#define APS_COMPRESS_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "compress/bracket.h"

/* Returns the number of chunks of `size` elements in n. */
size_t aps_chunks_count(size_t n, size_t size);

/* norms[aps_chunks_count] = each chunk's sum of |x|, computed in double in the
 * order of magnitudes.h and rounded to float. x is finite; a norm beyond the
 * floats is the greatest float. */
void aps_chunks_norms(const float *x, size_t n, size_t size, float *norms);

/*
 * Chooses the `keep` chunks of the greatest norms, the first ones of equal
 * norms; ascending. norms[count] are sums over the ranks: finite or INF, not
 * NaN, and not negative; INF counts as the greatest float. They are changed.
 * `work` has aps_bracket_room(count, keep) bytes. 1 <= keep <= count;
 * chosen[keep]. Returns the number of chosen chunks: keep, or 0 if all norms
 * are 0.
 */
size_t aps_chunks_choose(float *norms, size_t count, size_t keep,
                         const struct aps_bracket_work *work, uint32_t *chosen);

/* packed[] = the chosen chunks of x[n], one after the other. Returns the elements
 * packed: `size` for each chunk, or fewer for the last one of x. */
size_t aps_chunks_gather(const float *x, size_t n, size_t size,
                         const uint32_t *chosen, size_t keep, float *packed);

/* The inverse: the chosen chunks of x[n] from packed, and zeros elsewhere. */
void aps_chunks_scatter(const float *packed, size_t n, size_t size,
                        const uint32_t *chosen, size_t keep, float *x);

/* Sets x[n]'s chosen chunks to 0: the error memory loses the elements that were
 * sent. */
void aps_chunks_clear(float *x, size_t n, size_t size, const uint32_t *chosen,
                      size_t keep);

#endif
