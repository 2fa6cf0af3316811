/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the decoding kernels (cuda/threads.h defines the
 * terms).
 */
#ifndef APS_CUDA_DECODE_H
#define APS_CUDA_DECODE_H

#include "cuda/threads.h"
#include "number/integer.h"

/* Ways to find the codes of four floats; the last finds one at a time, and
 * divides if the scaling requires it. */
enum aps_decode_way {
    APS_DECODE_8,  /* up to 8 bits: four in 32 bits, which are in two words */
    APS_DECODE_16, /* up to 16 bits: four in 64 bits */
    APS_DECODE_32,
    APS_DECODE_ANY,
    APS_DECODE_INTEGER, /* any width, for codes that are integers */
    APS_DECODE_WAYS
};

struct aps_decode_work {
    struct aps_kernel kernel;
    float scale;
    unsigned char *x;
    const unsigned char *wire;
    uint32_t n;
    uint32_t width;
    uint32_t bytes;  /* bytes of the wire */
    uint32_t behind; /* floats of unit 0 before x[0] */
    uint32_t offset; /* bytes from a word's boundary to the wire */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
    uint32_t mask;   /* mask of a code at the top of 32 bits, ... */
    uint32_t limit;  /* ... and the first code that is not finite, also at the
                        top */
    uint32_t narrow; /* from 8 exponent bits to the format's */
    float unbias;    /* 2^(difference of the biases) */
    /* for ANY, INTEGER */
    bool divide;
    double factor;
    double power;
    struct aps_format format; /* for INTEGER */
    uint32_t nan;             /* bits that codes at both ends add, or 0 */
};

APS_INLINE enum aps_decode_way
aps_decode_way_choose(const struct aps_decode_work *w)
{
    if (aps_threads_is_integer(&w->format))
        return APS_DECODE_INTEGER;
    if (w->divide || (uintptr_t)w->x % 4 != 0)
        return APS_DECODE_ANY;
    return w->width <= 8    ? APS_DECODE_8
           : w->width <= 16 ? APS_DECODE_16
                            : APS_DECODE_32;
}

/* True if the unit has four floats, and whole words for their codes. */
APS_INLINE bool aps_decode_is_whole(const struct aps_decode_work *w,
                                    uint32_t unit)
{
    uint32_t first = unit * 4 - w->behind;
    uint32_t from, to;

    if (unit * 4 < w->behind || first + 4 > w->n)
        return false;
    from = (first * w->width + 8 * w->offset) / 32;
    to = ((first + 4) * w->width + 8 * w->offset + 31) / 32;
    return from * 4 >= w->offset && to * 4 <= w->offset + w->bytes;
}

APS_INLINE struct aps_decode_work
aps_decode_work_init(const struct aps_format *format, const void *wire,
                     size_t n, struct aps_scaling scaling, unsigned flags,
                     float *x, enum aps_decode_way *way)
{
    struct aps_decode_work w = {};

    w.kernel = aps_kernel_init(format);
    if (flags & APS_BLOCK_NAN)
        aps_kernel_mark(&w.kernel);
    w.x = (unsigned char *)x;
    w.wire = (const unsigned char *)wire;
    w.n = (uint32_t)n;
    w.width = (uint32_t)format->width;
    w.bytes = (uint32_t)(n / 8 * w.width + (n % 8 * w.width + 7) / 8);
    w.divide = scaling.factor != 1 || scaling.exponent < -127 ||
               scaling.exponent > 126;
    w.scale = w.divide ? 1 : aps_float_pow2(-scaling.exponent);
    w.factor = scaling.factor;
    w.power = aps_double_pow2(-scaling.exponent);
    w.format = *format;
    w.nan = flags & APS_BLOCK_NAN ? APS_FLOAT_NAN : 0;
    *way = aps_decode_way_choose(&w);
    if (*way >= APS_DECODE_ANY) {
        w.units = w.n;
        w.inner = 0;
        w.outer = w.n;
        return w;
    }
    w.mask = ~0u << w.kernel.sign_shift;
    w.narrow = (uint32_t)(8 - format->exponent_bits);
    w.unbias = aps_float_pow2(APS_FLOAT_BIAS - format->bias);
    w.limit = w.kernel.limit << w.kernel.sign_shift;
    w.behind = aps_threads_behind(x);
    w.offset = (uint32_t)((uintptr_t)wire % 4);
    w.units = (w.n + w.behind + 3) / 4;
    w.outer = w.units;
    while (w.inner < w.outer && !aps_decode_is_whole(&w, w.inner))
        w.inner++;
    while (w.inner < w.outer && !aps_decode_is_whole(&w, w.outer - 1))
        w.outer--;
    return w;
}

