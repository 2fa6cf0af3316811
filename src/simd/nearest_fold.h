/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds a scale that is a power of two into the constants with which values are
 * compared, for nearest_vbmi.h and nearest_avx2.h.
 */
#ifndef APS_SIMD_NEAREST_FOLD_H
#define APS_SIMD_NEAREST_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Divides `least` and `beyond`, bit patterns, by the scale if it is a power of
 * two, so that values need not be multiplied. Returns false, and leaves them
 * unchanged, if it is not a power of two, or if a result would not be a normal
 * float. */
APS_INLINE bool aps_nearest_fold(const struct aps_kernel *k, float scale,
                                 uint32_t *least, uint32_t *beyond)
{
    const uint32_t bits = aps_float_bits(scale);
    const int32_t power = (int32_t)(bits >> 23) - APS_FLOAT_BIAS;
    const int32_t lowest = (int32_t)(*least >> 23) - power;
    const int32_t greatest = (int32_t)(*beyond >> 23) - power;

    if (bits << 9 != 0 || lowest < 1 || greatest + (int32_t)k->shift > 254)
        return false;
    *least -= (uint32_t)power << 23;
    *beyond -= (uint32_t)power << 23;
    return true;
}

#endif
