/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The products of lowrank.h, one set for every instruction set. All give
 * identical bits; lowrank_variant.h defines the order of their sums.
 */
#ifndef APS_COMPRESS_LOWRANK_PRODUCTS_H
#define APS_COMPRESS_LOWRANK_PRODUCTS_H

#include <stddef.h>

#include "base/cpu.h"
#include "compress/matrix.h"

struct aps_lowrank_products {
    /* p = (m + e) q, and delta = m + e; `e` NULL: p = m q, and `delta` is not
     * used. */
    void (*left)(const struct aps_matrix *matrix, size_t rank, const float *m,
                 const float *e, float *delta, const float *q, float *p);

    /* q = m^T p. */
    void (*right)(const struct aps_matrix *matrix, size_t rank, const float *m,
                  const float *p, float *q);

    /* out = p q^T, and residual = delta - share * out; `delta` NULL: out
     * alone. */
    void (*restore)(const struct aps_matrix *matrix, size_t rank,
                    const float *p, const float *q, float share,
                    const float *delta, float *out, float *residual);
};

/* Returns the products for an instruction set, or NULL if the set is not
 * supported. */
const struct aps_lowrank_products *aps_lowrank_products(enum aps_cpu cpu);

#endif
