/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of one value, in integer arithmetic only: it does not depend on the
 * floating point environment, and host and device share it.
 *
 * A code is sign, exponent field, mantissa. Its magnitude, all but the sign, is
 * monotone in the value: a carry out of the mantissa is the next binade, a
 * carry out of the subnormals is the first normal number, and a carry out of
 * the largest finite value is INF. Rounding is therefore one shift with one
 * carry, and overflow is decided after it by one comparison.
 */
#ifndef APS_NUMBER_CAST_H
#define APS_NUMBER_CAST_H

#include "aps.h"
#include "number/bits.h"

/* Magnitude code of INF: the exponent field all ones. It and all above it are
 * no finite values. */
APS_INLINE uint32_t aps_cast_inf(const struct aps_format *format)
{
    return ((1u << format->exponent_bits) - 1) << format->mantissa_bits;
}

/* Magnitude code of the canonical quiet NaN; INF where there is none. */
APS_INLINE uint32_t aps_cast_nan(const struct aps_format *format)
{
    return aps_cast_inf(format) | ((1u << format->mantissa_bits) >> 1);
}

/*
 * significand / 2^shift to the nearest integer, ties to even; 1 <= shift <= 31.
 */
APS_INLINE uint32_t aps_cast_nearest(uint32_t significand, int shift)
{
    uint32_t odd = (significand >> shift) & 1;

    return (significand + (1u << (shift - 1)) - 1 + odd) >> shift;
}

/*
 * The code of x * 2^exponent for the float x with this bit pattern: one
 * rounding of the exact product. |exponent| <= 2^20.
 */
APS_INLINE uint32_t aps_cast_encode(const struct aps_format *format,
                                    uint32_t bits, int exponent)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = (bits >> 31) << (format->width - 1);
    uint32_t inf = aps_cast_inf(format);

    if (magnitude > APS_FLOAT_INF)
        return sign | aps_cast_nan(format);
    if (magnitude == APS_FLOAT_INF)
        return sign | inf;
    if (magnitude == 0)
        return sign;

    /* |x| = significand * 2^(e - 23), 2^23 <= significand < 2^24 */
    int e = (int)(magnitude >> APS_FLOAT_MANTISSA_BITS);
    uint32_t significand = magnitude & 0x7fffffu;
    if (e > 0) {
        significand |= 0x800000u;
    } else {
        e = 1;
        while (significand < 0x800000u) {
            significand <<= 1;
            e--;
        }
    }
    e += exponent - APS_FLOAT_BIAS;

    int smallest = 1 - format->bias; /* exponent of the first normal value */
    if (e > format->bias)
        return sign | inf;

    /* Below the normal values the grid does not get finer. Doubled, the
     * significand can be shifted by at least one bit in every format; after 26
     * nothing is left of it. */
    int below = e < smallest ? smallest - e : 0;
    int shift = APS_FLOAT_MANTISSA_BITS - format->mantissa_bits + 1 + below;
    uint32_t code = aps_cast_nearest(2 * significand, shift < 27 ? shift : 27);

    /* The leading bit of a normal significand adds the 1 that its exponent
     * field lacks here. */
    code += (uint32_t)(e + below - smallest) << format->mantissa_bits;
    return sign | (code < inf ? code : inf);
}

/* The bit pattern of the float with this code; NaN comes out quiet. Bits above
 * the format's width are ignored. */
APS_INLINE uint32_t aps_cast_decode(const struct aps_format *format,
                                    uint32_t code)
{
    int mantissa_bits = format->mantissa_bits;
    int shift = APS_FLOAT_MANTISSA_BITS - mantissa_bits;
    uint32_t sign = (code >> (format->width - 1)) << 31;
    uint32_t magnitude = code & ((1u << (format->width - 1)) - 1);
    uint32_t inf = aps_cast_inf(format);

    if (magnitude > inf)
        return sign | APS_FLOAT_NAN | (magnitude - inf) << shift;
    if (magnitude == inf)
        return sign | APS_FLOAT_INF;
    if (magnitude == 0)
        return sign;

    /* value = significand * 2^(e - M), normalised to a leading bit M */
    int field = (int)(magnitude >> mantissa_bits);
    int e = (field > 0 ? field : 1) - format->bias;
    uint32_t significand = magnitude;
    if (field > 0) {
        significand -= (uint32_t)(field - 1) << mantissa_bits;
    } else {
        while (significand >> mantissa_bits == 0 && e > 1 - APS_FLOAT_BIAS) {
            significand <<= 1;
            e--;
        }
    }
    /* As in encode: a leading bit, present unless the float is subnormal,
     * completes the exponent field. */
    return sign |
           (((uint32_t)(e + APS_FLOAT_BIAS - 1) << APS_FLOAT_MANTISSA_BITS) +
            (significand << shift));
}

#endif