/* Returns the 32 bits that begin `shift` bits, less than 32, into two words. */
APS_INLINE uint32_t aps_decode_funnel(uint32_t low, uint32_t high,
                                      uint32_t shift)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(low, high, shift);
#else
    return (uint32_t)(((uint64_t)high << 32 | low) >> shift);
#endif
}

/* Returns the value of a code. A NaN is quiet, and keeps sign and payload, like
 * in the host's product. */
APS_INLINE uint32_t aps_decode_value(const struct aps_decode_work *w,
                                     uint32_t code)
{
    float value = aps_kernel_decode(&w->kernel, code);
    uint32_t bits = aps_float_bits(value);

    if (aps_threads_is_nan(bits))
        return bits | APS_FLOAT_QUIET;
    return aps_float_bits(value * w->scale);
}

APS_INLINE uint32_t aps_decode_quotient(const struct aps_decode_work *w,
                                        uint32_t code)
{
    float value = aps_kernel_decode(&w->kernel, code);
    uint32_t bits = aps_float_bits(value);

    if (aps_threads_is_nan(bits))
        return bits | APS_FLOAT_QUIET;
    return aps_float_bits((float)(value / w->factor * w->power));
}

/* Returns the value of an integer: the ends of the range are NaN in a block
 * that has the marker. */
APS_INLINE uint32_t aps_decode_integer(const struct aps_decode_work *w,
                                       uint32_t code)
{
    const uint32_t lowest = 1u << (w->width - 1);
    float value = (float)aps_integer_value(&w->format, code) * w->scale;
    uint32_t bits = aps_float_bits(value);

    if (code == lowest || code == lowest - 1)
        bits |= w->nan;
    if (!w->divide || aps_threads_is_nan(bits))
        return bits;
    return aps_float_bits(
        (float)(aps_float_from_bits(bits) / w->factor * w->power));
}

APS_INLINE uint32_t aps_decode_sum(uint32_t x, uint32_t value)
{
    return aps_float_bits(aps_kernel_canonical(aps_float_from_bits(x) +
                                               aps_float_from_bits(value)));
}

/* Loads the codes of a whole unit into word[4]; `way` is a constant. */
APS_INLINE void aps_decode_load(const struct aps_decode_work *w,
                                enum aps_decode_way way, uint32_t unit,
                                uint32_t *word)
{
    uint32_t bit = (unit * 4 - w->behind) * w->width + 8 * w->offset;
    uint32_t shift = bit % 32;
    const unsigned char *from = w->wire - w->offset + (size_t)(bit / 32) * 4;
    uint32_t a = aps_threads_load4(from);
    uint32_t b, c;

    if (way == APS_DECODE_8) {
        b = shift + 4 * w->width > 32 ? aps_threads_load4(from + 4) : 0;
        word[0] = aps_decode_funnel(a, b, shift);
    } else if (way == APS_DECODE_16) {
        b = aps_threads_load4(from + 4);
        c = shift + 4 * w->width > 64 ? aps_threads_load4(from + 8) : 0;
        word[0] = aps_decode_funnel(a, b, shift);
        word[1] = aps_decode_funnel(b, c, shift);
    } else {
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = shift + i * w->width;
            const unsigned char *here = from + (size_t)(at / 32) * 4;

            a = aps_threads_load4(here);
            b = at % 32 + w->width > 32 ? aps_threads_load4(here + 4) : 0;
            word[i] = aps_decode_funnel(a, b, at % 32);
        }
    }
}

