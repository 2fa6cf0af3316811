/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An oracle for whole messages: what codecs write, and the values of what they
 * wrote. Formats in blocks use operations of FP32 and FP64 where aps.h, or
 * blockwise/nvfp4.h, defines them by such operations.
 */
#ifndef APS_TESTS_UNIT_PMPI_EXACT_WIRE_H
#define APS_TESTS_UNIT_PMPI_EXACT_WIRE_H

#include <math.h>

#include "number/format.h"
#include "tests/unit/pmpi/exact.h"

/* --- the wire -------------------------------------------------------------- */

struct bits {
    unsigned char *at;
    uint64_t held;
    int count;
};

static inline void put(struct bits *b, uint64_t code, int width)
{
    b->held |= code << b->count;
    for (b->count += width; b->count >= 8; b->count -= 8, b->held >>= 8)
        *b->at++ = (unsigned char)b->held;
}

static inline uint64_t get(struct bits *b, int width)
{
    uint64_t code;

    for (; b->count < width; b->count += 8)
        b->held |= (uint64_t)*b->at++ << b->count;
    code = b->held & (((uint64_t)1 << width) - 1);
    b->held >>= width;
    b->count -= width;
    return code;
}

/* Ends a block: what is left of a byte is zero. */
static inline void flush(struct bits *b)
{
    if (b->count > 0)
        put(b, 0, 8 - b->count);
}

/* --- blocks ---------------------------------------------------------------- */

struct block {
    const struct aps_format *format;
    struct aps_format element; /* element of mx and nvfp4; saturates */
    float piece;               /* g of nvfp4 */
    enum aps_rounding rounding;
};

static inline uint32_t magnitude_of(struct exact x)
{
    return aps_float_bits(as_float(x)) & ~APS_FLOAT_SIGN;
}

static inline bool is_finite(struct exact x)
{
    return !x.inf && !x.nan;
}

/* Returns the sum of |x| or of x^2, in the order that aps.h gives. */
static inline double lanes_sum(const struct exact *x, size_t n, bool squares)
{
    double lane[16] = {0};

    for (size_t i = 0; i < n; i++) {
        const double value = fabs((double)as_float(x[i]));

        lane[i % 16] += squares ? value * value : value;
    }
    for (int apart = 8; apart > 0; apart /= 2)
        for (int i = 0; i < apart; i++)
            lane[i] += lane[i + apart];
    return lane[0];
}

/* Returns p, the power of two by which quotients of levels avoid extremes. */
static inline float level_power(float w)
{
    return w < 0x1p-64f ? 0x1p64f : w >= 0x1p64f ? 0x1p-64f : 1;
}

/* Returns the code of a block's scale: -1 if the block is zeros. */
static inline int64_t block_scale(const struct block *b, const struct exact *x,
                                  size_t n)
{
    const struct aps_format *f = b->format;
    uint32_t greatest = 0;
    int field;
    float w;
    bool nan;

    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude =
            x[i].nan ? APS_FLOAT_NAN : magnitude_of(x[i]);

        greatest = magnitude > greatest ? magnitude : greatest;
    }
    nan = greatest >= APS_FLOAT_INF;
    field = (int)(greatest >> 23);
    w = aps_float_from_bits(greatest);
    switch (f->family) {
    case APS_FAMILY_BFP:
        return nan ? 255 : greatest == 0 ? -1 : field < 1 ? 1 : field;
    case APS_FAMILY_MX: {
        const int emax = leading(of_float(f->max));
        const int s = field - emax;

        return nan ? 255 : greatest == 0 ? -1 : s < 0 ? 0 : s;
    }
    case APS_FAMILY_NVFP4:
        if (nan)
            return 0x7f;
        if (greatest == 0 || b->piece == 0)
            return -1;
        return (int64_t)code_of(&scale_e4m3fn, of_float(w / 6 / b->piece),
                                APS_ROUND_NEAREST, 0);
    case APS_FAMILY_LEVELS:
        if (f->norm2 && !nan) {
            w = (float)sqrt(lanes_sum(x, n, true));
            w = w < 0x1.fffffep127f ? w : 0x1.fffffep127f;
        }
        break;
    default:
        w = (float)(lanes_sum(x, n, false) / (double)n);
    }
    return nan             ? APS_FLOAT_NAN
           : greatest == 0 ? -1
                           : (int64_t)aps_float_bits(w);
}

