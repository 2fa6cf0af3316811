/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floats rounded to a format without using its codes: loops without branches,
 * written so that a compiler vectorises them. Every function is inlined into a
 * caller that is compiled for one instruction set.
 *
 * The values are those of aps_cast, except for NaN: it stays NaN even if the
 * format has none, and is always the positive canonical one, because the CPU
 * and the compiler choose which operand's payload and sign an addition keeps.
 *
 * The arithmetic assumes the default floating point environment (base/fpenv.h).
 */
#ifndef APS_NUMBER_QUANTIZE_H
#define APS_NUMBER_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "number/format.h"
#include "number/bits.h"

/* Floats at any address, of any effective type. */
typedef float aps_loose_float __attribute__((aligned(1), may_alias));

/* The constants of a format, in registers during a loop. */
struct aps_quantizer {
    uint32_t carry;      /* rounds a normal value's bit pattern; ... */
    uint32_t shift;      /* shifts the bit that breaks a tie to even ... */
    uint32_t odd;        /* ... under this mask */
    uint32_t keep;       /* bits of a float that the format has */
    uint32_t min_normal; /* smallest normal value, bit pattern */
    float magic;         /* its ulp is the smallest step of the format */
    uint32_t max;        /* largest finite value, bit pattern */
    uint32_t overflow;   /* result for all larger values */
    bool exact;          /* every float is a value of the format: e8m23 */
};

/* For the host only. */
static inline struct aps_quantizer
aps_quantizer_init(const struct aps_format *format)
{
    int m = format->mantissa_bits;
    int smallest = 1 - format->bias;
    uint32_t unit = 1u << (23 - m);
    struct aps_quantizer q = {
        .shift = (uint32_t)(23 - m),
        .odd = m > 0 && m < 23,
        .keep = ~(unit - 1),
        .min_normal = (uint32_t)(smallest + APS_FLOAT_BIAS) << 23,
        .magic = aps_float_pow2(smallest - m + 23),
        .max = aps_float_bits(aps_format_max(format)),
        .overflow = aps_float_bits(aps_cast(format, __builtin_inff())),
    };

    q.exact =
        format->exponent_bits == 8 && m == 23 && q.overflow == APS_FLOAT_INF;
    /* A significand of no bits is 1, which is odd: a tie goes up. */
    q.carry = m == 0 ? unit / 2 : m < 23 ? unit / 2 - 1 : 0;
    return q;
}

/* Makes NaN canonical and leaves all other values unchanged. */
APS_INLINE float aps_quantize_nan(float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    return aps_float_from_bits(
        aps_bits_less(APS_FLOAT_INF, magnitude, APS_FLOAT_NAN, bits));
}

/* Rounds x to the format. */
APS_INLINE float aps_quantize(const struct aps_quantizer *q, float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = bits & APS_FLOAT_SIGN;
    uint32_t below =
        aps_float_bits((aps_float_from_bits(magnitude) + q->magic) - q->magic);
    uint32_t tie = magnitude >> q->shift & q->odd;
    uint32_t normal = (magnitude + q->carry + tie) & q->keep;
    uint32_t value = aps_bits_less(magnitude, q->min_normal, below, normal);

    value = sign | aps_bits_less(q->max, value, q->overflow, value);
    return aps_float_from_bits(
        aps_bits_less(APS_FLOAT_INF, magnitude, APS_FLOAT_NAN, value));
}

/* Rounds the result of one FP32 operation inside a sum to the format. In e8m23
 * (`exact`, a constant after inlining) it does nothing: only the NaN that is
 * stored at the end must be canonical. */
APS_INLINE float aps_quantize_step(const struct aps_quantizer *q, bool exact,
                                   float x)
{
    return exact ? x : aps_quantize(q, x);
}

/* Adds one term to an ordered sum: s = Q(s + x). */
APS_INLINE float aps_quantize_add(const struct aps_quantizer *q, bool exact,
                                  float s, float x)
{
    return aps_quantize_step(q, exact, s + x);
}

/*
 * Adds one term to a Kahan sum, every operation rounded:
 *     y = Q(x - c), t = Q(s + y), c = Q(Q(t - s) - y), s = t
 */
APS_INLINE void aps_quantize_add_kahan(const struct aps_quantizer *q,
                                       bool exact, float x, float *s, float *c)
{
    float y = aps_quantize_step(q, exact, x - *c);
    float t = aps_quantize_step(q, exact, *s + y);
    float difference = aps_quantize_step(q, exact, t - *s);

    *c = aps_quantize_step(q, exact, difference - y);
    *s = t;
}

#endif
