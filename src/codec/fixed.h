/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements that are integers times a power of two: the magnitudes of bfp, and
 * mx-int8. Inlined into loops.
 */
#ifndef APS_CODEC_FIXED_H
#define APS_CODEC_FIXED_H

#include "codec/kernel.h"
#include "number/integer.h"

/* round(|y| / 2^-bits), ties to even, of |y| < 2 with this bit pattern; bits <=
 * 22, or |y| < 1 and bits <= 24. */
APS_INLINE uint32_t aps_fixed_nearest(uint32_t magnitude, int bits)
{
    const float magic = aps_float_pow2(23 - bits);
    const float y = aps_float_from_bits(magnitude);
    uint32_t below = aps_float_bits(y + magic) - aps_float_bits(magic);

    if (bits < 24)
        return below;
    /* from 1/2 on, where the sum's steps would be larger, y is exact */
    return aps_kernel_less(magnitude, 0x3f000000u, below,
                           (magnitude & 0x7fffffu) | 0x800000u);
}

#endif
