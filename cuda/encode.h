/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of one thread of the encoding kernels (cuda/threads.h defines the
 * terms).
 */
#ifndef APS_CUDA_ENCODE_H
#define APS_CUDA_ENCODE_H

#include "blockwise/fixed.h"
#include "cuda/threads.h"
#include "number/cpd.h"
#include "number/draw.h"

/* Ways to encode; the first four pack the codes of eight floats in
 * registers. */
enum aps_encode_way {
    APS_ENCODE_4,
    APS_ENCODE_6,
    APS_ENCODE_8,
    APS_ENCODE_16,
    APS_ENCODE_NEAREST, /* any width: units are 32-bit words of the wire */
    APS_ENCODE_ANY,     /* any width, any rounding and scaling, statistics */
    APS_ENCODE_INTEGER, /* any width, for codes that are integers */
    APS_ENCODE_WAYS
};

struct aps_encode_work {
    struct aps_kernel kernel;
    float scale; /* for all except ANY */
    const unsigned char *x;
    unsigned char *wire;
    uint32_t n;
    uint32_t width;
    uint32_t behind; /* floats, or bytes of the wire, of unit 0 before the
                        first one */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
    /* For ANY, INTEGER. */
    struct aps_format format;
    enum aps_rounding rounding;
    struct aps_draw draw; /* for roundings by random bits */
    uint64_t offset;      /* number of x[0] in the stream */
    bool product; /* cast x * factor * power, rounded to float; integers are
                     cast to nearest, otherwise times the scale */
    int exponent; /* exponent of the cast value */
    double factor;
    double power;
};

/* True if a multiplication by one float is right (kernel/scaling.h). */
APS_INLINE bool aps_threads_is_simple(const struct aps_format *format,
                                      struct aps_scaling scaling)
{
    if (scaling.exponent < -126 || scaling.exponent > 127)
        return false;
    return scaling.exponent >= 0 || format->exponent_bits < 8 ||
           format->mantissa_bits == 23 || scaling.factor != 1;
}

APS_INLINE enum aps_encode_way
aps_encode_way_choose(const struct aps_encode_work *w,
                      struct aps_scaling scaling, bool stats)
{
    uintptr_t wire = (uintptr_t)w->wire;

    if (aps_threads_is_integer(&w->format))
        return APS_ENCODE_INTEGER;
    if (stats || w->rounding != APS_ROUND_NEAREST ||
        !aps_threads_is_simple(&w->format, scaling))
        return APS_ENCODE_ANY;
    if ((uintptr_t)w->x % 4 != 0)
        return APS_ENCODE_NEAREST;
    if (w->width == 4 && wire % 4 == 0)
        return APS_ENCODE_4;
    if (w->width == 6 && wire % 2 == 0)
        return APS_ENCODE_6;
    if (w->width == 8 && wire % 8 == 0)
        return APS_ENCODE_8;
    if (w->width == 16 && wire % 16 == 0)
        return APS_ENCODE_16;
    return APS_ENCODE_NEAREST;
}

/* Prepares integers, whose rounding is not CPD's. Products with a factor are
 * rounded to float; to nearest, so is the product with the scale. */
APS_INLINE void aps_encode_integer_init(struct aps_encode_work *w,
                                        struct aps_scaling scaling)
{
    w->kernel.marked = APS_FLOAT_INF - 1;
    if (w->rounding == APS_ROUND_CPD)
        w->rounding = APS_ROUND_NEAREST;
    w->product = w->rounding == APS_ROUND_NEAREST
                     ? !aps_threads_is_simple(&w->format, scaling)
                     : scaling.factor != 1;
}

/* Prepares a launch. `options` NULL: to nearest; options->offset is the number
 * of x[0]. Ways of eights: a unit is eight floats, and whole if the 16-byte
 * words that hold them lie inside the array. */
