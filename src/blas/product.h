/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS call as arguments of aps_gemm.
 */
#ifndef APS_GEMM_PRODUCT_H
#define APS_GEMM_PRODUCT_H

#include <stdbool.h>

#include "aps.h"

/* C = alpha op(A) op(B) + beta C in the terms of BLAS: sizes and operands in
 * the order of the call. */
struct aps_blas_product {
    bool column_major;
    char transpose_a; /* N, T or C, in either case */
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
 * Computes the product as the policy says. Returns false, and writes nothing,
 * if the next BLAS must compute it: the policy does not ask for it, or the
 * arguments are wrong and BLAS reports them.
 */
bool aps_blas_product_compute(const struct aps_blas_product *product);

#endif
