/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of floats as integers times powers of two, and their roundings as aps.h
 * defines them: an oracle that shares no arithmetic with the library.
 */
#ifndef APS_TESTS_UNIT_PMPI_EXACT_H
#define APS_TESTS_UNIT_PMPI_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/ops.h"
#include "number/bits.h"
#include "number/format.h"

/* --- values ---------------------------------------------------------------- */

/* A value: significand * 2^exponent, with less than 53 bits, unless INF or NaN. */
struct exact {
    bool negative, inf, nan;
    uint64_t significand;
    int exponent;
};

static const struct aps_format fp32 = {.exponent_bits = 8, .mantissa_bits = 23};
static const struct aps_format scale_e4m3fn = {.exponent_bits = 4,
                                               .mantissa_bits = 3,
                                               .kind = APS_FORMAT_NAN,
                                               .saturate = true};

/* Returns the first magnitude code that is not a finite value. */
static inline uint64_t limit_of(const struct aps_format *f)
{
    const uint64_t all = (uint64_t)1 << (f->exponent_bits + f->mantissa_bits);

    return f->kind == APS_FORMAT_FINITE ? all
           : f->kind == APS_FORMAT_NAN
               ? all - 1
               : all - ((uint64_t)1 << f->mantissa_bits);
}

static inline int smallest_of(const struct aps_format *f)
{
    return 2 - (1 << (f->exponent_bits - 1));
}

static inline struct exact exact_of(const struct aps_format *f, uint64_t code)
{
    const int m = f->mantissa_bits, digits = f->exponent_bits + m;
    const uint64_t magnitude = code & (((uint64_t)1 << digits) - 1);
    const int field = (int)(magnitude >> m);
    const bool special = magnitude >= limit_of(f);
    const bool inf =
        special && f->kind == APS_FORMAT_IEEE && magnitude == limit_of(f);

    return (struct exact){
        .negative = code >> digits & 1,
        .inf = inf,
        .nan = special && !inf,
        .significand =
            (magnitude & (((uint64_t)1 << m) - 1)) | (uint64_t)(field > 0) << m,
        .exponent = (field > 0 ? field : 1) - 1 + smallest_of(f) - m,
    };
}

/* Returns |x| / 2^unit, rounded. */
static inline uint64_t steps_of(struct exact x, int unit,
                                enum aps_rounding rounding, uint32_t random)
{
    const int shift = unit - x.exponent;
    uint64_t whole, rest, fraction;

    if (shift <= 0)
        return x.significand << -shift;
    whole = shift < 64 ? x.significand >> shift : 0;
    rest = shift < 64 ? x.significand - (whole << shift) : x.significand;
    switch (rounding) {
    case APS_ROUND_TOWARD_ZERO:
        return whole;
    case APS_ROUND_STOCHASTIC:
    case APS_ROUND_CORRELATED:
        if (rounding == APS_ROUND_CORRELATED && x.negative)
            random = ~random;
        fraction = shift <= 32   ? rest << (32 - shift)
                   : shift <= 95 ? rest >> (shift - 32)
                                 : 0;
        return whole + ((fraction + random) >> 32);
    default:
        if (shift >= 64 || rest < (uint64_t)1 << (shift - 1))
            return whole;
        return whole + (rest > (uint64_t)1 << (shift - 1) || whole % 2 == 1);
    }
}

/* Returns the exponent of a value's leading bit. */
static inline int leading(struct exact x)
{
    return x.exponent + 63 - __builtin_clzll(x.significand);
}

static inline uint64_t code_of(const struct aps_format *f, struct exact x,
                               enum aps_rounding rounding, uint32_t random)
{
    const int m = f->mantissa_bits, smallest = smallest_of(f);
    const uint64_t sign = (uint64_t)x.negative << (f->exponent_bits + m);
    const uint64_t limit = limit_of(f), most = limit - 1;
    const uint64_t above = f->saturate ? most : limit;
    uint64_t code = above;

    if (x.nan)
        return sign |
               (f->kind == APS_FORMAT_FINITE ? most
                : f->kind == APS_FORMAT_NAN  ? limit
                                             : limit | (uint64_t)1 << m >> 1);
    if (x.inf || x.significand == 0)
        return sign | (x.inf ? above : 0);
    if (rounding == APS_ROUND_TOWARD_ZERO)
        code = most;
    if (leading(x) <= 2 - smallest) {
        const int e = leading(x) < smallest ? smallest : leading(x);
        const uint64_t rounded = steps_of(x, e - m, rounding, random) +
                                 ((uint64_t)(e - smallest) << m);

        code = rounded < limit ? rounded : code;
    }
    return sign | code;
}

static inline struct exact to_fp32(struct exact x)
{
    return exact_of(&fp32, code_of(&fp32, x, APS_ROUND_NEAREST, 0));
}

static inline struct exact of_float(float x)
{
    return exact_of(&fp32, aps_float_bits(x));
}

static inline float as_float(struct exact x)
{
    return aps_float_from_bits(
        (uint32_t)code_of(&fp32, x, APS_ROUND_NEAREST, 0));
}

/* --- scales ---------------------------------------------------------------- */

/* Returns x * factor * 2^exponent, rounded to FP32 if there is a factor. A finite
 * product stays finite, but is beyond every format if it is beyond FP32. */
static inline struct exact scaled(struct exact x, struct aps_scaling scaling)
{
    const struct exact factor = of_float(scaling.factor);
    struct exact product = x;

    product.exponent += scaling.exponent;
    if (scaling.factor == 1)
        return product;
    product.significand *= factor.significand;
    product.exponent += factor.exponent;
    product = to_fp32(product);
    if (product.inf && !x.inf)
        return (struct exact){
            .negative = x.negative, .significand = 1, .exponent = 128};
    return product;
}

/* Returns x / (factor * 2^exponent), rounded to FP32. */
static inline struct exact unscaled(struct exact x, struct aps_scaling scaling)
{
    const struct exact factor = of_float(scaling.factor);

    x.exponent -= scaling.exponent;
    if (x.significand > 0) {
        const int left = __builtin_clzll(x.significand) - 1;
        const uint64_t numerator = x.significand << left;

        x.significand = numerator / factor.significand;
        x.significand |= x.significand * factor.significand != numerator;
        x.exponent -= left + factor.exponent;
    }
    return to_fp32(x);
}

/* Drops what CPD drops of a product in FP32, before it rounds to nearest. */
static inline struct exact cpd(const struct aps_format *f, struct exact x)
{
    int lost;

    x = to_fp32(x);
    if (x.inf || x.nan || x.significand == 0)
        return x;
    if (leading(x) < -126)
        return (struct exact){.negative = false};
    lost = smallest_of(f) - leading(x);
    if (lost > 0) {
        x.significand = lost < 64 ? x.significand >> lost : 0;
        x.exponent += lost;
    }
    return x;
}

#endif
