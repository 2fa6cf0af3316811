/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements that are integers times a power of two: the magnitudes of bfp,
 * mx-int8, and the codes of flexN. Inlined into loops. Valid C++, too.
 */
#ifndef APS_BLOCKWISE_FIXED_H
#define APS_BLOCKWISE_FIXED_H

#include "kernel/kernel.h"
#include "number/integer.h"

/* Returns round(|y| / 2^-bits), ties to even, of |y| < 2 with this bit pattern;
 * bits <= 22, or |y| < 1 and bits <= 24. */
APS_INLINE uint32_t aps_fixed_nearest(uint32_t magnitude, int bits)
{
    const float magic = aps_float_pow2(23 - bits);
    const float y = aps_float_from_bits(magnitude);
    uint32_t below = aps_float_bits(y + magic) - aps_float_bits(magic);

    if (bits < 24)
        return below;
    /* from 1/2 on, where the sum's steps would be larger, y is exact */
    return aps_bits_less(magnitude, 0x3f000000u, below,
                         (magnitude & 0x7fffffu) | 0x800000u);
}

/* Returns the code of y, rounded to nearest, of integers in two's complement of
 * the format's width; *raw is its magnitude, up to 2^17. */
APS_INLINE uint32_t aps_fixed_code(const struct aps_format *format, float y,
                                   uint32_t *raw)
{
    const float magic = aps_float_pow2(23);
    const uint32_t far = 0x48000000u; /* 2^17 */
    uint32_t bits = aps_float_bits(y);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    magnitude = aps_bits_less(magnitude, far, magnitude, far);
    *raw = aps_float_bits(aps_float_from_bits(magnitude) + magic) -
           aps_float_bits(magic);
    return aps_integer_complete(format, bits, *raw);
}

#endif
