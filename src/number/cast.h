/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of one value, in integer arithmetic only: it does not depend on the
 * floating point environment, and host and device share it. It has no branches,
 * so that loops over it vectorise.
 *
 * A code is sign, exponent field, mantissa. Its magnitude, all but the sign, is
 * monotone in the value: a carry out of the mantissa is the next binade, a
 * carry out of the subnormals is the first normal number, and a carry out of
 * the largest finite value is the format's limit. Rounding is therefore one
 * addition and one shift, and one comparison after it detects an overflow.
 */
#ifndef APS_NUMBER_CAST_H
#define APS_NUMBER_CAST_H

#include "number/format.h"
#include "number/bits.h"

/* Returns the first magnitude code that is not a finite value: INF, the only
 * NaN, or, in formats that are all finite, one more than all codes. */
APS_INLINE uint32_t aps_cast_limit(const struct aps_format *format)
{
    uint32_t all = 1u << (format->width - 1);

    if (format->kind == APS_FORMAT_FINITE)
        return all;
    return format->kind == APS_FORMAT_NAN ? all - 1
                                          : all - (1u << format->mantissa_bits);
}

/* Returns the magnitude code of INF and of values that round to the limit or
 * beyond. */
APS_INLINE uint32_t aps_cast_inf(const struct aps_format *format)
{
    return aps_cast_limit(format) - format->saturate;
}

/* Returns the magnitude code of the canonical quiet NaN; INF's code if the
 * format has no NaN. */
APS_INLINE uint32_t aps_cast_nan(const struct aps_format *format)
{
    uint32_t limit = aps_cast_limit(format);

    if (format->kind == APS_FORMAT_FINITE)
        return limit - 1;
    return format->kind == APS_FORMAT_NAN
               ? limit
               : limit | ((1u << format->mantissa_bits) >> 1);
}

/* True if the rounding uses random bits. */
APS_INLINE bool aps_cast_draws(enum aps_rounding rounding)
{
    return rounding == APS_ROUND_STOCHASTIC || rounding == APS_ROUND_CORRELATED;
}

/* Returns the bits that round the magnitude of the float with this bit pattern
 * if `random` rounds the float itself: correlated bits cancel the errors of
 * values, not those of magnitudes. */
APS_INLINE uint32_t aps_cast_random(enum aps_rounding rounding, uint32_t bits,
                                    uint32_t random)
{
    uint32_t negative = 0u - (bits >> 31);

    return rounding == APS_ROUND_CORRELATED ? random ^ negative : random;
}

/*
 * Returns the magnitude code of |x| * 2^exponent for the |x| with this bit
 * pattern, in a format without an upper limit: codes from the limit on are
 * overflows. INF and NaN give any code. |exponent| <= 1000. `random` is for
 * stochastic and correlated rounding (aps_cast_random); no CPD.
 *
 * Here and below, arithmetic replaces conditions that depend on each other,
 * because GCC would make branches of them.
 */
APS_INLINE uint32_t aps_cast_magnitude(const struct aps_format *format,
                                       uint32_t magnitude, int exponent,
                                       enum aps_rounding rounding,
                                       uint32_t random)
{
    /* |x| = significand * 2^(e - 23), 2^23 <= significand < 2^24. The integer
     * with a subnormal's bits is exact, and normal, as a float. 0 has the
     * significand 0 and an e below all others. */
    uint32_t subnormal = magnitude < 0x800000u ? 0xffffffffu : 0;
    uint32_t converted = aps_float_bits((float)(int32_t)magnitude);
    uint32_t normal = (converted & subnormal) | (magnitude & ~subnormal);
    uint32_t nonzero = normal < 1 ? normal : 1;
    uint32_t significand = (normal & 0x7fffffu) | nonzero << 23;
    int e = (int)(normal >> APS_FLOAT_MANTISSA_BITS) - APS_FLOAT_BIAS -
            (int)(149 & subnormal) + exponent - (int)(1 - nonzero) * 4096;

    /* values beyond the largest binade need no distinction */
    int largest = format->bias + (format->kind != APS_FORMAT_IEEE);
    e = e > largest ? largest + 1 : e;

    /* Below the normal values the grid does not get finer. */
    int smallest = 1 - format->bias;
    int below = e < smallest ? smallest - e : 0;
    int shift = APS_FLOAT_MANTISSA_BITS - format->mantissa_bits + below;

    /* |x| in steps of the format, with 32 bits of fraction. Bits below them
     * break no tie: they exist only if |x| is far less than a step. */
    uint64_t steps = (uint64_t)significand << 32 >> (shift < 63 ? shift : 63);
    uint32_t odd = (uint32_t)(steps >> 32) & 1;
    uint32_t carry = rounding == APS_ROUND_NEAREST ? 0x7fffffffu + odd
                     : aps_cast_draws(rounding)    ? random
                                                   : 0;
    uint32_t code = (uint32_t)((steps + carry) >> 32);

    /* The leading bit of a normal significand adds the 1 that its exponent
     * field lacks here. */
    return code + ((uint32_t)(e + below - smallest) << format->mantissa_bits);
}

