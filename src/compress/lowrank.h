/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of PowerSGD (Vogels, Karimireddy, Jaggi: PowerSGD: Practical
 * Low-Rank Gradient Compression for Distributed Optimization, NeurIPS 2019,
 * Algorithm 1). A step of a layer M is
 *
 *     aps_lowrank_prepare   Q, orthonormal: the last step's, or drawn
 *     aps_lowrank_left      P = M Q, which all ranks add up
 *     aps_lowrank_orthogonalise   P's sum
 *     aps_lowrank_right     Q = M^T P, which all ranks add up
 *     aps_lowrank_restore   P Q^T: the sum of all ranks' M, in rank `rank`
 *
 * A factor is stored column by column: column k of P begins at p + k * rows,
 * column k of Q at q + k * columns. Its first columns are thus a factor of a
 * lower rank. Arrays must not overlap except where a function allows it.
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

/* Returns the columns of a factor: `rank`, or fewer if the matrix has fewer
 * rows or columns. */
size_t aps_lowrank_rank(const struct aps_matrix *matrix, size_t rank);

/* --- factors ------------------------------------------------------------- */

/* Inputs of random factors. */
struct aps_lowrank_seed {
    uint64_t seed; /* seed of the job */
    uint32_t layer;
    uint32_t step;
};

/*
 * Fills columns first ... first + columns - 1 of q, a factor of columns of n
 * elements, with independent draws from N(0, 1): a function of the seed and of
 * an element's row and column (aps.h, stochastic rounding: the bits of all
 * ranks, stage 2^32 - 1). If the rank grows, the new columns are drawn; if it
 * shrinks, the first ones stay.
 */
void aps_lowrank_draw(size_t n, size_t first, size_t columns,
                      const struct aps_lowrank_seed *seed, float *q);

/*
 * Makes the `rank` columns of n elements orthonormal, in place: modified
 * Gram-Schmidt in FP64. A column becomes 0 if less than a 10^-6th of it is left
 * after its components along the earlier columns are removed, because FP32 sums
 * leave only noise there. No constant is added to any norm, so that columns may
 * have any magnitude (the published code adds 1e-8, and loses gradients of
 * 1e-4). `room` has aps_lowrank_room(n, rank) elements. Returns the number of
 * nonzero columns.
 */
size_t aps_lowrank_room(size_t n, size_t rank);
size_t aps_lowrank_orthogonalise(size_t n, size_t rank, float *x, double *room);

/*
 * Makes the orthonormal columns with which a step begins:
 * aps_lowrank_orthogonalise, and random columns instead of zero ones. A column
 * of zeros would otherwise remain 0 for ever: a Q that is used from step to
 * step would never again have more columns than the matrix of the poorest step.
 * rank <= n.
 */
void aps_lowrank_prepare(size_t n, size_t rank,
                         const struct aps_lowrank_seed *seed, float *q,
                         double *room);

/* --- products ------------------------------------------------------------ */

/* p = m q. If an element of m is INF or NaN, p has one, too: a caller
 * only checks p. */
void aps_lowrank_left(const struct aps_matrix *matrix, size_t rank,
                      const float *m, const float *q, float *p);

/* delta = g + e, and p = delta q, in one pass. delta may be g, or e; it is
 * written even if its elements are not finite. */
void aps_lowrank_left_feedback(const struct aps_matrix *matrix, size_t rank,
                               const float *g, const float *e, float *delta,
                               const float *q, float *p);

/* q = m^T p. */
void aps_lowrank_right(const struct aps_matrix *matrix, size_t rank,
                       const float *m, const float *p, float *q);

/* True if p q^T is finite for every p with orthonormal columns. False if an
 * element of q exceeds FLT_MAX / (2 rank), or is not finite, because the answer
 * is then unknown. (No element of p q^T exceeds the sum of the magnitudes of a
 * row of q; the factor of 2 is for roundings.) */
bool aps_lowrank_is_restorable(const struct aps_matrix *matrix, size_t rank,
                               const float *q);

/* out = p q^T, for the existing elements of the matrix. */
void aps_lowrank_restore(const struct aps_matrix *matrix, size_t rank,
                         const float *p, const float *q, float *out);

/* out = p q^T, and residual = delta - share * out, in one pass: with a share of
 * 1 / ranks, the difference between a rank's delta and the mean that all ranks
 * get. delta may be out, or residual. */
void aps_lowrank_restore_feedback(const struct aps_matrix *matrix, size_t rank,
                                  const float *p, const float *q, float share,
                                  const float *delta, float *out,
                                  float *residual);

#endif