APS_INLINE struct aps_encode_work
aps_encode_work_init(const struct aps_format *format, const float *x, size_t n,
                     struct aps_scaling scaling,
                     const struct aps_cast_options *options, bool stats,
                     void *wire, enum aps_encode_way *way)
{
    struct aps_encode_work w = {};
    uint32_t bytes, behind;

    w.kernel = aps_kernel_init(format);
    w.x = (const unsigned char *)x;
    w.wire = (unsigned char *)wire;
    w.n = (uint32_t)n;
    w.width = (uint32_t)format->width;
    w.format = *format;
    if (options) {
        w.rounding = options->rounding;
        if (aps_cast_draws(w.rounding))
            w.draw = aps_draw_init(options);
        w.offset = options->offset;
    }
    w.scale = 1;
    if (aps_threads_is_simple(format, scaling))
        w.scale = scaling.factor * aps_float_pow2(scaling.exponent);
    w.product = scaling.factor != 1 || w.rounding == APS_ROUND_CPD;
    if (aps_threads_is_integer(format))
        aps_encode_integer_init(&w, scaling);
    w.exponent = w.product ? 0 : scaling.exponent;
    w.factor = scaling.factor;
    w.power = aps_double_pow2(scaling.exponent);

    *way = aps_encode_way_choose(&w, scaling, stats);
    if (*way < APS_ENCODE_NEAREST) {
        behind = aps_threads_behind(x);
        w.behind = behind;
        w.units = (w.n + 7) / 8;
        w.inner = behind > 0;
        /* the last word ends at most 12 - behind floats into the unit */
        w.outer = behind == 0          ? w.n / 8
                  : w.n >= 12 - behind ? (w.n + behind - 12) / 8 + 1
                                       : 0;
    } else {
        behind = (uint32_t)((uintptr_t)wire % 4);
        bytes = (uint32_t)(n / 8 * w.width + (n % 8 * w.width + 7) / 8);
        w.behind = behind;
        w.units = (bytes + behind + 3) / 4;
        w.inner = behind > 0;
        w.outer = (bytes + behind) / 4;
    }
    if (w.outer < w.inner)
        w.inner = w.outer = w.units;
    return w;
}

/* Returns the code of a float that is finite, to nearest: the rest of
 * aps_kernel_encode. */
APS_INLINE uint32_t aps_encode_finite(const struct aps_encode_work *w,
                                      uint32_t bits)
{
    const struct aps_kernel *k = &w->kernel;
    float product = aps_float_from_bits(bits) * w->scale;
    uint32_t magnitude = aps_float_bits(product) & ~APS_FLOAT_SIGN;
    uint32_t sign = (bits & APS_FLOAT_SIGN) >> k->sign_shift;
    uint32_t below = aps_float_bits(aps_float_from_bits(magnitude) + k->magic) -
                     aps_float_bits(k->magic);
    uint32_t tie = magnitude >> k->shift & k->odd;
    uint32_t normal = (magnitude + k->carry + tie) >> k->shift;
    uint32_t code = magnitude < k->min_normal ? below : normal;

    return (code < k->overflow ? code : k->overflow) | sign;
}

/* Returns the code of any float, to nearest. */
APS_INLINE uint32_t aps_encode_nearest(const struct aps_encode_work *w,
                                       uint32_t bits)
{
    float product = aps_float_from_bits(bits) * w->scale;

    return aps_kernel_encode(&w->kernel, aps_threads_signed(product, bits));
}

/* Returns the code of x[i], with any rounding; `counts`: adds it to the
 * statistics. */
APS_INLINE uint32_t aps_encode_any(const struct aps_encode_work *w,
                                   uint32_t bits, uint32_t i, bool counts,
                                   struct aps_threads_seen *seen)
{
    const enum aps_rounding rounding = w->rounding;
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t digits = (1u << (w->width - 1)) - 1;
    uint32_t random = 0;
    uint32_t y = bits;
    uint32_t raw, code;