/* Returns code i of a unit at the top of 32 bits; the bits below it are
 * arbitrary. */
APS_INLINE uint32_t aps_decode_code(const struct aps_decode_work *w,
                                    enum aps_decode_way way,
                                    const uint32_t *word, uint32_t i)
{
    uint64_t two;

    if (way == APS_DECODE_8)
        return word[0] << (32 - (i + 1) * w->width);
    if (way == APS_DECODE_16) {
        two = (uint64_t)word[1] << 32 | word[0];
        return (uint32_t)(two >> i * w->width) << w->kernel.sign_shift;
    }
    return word[i] << w->kernel.sign_shift;
}

/* Decodes element i, at any alignment. */
APS_INLINE void aps_decode_element(const struct aps_decode_work *w,
                                   enum aps_decode_way way, bool add,
                                   uint32_t i)
{
    uint32_t bit = i * w->width;
    uint32_t last = (bit + w->width - 1) / 8;
    uint64_t bits = 0;
    uint32_t code, value;

    for (uint32_t byte = bit / 8; byte <= last; byte++)
        bits |= (uint64_t)w->wire[byte] << (byte - bit / 8) * 8;
    code = (uint32_t)(bits >> bit % 8);
    value = way == APS_DECODE_INTEGER            ? aps_decode_integer(w, code)
            : way == APS_DECODE_ANY && w->divide ? aps_decode_quotient(w, code)
                                                 : aps_decode_value(w, code);
    if (add)
        value = aps_decode_sum(aps_threads_load_float(w->x, i), value);
    aps_threads_store_float(w->x, i, value);
}

/* Decodes a unit of four that is not whole. */
APS_INLINE void aps_decode_edge(const struct aps_decode_work *w, bool add,
                                uint32_t unit)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at = unit * 4 + i - w->behind; /* wraps before x[0] */

        if (at < w->n)
            aps_decode_element(w, APS_DECODE_8, add, at);
    }
}

/* Loads the floats of a whole unit, to which values are added. */
APS_INLINE void aps_decode_load_sum(const struct aps_decode_work *w,
                                    uint32_t unit, uint32_t *sum)
{
    aps_threads_load16(w->x - (size_t)w->behind * 4 + (size_t)unit * 16, sum);
}

/* Decodes and stores a whole unit. The bits of a finite code are a float's,
 * except for the bias, and subnormal in both or neither: one exact product
 * corrects it. A unit with a code of INF or NaN, which are rare, is decoded
 * like those at the ends. */
APS_INLINE void aps_decode_store(const struct aps_decode_work *w,
                                 enum aps_decode_way way, bool add,
                                 uint32_t unit, const uint32_t *word,
                                 const uint32_t *sum)
{
    uint32_t greatest = 0;
    uint32_t y[4];

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t code = aps_decode_code(w, way, word, i) & w->mask;
        uint32_t magnitude = code & ~APS_FLOAT_SIGN;
        uint32_t bits = magnitude >> w->narrow | (code & APS_FLOAT_SIGN);
        float value = aps_float_from_bits(bits) * w->unbias * w->scale;

        greatest = magnitude > greatest ? magnitude : greatest;
        y[i] = aps_float_bits(value);
        if (add)
            y[i] = aps_decode_sum(sum[i], y[i]);
    }
    if (greatest >= w->limit)
        aps_decode_edge(w, add, unit);
    else
        aps_threads_store16(w->x - (size_t)w->behind * 4 + (size_t)unit * 16,
                            y);
}

#endif
