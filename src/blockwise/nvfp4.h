/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVFP4, value by value: 16 elements e2m1fn, a scale e4m3fn for each block, and
 * g, a scale in FP32 for the whole piece (NVIDIA: Pretraining Large Language
 * Models with NVFP4, arXiv 2509.25149, appendix). In FP32, each operation
 * rounded to nearest, in this order:
 *
 *     g = max |x| of the piece / (6 * 448)
 *     s = e4m3fn(max |x| of the block / 6 / g), clipped to 448
 *     c = s * g;  element = e2m1fn(x * min(1 / c, largest float)), clipped to 6
 *     value = element * c
 *
 * NaN and INF do not count for g. For the largest float, g is such that 6 *
 * (448 * g) is finite. Valid C++, too.
 */
#ifndef APS_BLOCKWISE_NVFP4_H
#define APS_BLOCKWISE_NVFP4_H

#include "blockwise/block_scale.h"

#define APS_NVFP4_NAN 0x7f
#define APS_NVFP4_ELEMENT_MAX 6.f
#define APS_NVFP4_SCALE_MAX 448.f

/* Returns g for the greatest finite magnitude of the piece. */
APS_INLINE float aps_nvfp4_piece(float max)
{
    return max / (APS_NVFP4_ELEMENT_MAX * APS_NVFP4_SCALE_MAX);
}

/* Returns the format of scales, with the members that a cast needs. */
APS_INLINE struct aps_format aps_nvfp4_scale_format(void)
{
    struct aps_format format = {};

    format.exponent_bits = 4;
    format.mantissa_bits = 3;
    format.width = 8;
    format.bias = 7;
    format.kind = APS_FORMAT_NAN;
    format.saturate = true;
    return format;
}

/* Returns the scale with this code, without its sign. */
APS_INLINE struct aps_block_scale aps_nvfp4_scale(float piece, uint32_t code)
{
    const struct aps_format format = aps_nvfp4_scale_format();
    struct aps_block_scale scale = {};

    scale.code = (uint8_t)code;
    scale.nan = (code & 0x7f) == APS_NVFP4_NAN;
    scale.factor =
        aps_float_from_bits(aps_cast_decode(&format, code & 0x7f)) * piece;
    return scale;
}

/* Returns the scale for the greatest magnitude of a block, a bit pattern, NaN
 * on top. */
APS_INLINE struct aps_block_scale aps_nvfp4_choose(float piece,
                                                   uint32_t greatest)
{
    const struct aps_format format = aps_nvfp4_scale_format();
    const float max = aps_float_from_bits(greatest);
    const float most = aps_float_from_bits(APS_FLOAT_INF - 1);
    struct aps_block_scale zero = {}, scale;
    float inverse;

    zero.zero = true;
    if (greatest >= APS_FLOAT_INF)
        return aps_nvfp4_scale(piece, APS_NVFP4_NAN);
    if (piece == 0 || greatest == 0)
        return zero;
    scale = aps_nvfp4_scale(
        piece,
        aps_cast_encode(
            &format, aps_float_bits(max / APS_NVFP4_ELEMENT_MAX / piece), 0));
    if (scale.factor == 0)
        return zero;
    inverse = 1 / scale.factor;
    scale.factor = inverse < most ? inverse : most;
    return scale;
}

/* Returns the scale with this code, which may have the sign of a scale that
 * another library made. */
APS_INLINE struct aps_block_scale aps_nvfp4_read(float piece, uint8_t code)
{
    struct aps_block_scale scale = aps_nvfp4_scale(piece, code);

    if (code & 0x80)
        scale.factor = -scale.factor;
    return scale;
}

/* Returns the magnitude of the code of the product y = x * scale.factor with
 * this bit pattern, not clipped. */
APS_INLINE uint32_t aps_nvfp4_magnitude(const struct aps_kernel *element,
                                        const struct aps_format *format,
                                        uint32_t y, enum aps_rounding rounding,
                                        uint32_t random)
{
    const uint32_t magnitude = y & ~APS_FLOAT_SIGN;

    if (rounding == APS_ROUND_NEAREST)
        return aps_kernel_encode_bounded(element,
                                         aps_float_from_bits(magnitude));
    return aps_cast_magnitude(format, magnitude, 0, rounding, random);
}

#endif
