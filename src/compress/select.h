/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects about the requested number of elements of an array, of the largest
 * magnitudes. The selected indices are ascending. `bracket` is the array after
 * the first pass (bracket.h), finite; if it was made for q = k + 1 (or n), a
 * selection is fastest. Every function gives the same result for every bracket,
 * with every instruction set and any amount of work memory.
 *
 * The arithmetic assumes the default floating point environment (round to
 * nearest, no flush to zero), which aps_fpenv_enter (base/fpenv.h) sets.
 */
#ifndef APS_COMPRESS_SELECT_H
#define APS_COMPRESS_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "aps.h"
#include "compress/bracket.h"

/* Samplings of MSTopK: Shi et al. (2020) take 30. */
#define APS_SELECT_SAMPLINGS 30

/* Result of MSTopK. */
struct aps_selection {
    size_t count;  /* selected: k, or 0 if all of x is 0 */
    double t1, t2; /* thresholds; INFINITY and 0 if no sampling gave one */
    size_t k1, k2; /* elements with |x| >= t1, and with |x| >= t2 */
    size_t start;  /* first selected of the k2 - k1 elements between */
};

/* Returns the k of n elements at a density: max(1, floor(density * n)), at most
 * n; 0 for none. */
size_t aps_select_count(double density, size_t n);

/*
 * MSTopK (Shi et al.: Towards Scalable Distributed Training of Deep Learning on
 * Public Cloud Clusters, MLSys 2021, section 3.1): a binary search between the
 * mean m and the maximum u of |x| for a threshold that k elements reach. With l
 * = 0, h = 1, k1 = 0, t1 = INFINITY, k2 = n, t2 = 0, 30 times:
 *
 *     b = l + (h - l) / 2;  t = m + b * (u - m);  c = number of |x| >= t
 *     if c <= k:  h = b;  if c > k1:  k1 = c, t1 = t
 *     else:       l = b;  if c < k2:  k2 = c, t2 = t
 *
 * in double, m = bracket->magnitudes.sum / n. Selects all elements with |x| >=
 * t1, and of those with t2 <= |x| < t1, in order, the k - k1 from number
 * `start` on, which is drawn from 0 ... (k2 - k1) - (k - k1): exactly k. The
 * published form begins with t1 = 0, which selects everything if no sampling
 * has c <= k. No threshold is below the mean: beyond the number of elements
 * that reach the mean, the choice is random.
 *
 * t1 and t2 are those of the loop above, but their elements are not counted: c
 * > k means that t is not above the (k + 1)-th largest |x|.
 *
 * The draw is floor(w * choices / 2^32), where w are the first bits of number
 * 2^65 that APS_RANK_ALL draws with the seed, layer, step and stage of
 * `options`: ranks with equal options draw equally.
 *
 * 1 <= k <= n; indices[k]. All of x = 0 selects nothing.
 */
void aps_select_mstopk(const struct aps_bracket *bracket, size_t k,
                       const struct aps_cast_options *options,
                       uint32_t *indices, struct aps_selection *selection);

/* Selects the k largest |x|, of equal ones those with the least indices. 1 <= k
 * <= n; indices[k]. Returns k, or 0 if all of x is 0. */
size_t aps_select_topk(const struct aps_bracket *bracket, size_t k,
                       uint32_t *indices);

/* Selects all with |x| >= threshold, or, if these are more than k, the elements
 * of aps_select_topk. 1 <= k <= n; indices[k]. Returns their number. */
size_t aps_select_threshold(const struct aps_bracket *bracket, float threshold,
                            size_t k, uint32_t *indices);

#endif