    if (aps_cast_draws(rounding))
        random = aps_cast_random(rounding, bits,
                                 aps_draw_element(&w->draw, w->offset + i));
    if (w->product) {
        double exact = aps_float_from_bits(bits) * w->factor * w->power;

        y = aps_float_bits(aps_threads_signed((float)exact, bits));
    }
    if (rounding == APS_ROUND_CPD)
        y = aps_cpd_cast(&w->format, y);
    raw = aps_cast_magnitude(
        &w->format, y & ~APS_FLOAT_SIGN, w->exponent,
        rounding == APS_ROUND_CPD ? APS_ROUND_NEAREST : rounding, random);
    code = aps_cast_complete(&w->format, (y & APS_FLOAT_SIGN) | magnitude,
                             rounding, raw);
    if (counts && magnitude >= APS_FLOAT_INF) {
        seen->nonfinite++;
    } else if (counts && magnitude > 0) {
        seen->underflow += (code & digits) == 0;
        seen->overflow += raw >= aps_cast_limit(&w->format);
    }
    return code;
}

/* Returns the code of x[i] as an integer; `counts` like in aps_encode_any. */
APS_INLINE uint32_t aps_encode_integer(const struct aps_encode_work *w,
                                       uint32_t bits, uint32_t i, bool counts,
                                       struct aps_threads_seen *seen)
{
    const enum aps_rounding rounding = w->rounding;
    const uint32_t most = (1u << (w->width - 1)) - 1;
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t y = bits;
    uint32_t random = 0;
    uint32_t raw, code;

    if (w->product) {
        double exact = aps_float_from_bits(bits) * w->factor * w->power;

        y = aps_float_bits(aps_threads_signed((float)exact, bits));
    }
    if (rounding == APS_ROUND_NEAREST) {
        float scaled = aps_float_from_bits(y) * (w->product ? 1 : w->scale);

        code = aps_fixed_code(&w->format, aps_threads_signed(scaled, y), &raw);
    } else {
        if (aps_cast_draws(rounding))
            random = aps_cast_random(w->draw.correlated ? APS_ROUND_CORRELATED
                                                        : APS_ROUND_STOCHASTIC,
                                     bits,
                                     aps_draw_element(&w->draw, w->offset + i));
        raw = aps_integer_magnitude(
            y & ~APS_FLOAT_SIGN, w->exponent,
            aps_cast_draws(rounding) ? APS_ROUND_STOCHASTIC : rounding, random);
        code = aps_integer_complete(&w->format, y, raw);
    }
    if (counts && magnitude >= APS_FLOAT_INF) {
        seen->nonfinite++;
    } else if (counts && magnitude > 0) {
        seen->underflow += code == 0;
        seen->overflow += raw > most + (bits >> 31);
    }
    return code;
}

/* Returns bits [first, first + count) of the wire, count <= 32. */
APS_INLINE uint32_t aps_encode_bits(const struct aps_encode_work *w,
                                    enum aps_encode_way way, uint32_t first,
                                    uint32_t count,
                                    struct aps_threads_seen *seen)
{
    uint32_t i = first / w->width;
    uint32_t at = i * w->width;
    uint32_t all = 0;

    for (; at < first + count && i < w->n; i++, at += w->width) {
        uint32_t bits = aps_threads_load_float(w->x, i);
        uint32_t code = way == APS_ENCODE_ANY
                            ? aps_encode_any(w, bits, i, at >= first, seen)
                        : way == APS_ENCODE_INTEGER
                            ? aps_encode_integer(w, bits, i, at >= first, seen)
                            : aps_encode_nearest(w, bits);

        aps_threads_see(seen, bits);
        all |= at >= first ? code << (at - first) : code >> (first - at);
    }
    return all;
}

/* Encodes a whole unit of the ways by words, ... */
APS_INLINE void aps_encode_word(const struct aps_encode_work *w,
                                enum aps_encode_way way, uint32_t unit,
                                struct aps_threads_seen *seen)
{
    uint32_t byte = unit * 4 - w->behind;

