/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of PowerSGD (Vogels, Karimireddy, Jaggi: PowerSGD: Practical
 * Low-Rank Gradient Compression for Distributed Optimization, NeurIPS 2019,
 * Algorithm 1). A step of a layer M is
 *
 *     aps_lowrank_prepare   Q, orthonormal: the last step's, or drawn
 *     aps_lowrank_left      P = M Q, which all ranks add up
 *     aps_lowrank_orthogonalise   of P's sum
 *     aps_lowrank_right     Q = M^T P, which all ranks add up
 *     aps_lowrank_restore   P Q^T: the sum of all ranks' M, in rank `rank`
 *
 * A factor lies column by column: column k of P begins at p + k * rows, one of Q
 * at q + k * columns. Its first columns are thus a factor of a lower rank. No
 * array may overlap another except where it says so.
 *
 * All results have the same bits on every machine, for the same arguments, and
 * depend neither on the floating point environment nor on the CPU
 * (lowrank_variant.h has the order of the sums). NaN have no fixed payload.
 */
#ifndef APS_COMPRESS_LOWRANK_H
#define APS_COMPRESS_LOWRANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/matrix.h"

/* The most columns of a factor: less where the matrix has fewer rows or
 * columns. */
size_t aps_lowrank_rank(const struct aps_matrix *matrix, size_t rank);

/* --- factors ------------------------------------------------------------- */

/* What random factors are a function of. */
struct aps_lowrank_seed {
    uint64_t seed; /* the job's */
    uint32_t layer;
    uint32_t step;
};

/*
 * Columns first ... first + columns - 1 of q, a factor of columns of n elements,
 * become independent draws from N(0, 1): a function of the seed and of the places
 * of an element's row and column (aps.h, stochastic rounding: the bits of all
 * ranks, stage 2^32 - 1). Where the rank goes up, the new columns are drawn; where
 * it goes down, the first ones stay.
 */
void aps_lowrank_draw(size_t n, size_t first, size_t columns,
                      const struct aps_lowrank_seed *seed, float *q);

/*
 * Make the `rank` columns of n elements orthonormal, in place: modified
 * Gram-Schmidt in FP64. A column of which less than a 10^-6th is left, once its
 * parts along the columns before it are gone, becomes 0: FP32 sums leave no more
 * than noise there. No constant is added to any norm, so that columns of any
 * magnitude do (the published code adds 1e-8, and loses gradients of 1e-4).
 * `room` has aps_lowrank_room(n, rank) elements. Returns the number of columns
 * that are not 0.
 */
size_t aps_lowrank_room(size_t n, size_t rank);
size_t aps_lowrank_orthogonalise(size_t n, size_t rank, float *x, double *room);

/*
 * Orthonormal columns to begin a step with: aps_lowrank_orthogonalise, and where
 * columns are 0, random ones in their place. A column of zeros would otherwise
 * remain 0 for ever: a Q that goes on from step to step would never again have
 * more columns than the matrix of the poorest step. rank <= n.
 */
void aps_lowrank_prepare(size_t n, size_t rank,
                         const struct aps_lowrank_seed *seed, float *q,
                         double *room);

/* --- products ------------------------------------------------------------ */

/*
 * p = m q. With an element of m that is INF or NaN, p has one, too: of the two
 * only p need be looked at (compress/finite.h).
 */
void aps_lowrank_left(const struct aps_matrix *matrix, size_t rank,
                      const float *m, const float *q, float *p);

/*
 * delta = g + e, and p = delta q, in one pass. delta may be g, or e; it is written
 * whether or not its elements are finite.
 */
void aps_lowrank_left_feedback(const struct aps_matrix *matrix, size_t rank,
                               const float *g, const float *e, float *delta,
                               const float *q, float *p);

/* q = m^T p. */
void aps_lowrank_right(const struct aps_matrix *matrix, size_t rank,
                       const float *m, const float *p, float *q);

/*
 * Is p q^T finite whatever p is, if its columns are orthonormal? Where an element of q
 * exceeds FLT_MAX / (2 rank), or is not finite, that is not known: false. (No element
 * of p q^T exceeds the sum of the magnitudes of a row of q; the factor of 2 is for
 * roundings.)
 */
bool aps_lowrank_is_restorable(const struct aps_matrix *matrix, size_t rank,
                               const float *q);

/* out = p q^T, of the matrix's elements that there are. */
void aps_lowrank_restore(const struct aps_matrix *matrix, size_t rank,
                         const float *p, const float *q, float *out);

/*
 * out = p q^T, and residual = delta - share * out, in one pass: with a share of 1
 * / ranks, what a rank's delta has more than the mean that is handed out. delta
 * may be out, or residual.
 */
void aps_lowrank_restore_feedback(const struct aps_matrix *matrix, size_t rank,
                                  const float *p, const float *q, float share,
                                  const float *delta, float *out,
                                  float *residual);

#endif