/* Returns the code of x * 2^exponent for the float x with this bit pattern,
 * from its aps_cast_magnitude: sign, overflow and special values. Toward zero,
 * no finite value overflows. */
APS_INLINE uint32_t aps_cast_complete(const struct aps_format *format,
                                      uint32_t bits, enum aps_rounding rounding,
                                      uint32_t code)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = (bits >> 31) << (format->width - 1);
    uint32_t limit = aps_cast_limit(format);
    uint32_t inf = aps_cast_inf(format);
    uint32_t overflow = rounding == APS_ROUND_TOWARD_ZERO ? limit - 1 : inf;
    uint32_t finite = magnitude < APS_FLOAT_INF ? 0xffffffffu : 0;
    uint32_t is_nan = magnitude > APS_FLOAT_INF ? 0xffffffffu : 0;

    code = code < limit ? code : overflow;
    code = (code & finite) | (inf & ~finite);
    return sign | (code ^ (is_nan & (inf ^ aps_cast_nan(format))));
}

/* Returns the code of x * 2^exponent for the float x with this bit pattern: one
 * rounding of the exact product. |exponent| <= 1000; no CPD. */
APS_INLINE uint32_t aps_cast_round(const struct aps_format *format,
                                   uint32_t bits, int exponent,
                                   enum aps_rounding rounding, uint32_t random)
{
    uint32_t code =
        aps_cast_magnitude(format, bits & ~APS_FLOAT_SIGN, exponent, rounding,
                           aps_cast_random(rounding, bits, random));

    return aps_cast_complete(format, bits, rounding, code);
}

/* Calls aps_cast_round with rounding to nearest. */
APS_INLINE uint32_t aps_cast_encode(const struct aps_format *format,
                                    uint32_t bits, int exponent)
{
    return aps_cast_round(format, bits, exponent, APS_ROUND_NEAREST, 0);
}

/* Returns the bit pattern of the float with this code. A NaN is quiet, with the
 * code's mantissa. Bits above the format's width are ignored. */
APS_INLINE uint32_t aps_cast_decode(const struct aps_format *format,
                                    uint32_t code)
{
    int mantissa_bits = format->mantissa_bits;
    int shift = APS_FLOAT_MANTISSA_BITS - mantissa_bits;
    uint32_t sign = ((code >> (format->width - 1)) & 1) << 31;
    uint32_t magnitude = code & ((1u << (format->width - 1)) - 1);
    uint32_t limit = aps_cast_limit(format);

    if (magnitude >= limit) {
        uint32_t mantissa = magnitude << shift & 0x7fffffu;
        uint32_t quiet = format->kind == APS_FORMAT_NAN || magnitude > limit
                             ? APS_FLOAT_QUIET
                             : 0;

        return sign | APS_FLOAT_INF | quiet | mantissa;
    }
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
    /* A leading bit, present unless the float is subnormal, completes the
     * exponent field. */
    return sign |
           (((uint32_t)(e + APS_FLOAT_BIAS - 1) << APS_FLOAT_MANTISSA_BITS) +
            (significand << shift));
}

#endif