    aps_threads_store4(w->wire + byte,
                       aps_encode_bits(w, way, byte * 8, 32, seen));
}

/* ... and some of its bytes. */
APS_INLINE void aps_encode_bytes(const struct aps_encode_work *w,
                                 enum aps_encode_way way, uint32_t from,
                                 uint32_t to, struct aps_threads_seen *seen)
{
    for (uint32_t byte = from; byte < to; byte++)
        w->wire[byte] =
            (unsigned char)aps_encode_bits(w, way, byte * 8, 8, seen);
}

/* Encodes a unit that is not whole. */
APS_INLINE void aps_encode_edge(const struct aps_encode_work *w,
                                enum aps_encode_way way, uint32_t unit,
                                struct aps_threads_seen *seen)
{
    uint32_t bytes = w->n / 8 * w->width + (w->n % 8 * w->width + 7) / 8;
    uint32_t size = way < APS_ENCODE_NEAREST ? w->width : 4;
    uint32_t before = way < APS_ENCODE_NEAREST ? 0 : w->behind;
    uint32_t from = unit * size > before ? unit * size - before : 0;
    uint32_t to = (unit + 1) * size - before;

    aps_encode_bytes(w, way, from, to < bytes ? to : bytes, seen);
}

/* Loads a whole unit of eight floats ... */
APS_INLINE void aps_encode_load(const struct aps_encode_work *w, uint32_t unit,
                                uint32_t *word)
{
    const unsigned char *from =
        w->x + (size_t)unit * 32 - (size_t)w->behind * 4;

    aps_threads_load16(from, word);
    aps_threads_load16(from + 16, word + 4);
    if (w->behind > 0)
        aps_threads_load16(from + 32, word + 8);
}

/* ... and shifts word[12], so that the eight are its first words. */
APS_INLINE void aps_encode_shift(const struct aps_encode_work *w,
                                 uint32_t *word)
{
    if (w->behind == 0)
        return;
    for (int i = 0; i < 10; i++)
        word[i] = w->behind & 2 ? word[i + 2] : word[i];
    for (int i = 0; i < 8; i++)
        word[i] = w->behind & 1 ? word[i + 1] : word[i];
}

/* Encodes, packs and stores them; `width` is a constant. INF and NaN are rare:
 * a product with 0 shows whether there is one, and then the unit is encoded
 * like those at the ends. */
APS_INLINE void aps_encode_store(const struct aps_encode_work *w,
                                 uint32_t width, uint32_t unit,
                                 const uint32_t *word,
                                 struct aps_threads_seen *seen)
{
    unsigned char *to = w->wire + (size_t)unit * width;
    uint32_t packed[4] = {0, 0, 0, 0};
    float zero = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t code = aps_encode_finite(w, word[i]);
        uint32_t at = i * width;

        zero = aps_threads_fma(aps_float_from_bits(word[i]), 0, zero);
        packed[at / 32] |= code << at % 32;
        if (at % 32 + width > 32)
            packed[at / 32 + 1] |= code >> (32 - at % 32);
    }
    if (zero != 0) { /* a NaN */
        aps_encode_edge(w, APS_ENCODE_8, unit, seen);
    } else if (width == 4) {
        aps_threads_store4(to, packed[0]);
    } else if (width == 6) {
        aps_threads_store2(to, packed[0]);
        aps_threads_store2(to + 2, packed[0] >> 16);
        aps_threads_store2(to + 4, packed[1]);
    } else if (width == 8) {
        aps_threads_store8(to, packed);
    } else {
        aps_threads_store16(to, packed);
    }
}

/* True if the values that a thread has seen need the marker. */
APS_INLINE bool aps_encode_marks(const struct aps_encode_work *w,
                                 const struct aps_threads_seen *seen)
{
    return seen->greatest > w->kernel.marked;
}

#endif
