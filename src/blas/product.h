/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS call as aps_gemm sees it.
 */
#ifndef APS_GEMM_PRODUCT_H
#define APS_GEMM_PRODUCT_H

#include <stdbool.h>

#include "aps.h"

/* C = alpha op(A) op(B) + beta C as BLAS's callers say it: sizes and operands
 * in the order of the call. */
struct aps_blas_product {
    bool column_major;
    char transpose_a; /* N, T or C in either case */
    char transpose_b;
    int64_t m;
    int64_t n;
    int64_t k;
    float alpha;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float beta;
    float *c;
    int64_t ldc;
};

/*
 * Compute it as the policy says. False, with nothing written, if it has to be
 * left to the next BLAS: the policy does not ask for it, or the arguments are
 * wrong and BLAS's own message should say so.
 */
bool aps_blas_product_compute(const struct aps_blas_product *product);

#endif