/* Returns the code of a finite value of a block. */
static inline uint64_t block_code(const struct block *b, int64_t scale,
                                  struct exact x, uint32_t random)
{
    const struct aps_format *f = b->format;
    const int m = f->mantissa_bits, field = (int)scale;
    const float w = aps_float_from_bits((uint32_t)scale);
    uint64_t most = ((uint64_t)1 << m) - 1, k;
    float c, p;

    switch (f->family) {
    case APS_FAMILY_BFP:
        k = steps_of(x, field - 126 - m, b->rounding, random);
        break;
    case APS_FAMILY_MX:
        x.exponent += 127 - field;
        if (f->exponent_bits > 0)
            return code_of(&b->element, x, b->rounding, random);
        k = steps_of(x, -6, b->rounding, random);
        k = k < most ? k : most;
        return (x.negative ? 0 - k : k) & 0xff;
    case APS_FAMILY_NVFP4:
        c = as_float(exact_of(&scale_e4m3fn, (uint64_t)scale)) * b->piece;
        if (c == 0)
            return 0;
        c = 1 / c < 0x1.fffffep127f ? 1 / c : 0x1.fffffep127f;
        return code_of(&b->element, of_float(as_float(x) * c), b->rounding,
                       random);
    case APS_FAMILY_LEVELS:
        most = (uint64_t)f->levels;
        p = level_power(w);
        c = (float)f->levels / (w * p);
        k = steps_of(of_float((as_float(x) * p) * c), 0, b->rounding, random);
        break;
    default:
        return x.negative && x.significand > 0;
    }
    return (k < most ? k : most) | (uint64_t)x.negative << m;
}

/* Returns the value of a code. */
static inline struct exact block_value(const struct block *b, int64_t scale,
                                       uint64_t code)
{
    const struct aps_format *f = b->format;
    const int m = f->mantissa_bits, field = (int)scale;
    const float w = aps_float_from_bits((uint32_t)scale);
    struct exact x = {.negative = code >> m & 1,
                      .significand = code & (((uint64_t)1 << m) - 1)};

    switch (f->family) {
    case APS_FAMILY_BFP:
        x.exponent = field - 126 - m;
        x.nan = field == 255;
        return field == 0 ? (struct exact){.negative = false} : x;
    case APS_FAMILY_MX:
        if (f->exponent_bits > 0)
            x = exact_of(&b->element, code);
        else if (x.negative)
            x.significand = 128 - x.significand;
        x.exponent += field - 127 - (f->exponent_bits > 0 ? 0 : 6);
        x.negative = x.negative && (f->exponent_bits > 0 || code > 0);
        x.nan = field == 255;
        return to_fp32(x);
    case APS_FAMILY_NVFP4:
        if (scale == 0x7f)
            return (struct exact){.nan = true};
        return of_float(
            as_float(exact_of(&b->element, code)) *
            (as_float(exact_of(&scale_e4m3fn, (uint64_t)scale)) * b->piece));
    case APS_FAMILY_LEVELS:
        return of_float((x.negative ? -w : w) *
                        ((float)x.significand * (1 / (float)f->levels)));
    default:
        return of_float(code ? -w : w);
    }
}

static inline struct block block_of(const struct aps_format *f,
                                    enum aps_rounding rounding)
{
    struct block b = {.format = f, .element = *f, .rounding = rounding};

    b.element.saturate = true;
    return b;
}

