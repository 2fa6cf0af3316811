/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OCP Microscaling Formats (MX) 1.0, value by value: 32 elements share a
 * power of two, by the conversion of section 6.3. Elements are floats that
 * saturate, or integers times 2^-6 (int8), whose code -128 is not used. Valid
 * C++, too.
 */
#ifndef APS_BLOCKWISE_MX_H
#define APS_BLOCKWISE_MX_H

#include "blockwise/block_scale.h"
#include "blockwise/fixed.h"

#define APS_MX_NAN 255
#define APS_MX_BIAS 127    /* E8M0 */
#define APS_MX_INT8_BITS 6 /* fractional bits */
#define APS_MX_INT8_MAX 127

/* True for elements without an exponent, which are integers. */
APS_INLINE bool aps_mx_is_integer(const struct aps_format *format)
{
    return format->exponent_bits == 0;
}

APS_INLINE struct aps_block_kernel
aps_mx_kernel(const struct aps_format *format)
{
    struct aps_block_kernel kernel = {};

    kernel.format = *format;
    kernel.emax = (int)(aps_float_bits(format->max) >> 23) - APS_FLOAT_BIAS;
    if (!aps_mx_is_integer(format))
        kernel.element = aps_kernel_init(format);
    return kernel;
}

/* Returns the scale for the greatest magnitude of a block, a bit pattern, NaN
 * on top. */
APS_INLINE struct aps_block_scale aps_mx_choose(int emax, uint32_t greatest)
{
    /* floor(log2(max)) is the exponent field less 127, or so small that the
     * smallest scale is used. */
    const int field = (int)(greatest >> APS_FLOAT_MANTISSA_BITS);
    const int s = field < emax ? 0 : field - emax;
    struct aps_block_scale scale = {};

    scale.code = (uint8_t)s;
    scale.zero = greatest == 0;
    scale.exponent = APS_MX_BIAS - s;
    if (greatest >= APS_FLOAT_INF) {
        scale.code = APS_MX_NAN;
        scale.nan = true;
        return scale;
    }
    scale.factor = aps_blocks_pow2(APS_MX_BIAS - s);
    return scale;
}

/* Returns the scale with this code. */
APS_INLINE struct aps_block_scale aps_mx_read(bool is_integer, uint8_t code)
{
    struct aps_block_scale scale = {};

    scale.code = code;
    scale.nan = code == APS_MX_NAN;
    if (!scale.nan)
        scale.factor = aps_blocks_pow2(code - APS_MX_BIAS -
                                       (is_integer ? APS_MX_INT8_BITS : 0));
    return scale;
}

/* Return the magnitude of the code of the finite float with this bit pattern,
 * not clipped, for elements that are floats ... */
APS_INLINE uint32_t aps_mx_float_magnitude(const struct aps_kernel *element,
                                           const struct aps_format *format,
                                           struct aps_block_scale scale,
                                           uint32_t bits,
                                           enum aps_rounding rounding,
                                           uint32_t random)
{
    const uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    if (rounding == APS_ROUND_NEAREST)
        return aps_kernel_encode_bounded(
            element, aps_float_from_bits(magnitude) * scale.factor);
    return aps_cast_magnitude(format, magnitude, scale.exponent, rounding,
                              random);
}

/* ... and integers. */
APS_INLINE uint32_t aps_mx_integer_magnitude(struct aps_block_scale scale,
                                             uint32_t bits,
                                             enum aps_rounding rounding,
                                             uint32_t random)
{
    const uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    if (rounding == APS_ROUND_NEAREST)
        return aps_fixed_nearest(
            aps_float_bits(aps_float_from_bits(magnitude) * scale.factor),
            APS_MX_INT8_BITS);
    return aps_integer_magnitude(magnitude, scale.exponent + APS_MX_INT8_BITS,
                                 rounding, random);
}

/* In two's complement: the code of a magnitude that is clipped, and the value
 * of a code. */
APS_INLINE uint32_t aps_mx_integer_code(uint32_t magnitude, uint32_t bits)
{
    const uint32_t negative = bits >> 31;

    return ((magnitude ^ (0 - negative)) + negative) & 0xff;
}

APS_INLINE float aps_mx_integer_value(struct aps_block_scale scale,
                                      uint32_t code)
{
    return (float)(int32_t)((code ^ 0x80) - 0x80) * scale.factor;
}

#endif
