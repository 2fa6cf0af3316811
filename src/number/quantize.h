/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floats rounded to a format without going through its codes: loops without
 * branches, written so that a compiler vectorises them. Every function is
 * inlined into a caller that is compiled for one instruction set.
 *
 * The values are those of aps_cast, but for NaN: it stays NaN also where the
 * format has none, and is always the positive canonical one, since which
 * operand's payload and sign an addition keeps is the CPU's and the compiler's
 * choice.
 *
 * The arithmetic assumes the default floating point environment (base/fpenv.h).
 */
#ifndef APS_NUMBER_QUANTIZE_H
#define APS_NUMBER_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "aps.h"
#include "number/bits.h"

/* Floats at any address, of any effective type. */
typedef float aps_loose_float __attribute__((aligned(1), may_alias));

/* What there is to do for a format, the less the faster. */
enum aps_quantizer_kind {
    APS_QUANTIZER_EXACT,  /* nothing, every float is a value: e8m23 */
    APS_QUANTIZER_NARROW, /* E < 8 and M < 23: one addition rounds */
    APS_QUANTIZER_ANY
};

/* The constants of a format, in registers during a loop. */
struct aps_quantizer {
    enum aps_quantizer_kind kind;
    uint32_t carry;      /* rounds a normal value's bit pattern; ... */
    uint32_t shift;      /* ... shifts the bit that breaks a tie to even ... */
    uint32_t odd;        /* ... under this mask */
    uint32_t keep;       /* bits of a float that the format has */
    uint32_t min_normal; /* smallest normal value, bit pattern */
    float magic;         /* its ulp is the smallest step of the format */
    uint32_t max;        /* largest finite value, bit pattern */
    uint32_t overflow;   /* what becomes of anything larger */
    uint32_t beyond;     /* a power of two above all normal values */
};

APS_INLINE struct aps_quantizer
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
        .beyond = (uint32_t)(format->bias + 1 + APS_FLOAT_BIAS) << 23,
    };

    if (format->exponent_bits < 8 && m < 23)
        q.kind = APS_QUANTIZER_NARROW;
    else if (m == 23 && q.min_normal == 1u << 23 && q.overflow == APS_FLOAT_INF)
        q.kind = APS_QUANTIZER_EXACT;
    else
        q.kind = APS_QUANTIZER_ANY;
    /* A significand of no bits is 1, and odd: a tie goes up. */
    q.carry = m == 0 ? unit / 2 : m < 23 ? unit / 2 - 1 : 0;
    return q;
}

/* a < b ? yes : no, for operands below 2^31: SSE2 and AVX2 have no unsigned
 * comparison. */
APS_INLINE uint32_t aps_quantize_less(uint32_t a, uint32_t b, uint32_t yes,
                                      uint32_t no)
{
    return (int32_t)a < (int32_t)b ? yes : no;
}

/* NaN made canonical, all else as it is. */
APS_INLINE float aps_quantize_nan(float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    return aps_float_from_bits(
        aps_quantize_less(APS_FLOAT_INF, magnitude, APS_FLOAT_NAN, bits));
}

/* x rounded to the format. */
APS_INLINE float aps_quantize(const struct aps_quantizer *q, float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t sign = bits & APS_FLOAT_SIGN;
    uint32_t below =
        aps_float_bits((aps_float_from_bits(magnitude) + q->magic) - q->magic);
    uint32_t tie = magnitude >> q->shift & q->odd;
    uint32_t normal = (magnitude + q->carry + tie) & q->keep;
    uint32_t value = aps_quantize_less(magnitude, q->min_normal, below, normal);

    value = sign | aps_quantize_less(q->max, value, q->overflow, value);
    return aps_float_from_bits(
        aps_quantize_less(APS_FLOAT_INF, magnitude, APS_FLOAT_NAN, value));
}

/*
 * The same where E < 8 and M < 23, but a NaN need not come out canonical. The
 * last place of x in the format is 2^-M times the power of two below |x|, or
 * the smallest normal value if that is larger; adding 2^23 times the last place
 * rounds x there. Beyond the normal values any place will do, if only the power
 * added is a float.
 */
APS_INLINE float aps_quantize_narrow(const struct aps_quantizer *q, float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t power = bits & APS_FLOAT_INF;

    power = aps_quantize_less(power, q->min_normal, q->min_normal, power);
    power = aps_quantize_less(power, q->beyond, power, q->beyond);

    float magic = aps_float_from_bits(power + (q->shift << 23));
    float magnitude = aps_float_from_bits(bits & ~APS_FLOAT_SIGN);
    float value = (magnitude + magic) - magic;

    value = value > aps_float_from_bits(q->max)
                ? aps_float_from_bits(q->overflow)
                : value;
    return aps_float_from_bits(aps_float_bits(value) | (bits & APS_FLOAT_SIGN));
}

/*
 * The same for the result of one FP32 operation inside a sum, of a quantizer of
 * this kind, a constant where this is inlined. A NaN on the way need not be
 * canonical, only the one that is stored at the end (aps_quantize_nan).
 */
APS_INLINE float aps_quantize_step(const struct aps_quantizer *q,
                                   enum aps_quantizer_kind kind, float x)
{
    if (kind == APS_QUANTIZER_EXACT)
        return x;
    if (kind == APS_QUANTIZER_NARROW)
        return aps_quantize_narrow(q, x);
    return aps_quantize(q, x);
}

/* One term of an ordered sum: s = Q(s + x). */
APS_INLINE float aps_quantize_add(const struct aps_quantizer *q,
                                  enum aps_quantizer_kind kind, float s,
                                  float x)
{
    return aps_quantize_step(q, kind, s + x);
}

/*
 * One term of a Kahan sum, every operation rounded:
 *     y = Q(x - c), t = Q(s + y), c = Q(Q(t - s) - y), s = t
 */
APS_INLINE void aps_quantize_add_kahan(const struct aps_quantizer *q,
                                       enum aps_quantizer_kind kind, float x,
                                       float *s, float *c)
{
    float y = aps_quantize_step(q, kind, x - *c);
    float t = aps_quantize_step(q, kind, *s + y);
    float difference = aps_quantize_step(q, kind, t - *s);

    *c = aps_quantize_step(q, kind, difference - y);
    *s = t;
}

#endif