static inline void encode_blocks(struct block b, const struct exact *x,
                                 size_t count, const uint32_t *random,
                                 unsigned char *wire)
{
    const struct aps_format *f = b.format;
    const size_t length = (size_t)f->block;
    struct bits to = {.at = wire};

    if (f->piece_bytes > 0) {
        uint32_t greatest = 0;

        for (size_t i = 0; i < count; i++)
            if (is_finite(x[i]) && magnitude_of(x[i]) > greatest)
                greatest = magnitude_of(x[i]);
        b.piece = aps_float_from_bits(greatest) / 2688;
        put(&to, aps_float_bits(b.piece), 32);
    }
    for (size_t at = 0; at < count; at += length) {
        const size_t n = count - at < length ? count - at : length;
        const int64_t scale = block_scale(&b, x + at, n);
        bool special = scale < 0;

        for (size_t i = 0; i < n; i++)
            special |= !is_finite(x[at + i]);
        put(&to, scale < 0 ? 0 : (uint64_t)scale, 8 * f->scale_bytes);
        for (size_t i = at; i < at + n; i++)
            put(&to, special ? 0 : block_code(&b, scale, x[i], random[i]),
                f->width);
        flush(&to);
    }
}

static inline void decode_blocks(struct block b, const unsigned char *wire,
                                 size_t count, struct exact *x)
{
    const struct aps_format *f = b.format;
    const size_t length = (size_t)f->block;
    struct bits from = {.at = (unsigned char *)(uintptr_t)wire};

    if (f->piece_bytes > 0)
        b.piece = aps_float_from_bits((uint32_t)get(&from, 32));
    for (size_t at = 0; at < count; at += length) {
        const size_t end = count - at < length ? count : at + length;
        const int64_t scale = (int64_t)get(&from, 8 * f->scale_bytes);

        for (size_t i = at; i < end; i++)
            x[i] = block_value(&b, scale, get(&from, f->width));
        from.count = 0;
        from.held = 0;
    }
}

/* --- values that scale alone ----------------------------------------------- */

static inline uint64_t integer_code(const struct aps_format *f, struct exact x,
                                    enum aps_rounding rounding, uint32_t random)
{
    const uint64_t most = ((uint64_t)1 << (f->width - 1)) - !x.negative;
    uint64_t k = most;

    if (is_finite(x) && (x.significand == 0 || leading(x) < 40))
        k = x.significand == 0 ? 0 : steps_of(x, 0, rounding, random);
    k = k < most ? k : most;
    return (x.negative ? 0 - k : k) & (((uint64_t)1 << f->width) - 1);
}

/* Returns the marker. */
static inline unsigned encode_each(const struct aps_format *f,
                                   const struct exact *x, size_t count,
                                   struct aps_scaling scaling,
                                   enum aps_rounding rounding,
                                   const uint32_t *random, unsigned char *wire)
{
    const bool integer = f->family == APS_FAMILY_INTEGER;
    struct bits to = {.at = wire};
    bool marked = false;

    for (size_t i = 0; i < count; i++) {
        struct exact y = scaled(x[i], scaling);

        marked |= f->mantissa_bits == 0 && !f->saturate
                      ? x[i].nan
                      : (f->saturate || integer) && !is_finite(x[i]);
        if (rounding == APS_ROUND_CPD)
            y = cpd(f, y);
        put(&to,
            integer ? integer_code(f, y, rounding, random[i])
                    : code_of(f, y, rounding, random[i]),
            f->width);
    }
    return marked ? APS_BLOCK_NAN : 0;
}

static inline void decode_each(const struct aps_format *f,
                               const unsigned char *wire, size_t count,
                               struct aps_scaling scaling, unsigned flags,
                               struct exact *x)
{
    const uint64_t sign = (uint64_t)1 << (f->width - 1);
    struct bits from = {.at = (unsigned char *)(uintptr_t)wire};

    for (size_t i = 0; i < count; i++) {
        const uint64_t code = get(&from, f->width);
        uint64_t magnitude = code & (sign - 1);
        bool greatest;

        if (f->family == APS_FAMILY_INTEGER) {
            if (code & sign)
                magnitude = sign - magnitude;
            x[i] = (struct exact){.negative = code & sign,
                                  .significand = magnitude};
            greatest = magnitude >= sign - !(code & sign);
        } else {
            x[i] = exact_of(f, code);
            greatest = magnitude >= limit_of(f) - f->saturate;
        }
        x[i].nan |= (flags & APS_BLOCK_NAN) && greatest;
        x[i] = unscaled(x[i], scaling);
    }
}

#endif
