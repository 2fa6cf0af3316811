/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Block floating point, bfpM/B, value by value: B values share an exponent,
 * each with a sign and M bits. HBFP (Drumond et al., NeurIPS 2018; arXiv
 * 1804.01526) rounds in this way; its emulator's exponent differs if the
 * maximum is a power of two, which it clips. Valid C++, too.
 */
#ifndef APS_BLOCKWISE_BFP_H
#define APS_BLOCKWISE_BFP_H

#include "blockwise/block_scale.h"
#include "blockwise/fixed.h"

#define APS_BFP_NAN 255
#define APS_BFP_BIAS 126 /* bias of the exponent e, with every |x| < 2^e */

APS_INLINE struct aps_block_scale aps_bfp_scale(uint32_t code)
{
    struct aps_block_scale scale = {};

    scale.code = (uint8_t)code;
    scale.nan = code == APS_BFP_NAN;
    scale.zero = code == 0;
    return scale;
}

/* Returns the scale for `m` bits and the greatest magnitude of a block, a bit
 * pattern, NaN on top. */
APS_INLINE struct aps_block_scale aps_bfp_choose(int m, uint32_t greatest)
{
    /* A float's exponent field is e + 126; subnormals count as e = -125. */
    const uint32_t field = greatest >> APS_FLOAT_MANTISSA_BITS;
    const uint32_t nonzero = field < 1 ? 1 : field;
    struct aps_block_scale scale = aps_bfp_scale(greatest == 0 ? 0 : nonzero);
    const int e = (int)nonzero - APS_BFP_BIAS;

    if (scale.nan)
        return scale;
    scale.factor = aps_blocks_pow2(-e);
    scale.exponent = m - e;
    return scale;
}

/* Returns the scale with this code. */
APS_INLINE struct aps_block_scale aps_bfp_read(int m, uint8_t code)
{
    struct aps_block_scale scale = aps_bfp_scale(code);

    if (!scale.nan && !scale.zero)
        scale.factor = aps_blocks_pow2(code - APS_BFP_BIAS - m);
    return scale;
}

/* Returns the magnitude of the code of the finite float with this bit pattern,
 * which may be one too large; `random` is for stochastic rounding. */
APS_INLINE uint32_t aps_bfp_magnitude(int m, struct aps_block_scale scale,
                                      uint32_t bits, enum aps_rounding rounding,
                                      uint32_t random)
{
    const uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    if (rounding == APS_ROUND_NEAREST)
        return aps_fixed_nearest(
            aps_float_bits(aps_float_from_bits(magnitude) * scale.factor), m);
    return aps_integer_magnitude(magnitude, scale.exponent, rounding, random);
}

/* Returns the value of a code, in a block that is neither NaN nor 0. */
APS_INLINE float aps_bfp_value(int m, struct aps_block_scale scale,
                               uint32_t code)
{
    const float k = (float)(int32_t)(code & ((1u << m) - 1));

    return aps_float_from_bits(aps_float_bits(k * scale.factor) |
                               (code >> m << 31));
}

#endif
