/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scale that is a power of two, put into the constants that values are compared
 * with, for nearest_vbmi.h and nearest_avx2.h.
 */
#ifndef APS_SIMD_NEAREST_FOLD_H
#define APS_SIMD_NEAREST_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* Where the scale is a power of two, values need not be multiplied: `least` and
 * `beyond`, bit patterns, are divided by it. False, and they are unchanged: it is
 * not, or something would leave the normal floats. */
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
