/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds terms to a row of the sums of a product; the kernels of products share
 * this. Inlined into callers that are compiled for one instruction set.
 */
#ifndef APS_NUMBER_GEMM_SUMS_H
#define APS_NUMBER_GEMM_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "number/quantize.h"

/* s[j] = R(s[j] + x), or its sum by Kahan with the compensation c[j]; `exact`
 * is the quantizer's, a constant after inlining. */
APS_INLINE void aps_gemm_add(const struct aps_quantizer *sum, bool exact,
                             bool kahan, float x, size_t j, float *restrict s,
                             float *restrict c)
{
    if (kahan)
        aps_quantize_add_kahan(sum, exact, x, &s[j], &c[j]);
    else
        s[j] = aps_quantize_add(sum, exact, s[j], x);
}

/* Ends a chunk: c = R(c + s), s = 0. */
APS_INLINE void aps_gemm_add_chunk(const struct aps_quantizer *sum, bool exact,
                                   size_t columns, float *restrict s,
                                   float *restrict c)
{
    for (size_t j = 0; j < columns; j++) {
        c[j] = aps_quantize_add(sum, exact, c[j], s[j]);
        s[j] = 0;
    }
}

#endif
