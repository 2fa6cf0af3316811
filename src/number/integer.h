/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of one value to an integer of `width` bits in two's complement, like
 * number/cast.h, which defines the terms. It has no branches, so that loops
 * over it vectorise.
 */
#ifndef APS_NUMBER_INTEGER_H
#define APS_NUMBER_INTEGER_H

#include "number/bits.h"
#include "number/format.h"

/* Returns round(|x| * 2^exponent) of the |x| with this bit pattern, not
 * clipped; 2^30 or more, but less than 2^31, for all larger values. INF and NaN
 * give any number. |exponent| <= 1000. `random` is for stochastic rounding; no
 * CPD. */
APS_INLINE uint32_t aps_integer_magnitude(uint32_t magnitude, int exponent,
                                          enum aps_rounding rounding,
                                          uint32_t random)
{
    /* |x| = significand * 2^(e - 23); a subnormal's bits are an integer */
    uint32_t subnormal = magnitude < 0x800000u ? 0xffffffffu : 0;
    uint32_t converted = aps_float_bits((float)(int32_t)magnitude);
    uint32_t normal = (converted & subnormal) | (magnitude & ~subnormal);
    uint32_t nonzero = normal < 1 ? normal : 1;
    uint32_t significand = (normal & 0x7fffffu) | nonzero << 23;
    int e = (int)(normal >> APS_FLOAT_MANTISSA_BITS) - APS_FLOAT_BIAS -
            (int)(149 & subnormal) + exponent - (int)(1 - nonzero) * 4096;

    /* |x| with 32 bits of fraction: from 2^30 on no distinction is needed */
    e = e > 30 ? 30 : e;
    int left = e > 23 ? e - 23 : 0;
    int right = e < 23 ? 23 - e : 0;
    uint64_t steps = (uint64_t)significand << 32 >> (right < 63 ? right : 63)
                                                        << left;
    uint32_t odd = (uint32_t)(steps >> 32) & 1;
    uint32_t carry = rounding == APS_ROUND_NEAREST      ? 0x7fffffffu + odd
                     : rounding == APS_ROUND_STOCHASTIC ? random
                                                        : 0;

    return (uint32_t)((steps + carry) >> 32);
}

/* Returns the code of a magnitude with the sign of `bits`: clipped to
 * -2^(width-1) ... 2^(width-1) - 1. INF and NaN are clipped as well. */
APS_INLINE uint32_t aps_integer_complete(const struct aps_format *format,
                                         uint32_t bits, uint32_t magnitude)
{
    uint32_t negative = bits >> 31;
    uint32_t special =
        (bits & ~APS_FLOAT_SIGN) < APS_FLOAT_INF ? 0 : 0x7fffffffu;
    uint32_t most = (1u << (format->width - 1)) - 1 + negative;
    uint32_t code = magnitude | special;

    code = (int32_t)code < (int32_t)most ? code : most;
    code = (code ^ (0 - negative)) + negative;
    return code & ((2u << (format->width - 1)) - 1);
}

/* Returns the integer of a code. */
APS_INLINE int32_t aps_integer_value(const struct aps_format *format,
                                     uint32_t code)
{
    uint32_t sign = 1u << (format->width - 1);

    return (int32_t)((code & (2 * sign - 1)) ^ sign) - (int32_t)sign;
}

#endif
