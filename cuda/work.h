/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread of a kernel does, written so that the host can do it too: the
 * tests run all threads of a kernel one after the other and compare the bytes
 * with the host codec's.
 *
 * A kernel's work is a struct that the host fills (aps_*_work_init) and hands
 * over by value, and a number of units, which threads share out among
 * themselves in any order. Units from `inner` to `outer` are whole: they load
 * and store 16 bytes at a time, all of them inside the arrays. The few others
 * stand at the ends.
 *
 * Arrays are indexed with 32 bits; longer ones are cut (APS_WORK_MAX). Arrays
 * of registers are indexed with constants only, or they would lie in memory.
 */
#ifndef APS_CUDA_WORK_H
#define APS_CUDA_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __CUDA_ARCH__
#include <assert.h>
#include <string.h>
#endif

#include "codec/codec.h"
#include "codec/kernel.h"
#include "number/bits.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/philox.h"

/* The most floats of one launch. A multiple of 8, so that the wire of the next
 * launch begins at a byte. */
#define APS_WORK_MAX ((size_t)1 << 26)

/* What kernels find out, in device memory; all 0 to begin with. */
struct aps_cuda_result {
    uint32_t greatest; /* magnitude, bit pattern: of all, NaN on top, ... */
    uint32_t finite;   /* ... and of the finite ones */
    uint32_t marked;   /* encode: not 0 if the block needs its marker */
    uint32_t unused;
    unsigned long long underflow; /* struct aps_encode_stats */
    unsigned long long overflow;
    unsigned long long nonfinite;
};

/* What one thread has seen of that. */
struct aps_work_seen {
    uint32_t greatest;
    uint32_t finite;
    uint32_t underflow;
    uint32_t overflow;
    uint32_t nonfinite;
};

/* --- memory -------------------------------------------------------------- */

/* Host memory is asked for the alignment that a GPU insists on. */
#ifdef __CUDA_ARCH__
#define APS_WORK_ALIGNED(pointer, size) ((void)0)
#else
#define APS_WORK_ALIGNED(pointer, size)                                        \
    assert((uintptr_t)(pointer) % (size) == 0)
#endif

APS_INLINE uint32_t aps_work_load4(const unsigned char *from)
{
#ifdef __CUDA_ARCH__
    return *(const uint32_t *)from;
#else
    uint32_t word;

    APS_WORK_ALIGNED(from, 4);
    memcpy(&word, from, sizeof word);
    return word;
#endif
}

APS_INLINE void aps_work_load16(const unsigned char *from, uint32_t *word)
{
#ifdef __CUDA_ARCH__
    uint4 v = *(const uint4 *)from;

    word[0] = v.x;
    word[1] = v.y;
    word[2] = v.z;
    word[3] = v.w;
#else
    APS_WORK_ALIGNED(from, 16);
    memcpy(word, from, 16);
#endif
}

APS_INLINE void aps_work_store2(unsigned char *to, uint32_t half)
{
#ifdef __CUDA_ARCH__
    *(uint16_t *)to = (uint16_t)half;
#else
    uint16_t low = (uint16_t)half;

    APS_WORK_ALIGNED(to, 2);
    memcpy(to, &low, sizeof low);
#endif
}

APS_INLINE void aps_work_store4(unsigned char *to, uint32_t word)
{
#ifdef __CUDA_ARCH__
    *(uint32_t *)to = word;
#else
    APS_WORK_ALIGNED(to, 4);
    memcpy(to, &word, sizeof word);
#endif
}

APS_INLINE void aps_work_store8(unsigned char *to, const uint32_t *word)
{
#ifdef __CUDA_ARCH__
    *(uint2 *)to = make_uint2(word[0], word[1]);
#else
    APS_WORK_ALIGNED(to, 8);
    memcpy(to, word, 8);
#endif
}

APS_INLINE void aps_work_store16(unsigned char *to, const uint32_t *word)
{
#ifdef __CUDA_ARCH__
    *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
#else
    APS_WORK_ALIGNED(to, 16);
    memcpy(to, word, 16);
#endif
}

/* A float's bits at any address. */
APS_INLINE uint32_t aps_work_load_float(const unsigned char *x, uint32_t i)
{
    const unsigned char *from = x + (size_t)i * 4;

    if ((uintptr_t)x % 4 == 0)
        return aps_work_load4(from);
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

APS_INLINE void aps_work_store_float(unsigned char *x, uint32_t i,
                                     uint32_t bits)
{
    unsigned char *to = x + (size_t)i * 4;

    if ((uintptr_t)x % 4 == 0) {
        aps_work_store4(to, bits);
        return;
    }
    to[0] = (unsigned char)bits;
    to[1] = (unsigned char)(bits >> 8);
    to[2] = (unsigned char)(bits >> 16);
    to[3] = (unsigned char)(bits >> 24);
}

/* --- arithmetic ---------------------------------------------------------- */

APS_INLINE bool aps_work_is_nan(uint32_t bits)
{
    return (bits & ~APS_FLOAT_SIGN) > APS_FLOAT_INF;
}

/* a * b + c with a product that is exact: fused or not is the same. */
APS_INLINE float aps_work_fma(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

/* The product, with the sign of x: a GPU's NaN has none, and no payload. */
APS_INLINE float aps_work_signed(float product, uint32_t x)
{
    return aps_float_from_bits((aps_float_bits(product) & ~APS_FLOAT_SIGN) |
                               (x & APS_FLOAT_SIGN));
}

APS_INLINE void aps_work_see(struct aps_work_seen *seen, uint32_t bits)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

    seen->greatest = magnitude > seen->greatest ? magnitude : seen->greatest;
}

/* --- the magnitude ------------------------------------------------------- */

/* Units are fours of floats between 16-byte boundaries. */
struct aps_magnitude_work {
    const unsigned char *x;
    uint32_t n;
    uint32_t behind; /* floats of unit 0 that stand before x[0] */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
};

/* Floats from the last 16-byte boundary to x; 0 if x is not even aligned to
 * floats, and then no unit is whole. */
APS_INLINE uint32_t aps_work_behind(const void *x)
{
    return (uintptr_t)x % 4 == 0 ? (uint32_t)((uintptr_t)x % 16 / 4) : 0;
}

APS_INLINE struct aps_magnitude_work aps_magnitude_work_init(const float *x,
                                                             size_t n)
{
    struct aps_magnitude_work w = {};

    w.x = (const unsigned char *)x;
    w.n = (uint32_t)n;
    w.behind = aps_work_behind(x);
    w.units = (w.n + w.behind + 3) / 4;
    w.inner = w.behind > 0;
    w.outer = (uintptr_t)x % 4 == 0 ? (w.n + w.behind) / 4 : 0;
    if (w.outer < w.inner)
        w.inner = w.outer = w.units;
    return w;
}

APS_INLINE void aps_magnitude_see(uint32_t bits, struct aps_work_seen *seen)
{
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t finite = magnitude < APS_FLOAT_INF ? magnitude : 0;

    seen->greatest = magnitude > seen->greatest ? magnitude : seen->greatest;
    seen->finite = finite > seen->finite ? finite : seen->finite;
}

/* A whole unit: the load, and what comes of it. */
APS_INLINE void aps_magnitude_load(const struct aps_magnitude_work *w,
                                   uint32_t unit, uint32_t *word)
{
    const unsigned char *from = w->x - (size_t)w->behind * 4;

    aps_work_load16(from + (size_t)unit * 16, word);
}

APS_INLINE void aps_magnitude_take(const uint32_t *word,
                                   struct aps_work_seen *seen)
{
    for (int i = 0; i < 4; i++)
        aps_magnitude_see(word[i], seen);
}

/* Any other. */
APS_INLINE void aps_magnitude_edge(const struct aps_magnitude_work *w,
                                   uint32_t unit, struct aps_work_seen *seen)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at = unit * 4 + i - w->behind; /* wraps before x[0] */

        if (at < w->n)
            aps_magnitude_see(aps_work_load_float(w->x, at), seen);
    }
}

/* --- encode -------------------------------------------------------------- */

/* How it is done; the first four pack the codes of eight floats in registers.
 */
enum aps_encode_way {
    APS_ENCODE_4,
    APS_ENCODE_6,
    APS_ENCODE_8,
    APS_ENCODE_16,
    APS_ENCODE_NEAREST, /* any width: units are 32-bit words of the wire */
    APS_ENCODE_ANY,     /* likewise, any rounding and scaling, statistics */
    APS_ENCODE_WAYS
};

struct aps_encode_work {
    struct aps_kernel kernel;
    float scale; /* all but ANY */
    const unsigned char *x;
    unsigned char *wire;
    uint32_t n;
    uint32_t width;
    uint32_t behind; /* floats, or bytes of the wire, of unit 0 before the
                        first one */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
    /* ANY */
    struct aps_format format;
    struct aps_cast_options options;
    bool product; /* what is cast is x * factor * power, rounded to float */
    int exponent; /* of what is cast */
    double factor;
    double power;
};

/* Is a multiplication by one float right? (codec/scaling.h) */
APS_INLINE bool aps_work_is_simple(const struct aps_format *format,
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

    if (stats || w->options.rounding != APS_ROUND_NEAREST ||
        !aps_work_is_simple(&w->format, scaling))
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

/*
 * `options` NULL: to nearest; options->offset is the number of x[0]. Ways of
 * eights: a unit is eight floats, and whole if the 16-byte words that hold them
 * lie inside the array.
 */
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
    if (options)
        w.options = *options;
    w.scale = 1;
    if (aps_work_is_simple(format, scaling))
        w.scale = scaling.factor * aps_float_pow2(scaling.exponent);
    w.product = scaling.factor != 1 || w.options.rounding == APS_ROUND_CPD;
    w.exponent = w.product ? 0 : scaling.exponent;
    w.factor = scaling.factor;
    w.power = aps_double_pow2(scaling.exponent);

    *way = aps_encode_way_choose(&w, scaling, stats);
    if (*way < APS_ENCODE_NEAREST) {
        behind = aps_work_behind(x);
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

/* The code of a float that is finite, to nearest: what is left then of
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

/* The code of any float, to nearest. */
APS_INLINE uint32_t aps_encode_nearest(const struct aps_encode_work *w,
                                       uint32_t bits)
{
    float product = aps_float_from_bits(bits) * w->scale;

    return aps_kernel_encode(&w->kernel, aps_work_signed(product, bits));
}

/* The code of x[i], any rounding; `counts`: this one into the statistics. */
APS_INLINE uint32_t aps_encode_any(const struct aps_encode_work *w,
                                   uint32_t bits, uint32_t i, bool counts,
                                   struct aps_work_seen *seen)
{
    const enum aps_rounding rounding = w->options.rounding;
    uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
    uint32_t digits = (1u << (w->width - 1)) - 1;
    uint32_t random = 0;
    uint32_t y = bits;
    uint32_t raw, code;

    if (rounding == APS_ROUND_STOCHASTIC)
        random = aps_philox_element(&w->options, w->options.offset + i);
    if (w->product) {
        double exact = aps_float_from_bits(bits) * w->factor * w->power;

        y = aps_float_bits(aps_work_signed((float)exact, bits));
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

/* Bits [first, first + count) of the wire, count <= 32. */
APS_INLINE uint32_t aps_encode_bits(const struct aps_encode_work *w, bool any,
                                    uint32_t first, uint32_t count,
                                    struct aps_work_seen *seen)
{
    uint32_t i = first / w->width;
    uint32_t at = i * w->width;
    uint32_t all = 0;

    for (; at < first + count && i < w->n; i++, at += w->width) {
        uint32_t bits = aps_work_load_float(w->x, i);
        uint32_t code = any ? aps_encode_any(w, bits, i, at >= first, seen)
                            : aps_encode_nearest(w, bits);

        aps_work_see(seen, bits);
        all |= at >= first ? code << (at - first) : code >> (first - at);
    }
    return all;
}

/* A whole unit of the ways by words, ... */
APS_INLINE void aps_encode_word(const struct aps_encode_work *w, bool any,
                                uint32_t unit, struct aps_work_seen *seen)
{
    uint32_t byte = unit * 4 - w->behind;

    aps_work_store4(w->wire + byte,
                    aps_encode_bits(w, any, byte * 8, 32, seen));
}

/* ... and some of its bytes. */
APS_INLINE void aps_encode_bytes(const struct aps_encode_work *w, bool any,
                                 uint32_t from, uint32_t to,
                                 struct aps_work_seen *seen)
{
    for (uint32_t byte = from; byte < to; byte++)
        w->wire[byte] =
            (unsigned char)aps_encode_bits(w, any, byte * 8, 8, seen);
}

/* Any unit that is not whole. */
APS_INLINE void aps_encode_edge(const struct aps_encode_work *w,
                                enum aps_encode_way way, uint32_t unit,
                                struct aps_work_seen *seen)
{
    uint32_t bytes = w->n / 8 * w->width + (w->n % 8 * w->width + 7) / 8;
    uint32_t size = way < APS_ENCODE_NEAREST ? w->width : 4;
    uint32_t before = way < APS_ENCODE_NEAREST ? 0 : w->behind;
    uint32_t from = unit * size > before ? unit * size - before : 0;
    uint32_t to = (unit + 1) * size - before;

    aps_encode_bytes(w, way == APS_ENCODE_ANY, from, to < bytes ? to : bytes,
                     seen);
}

/* A whole unit of eight floats: the loads ... */
APS_INLINE void aps_encode_load(const struct aps_encode_work *w, uint32_t unit,
                                uint32_t *word)
{
    const unsigned char *from =
        w->x + (size_t)unit * 32 - (size_t)w->behind * 4;

    aps_work_load16(from, word);
    aps_work_load16(from + 16, word + 4);
    if (w->behind > 0)
        aps_work_load16(from + 32, word + 8);
}

/* ... of word[12], which the eight then are the first of. */
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

/*
 * Encode, pack and store them; `width` is a constant. INF and NaN are rare: a
 * product with 0 shows whether there is one, and then the unit is no better
 * than those at the ends.
 */
APS_INLINE void aps_encode_store(const struct aps_encode_work *w,
                                 uint32_t width, uint32_t unit,
                                 const uint32_t *word,
                                 struct aps_work_seen *seen)
{
    unsigned char *to = w->wire + (size_t)unit * width;
    uint32_t packed[4] = {0, 0, 0, 0};
    float zero = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t code = aps_encode_finite(w, word[i]);
        uint32_t at = i * width;

        zero = aps_work_fma(aps_float_from_bits(word[i]), 0, zero);
        packed[at / 32] |= code << at % 32;
        if (at % 32 + width > 32)
            packed[at / 32 + 1] |= code >> (32 - at % 32);
    }
    if (zero != 0) { /* a NaN */
        aps_encode_edge(w, APS_ENCODE_8, unit, seen);
    } else if (width == 4) {
        aps_work_store4(to, packed[0]);
    } else if (width == 6) {
        aps_work_store2(to, packed[0]);
        aps_work_store2(to + 2, packed[0] >> 16);
        aps_work_store2(to + 4, packed[1]);
    } else if (width == 8) {
        aps_work_store8(to, packed);
    } else {
        aps_work_store16(to, packed);
    }
}

/* Does what a thread has seen ask for the marker? */
APS_INLINE bool aps_encode_marks(const struct aps_encode_work *w,
                                 const struct aps_work_seen *seen)
{
    return seen->greatest > w->kernel.marked;
}

/* --- decode -------------------------------------------------------------- */

/* How the codes of four floats are found; the last takes one at a time, and
 * divides where the scaling asks for it. */
enum aps_decode_way {
    APS_DECODE_8,  /* up to 8 bits: four in 32, which two words hold */
    APS_DECODE_16, /* up to 16 bits: four in 64 */
    APS_DECODE_32,
    APS_DECODE_ANY,
    APS_DECODE_WAYS
};

struct aps_decode_work {
    struct aps_kernel kernel;
    float scale;
    unsigned char *x;
    const unsigned char *wire;
    uint32_t n;
    uint32_t width;
    uint32_t bytes;  /* of the wire */
    uint32_t behind; /* floats of unit 0 before x[0] */
    uint32_t offset; /* bytes from a word's boundary to the wire */
    uint32_t units;
    uint32_t inner;
    uint32_t outer;
    uint32_t mask;   /* of a code at the top of 32 bits, ... */
    uint32_t limit;  /* ... and the first that is not finite, likewise */
    uint32_t narrow; /* from 8 exponent bits to the format's */
    float unbias;    /* 2^(difference of the biases) */
    /* ANY */
    bool divide;
    double factor;
    double power;
};

APS_INLINE enum aps_decode_way
aps_decode_way_choose(const struct aps_decode_work *w)
{
    if (w->divide || (uintptr_t)w->x % 4 != 0)
        return APS_DECODE_ANY;
    return w->width <= 8    ? APS_DECODE_8
           : w->width <= 16 ? APS_DECODE_16
                            : APS_DECODE_32;
}

/* Does the unit have four floats, and whole words for their codes? */
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
    *way = aps_decode_way_choose(&w);
    if (*way == APS_DECODE_ANY) {
        w.units = w.n;
        w.inner = 0;
        w.outer = w.n;
        return w;
    }
    w.mask = ~0u << w.kernel.sign_shift;
    w.narrow = (uint32_t)(8 - format->exponent_bits);
    w.unbias = aps_float_pow2(APS_FLOAT_BIAS - format->bias);
    w.limit = w.kernel.limit << w.kernel.sign_shift;
    w.behind = aps_work_behind(x);
    w.offset = (uint32_t)((uintptr_t)wire % 4);
    w.units = (w.n + w.behind + 3) / 4;
    w.outer = w.units;
    while (w.inner < w.outer && !aps_decode_is_whole(&w, w.inner))
        w.inner++;
    while (w.inner < w.outer && !aps_decode_is_whole(&w, w.outer - 1))
        w.outer--;
    return w;
}

/* The 32 bits that begin `shift` bits, less than 32, into two words. */
APS_INLINE uint32_t aps_decode_funnel(uint32_t low, uint32_t high,
                                      uint32_t shift)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(low, high, shift);
#else
    return (uint32_t)(((uint64_t)high << 32 | low) >> shift);
#endif
}

/* Value of a code; as in the host's product a NaN is quiet, and keeps sign and
 * payload. */
APS_INLINE uint32_t aps_decode_value(const struct aps_decode_work *w,
                                     uint32_t code)
{
    float value = aps_kernel_decode(&w->kernel, code);
    uint32_t bits = aps_float_bits(value);

    if (aps_work_is_nan(bits))
        return bits | APS_FLOAT_QUIET;
    return aps_float_bits(value * w->scale);
}

APS_INLINE uint32_t aps_decode_quotient(const struct aps_decode_work *w,
                                        uint32_t code)
{
    float value = aps_kernel_decode(&w->kernel, code);
    uint32_t bits = aps_float_bits(value);

    if (aps_work_is_nan(bits))
        return bits | APS_FLOAT_QUIET;
    return aps_float_bits((float)(value / w->factor * w->power));
}

APS_INLINE uint32_t aps_decode_sum(uint32_t x, uint32_t value)
{
    return aps_float_bits(aps_kernel_canonical(aps_float_from_bits(x) +
                                               aps_float_from_bits(value)));
}

/* The codes of a whole unit into word[4]; `way` is a constant. */
APS_INLINE void aps_decode_load(const struct aps_decode_work *w,
                                enum aps_decode_way way, uint32_t unit,
                                uint32_t *word)
{
    uint32_t bit = (unit * 4 - w->behind) * w->width + 8 * w->offset;
    uint32_t shift = bit % 32;
    const unsigned char *from = w->wire - w->offset + (size_t)(bit / 32) * 4;
    uint32_t a = aps_work_load4(from);
    uint32_t b, c;

    if (way == APS_DECODE_8) {
        b = shift + 4 * w->width > 32 ? aps_work_load4(from + 4) : 0;
        word[0] = aps_decode_funnel(a, b, shift);
    } else if (way == APS_DECODE_16) {
        b = aps_work_load4(from + 4);
        c = shift + 4 * w->width > 64 ? aps_work_load4(from + 8) : 0;
        word[0] = aps_decode_funnel(a, b, shift);
        word[1] = aps_decode_funnel(b, c, shift);
    } else {
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = shift + i * w->width;
            const unsigned char *here = from + (size_t)(at / 32) * 4;

            a = aps_work_load4(here);
            b = at % 32 + w->width > 32 ? aps_work_load4(here + 4) : 0;
            word[i] = aps_decode_funnel(a, b, at % 32);
        }
    }
}

/* Code i of a unit at the top of 32 bits; what is below it does not matter. */
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

/* Element i, wherever it and its code stand. */
APS_INLINE void aps_decode_element(const struct aps_decode_work *w, bool divide,
                                   bool add, uint32_t i)
{
    uint32_t bit = i * w->width;
    uint32_t last = (bit + w->width - 1) / 8;
    uint64_t bits = 0;
    uint32_t value;

    for (uint32_t byte = bit / 8; byte <= last; byte++)
        bits |= (uint64_t)w->wire[byte] << (byte - bit / 8) * 8;
    value = divide ? aps_decode_quotient(w, (uint32_t)(bits >> bit % 8))
                   : aps_decode_value(w, (uint32_t)(bits >> bit % 8));
    if (add)
        value = aps_decode_sum(aps_work_load_float(w->x, i), value);
    aps_work_store_float(w->x, i, value);
}

/* Any unit of four that is not whole. */
APS_INLINE void aps_decode_edge(const struct aps_decode_work *w, bool add,
                                uint32_t unit)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at = unit * 4 + i - w->behind; /* wraps before x[0] */

        if (at < w->n)
            aps_decode_element(w, false, add, at);
    }
}

/* The floats of a whole unit, which are to be added to. */
APS_INLINE void aps_decode_load_sum(const struct aps_decode_work *w,
                                    uint32_t unit, uint32_t *sum)
{
    aps_work_load16(w->x - (size_t)w->behind * 4 + (size_t)unit * 16, sum);
}

/*
 * Decode and store a whole unit. The bits of a finite code are a float's, but
 * for the bias, and subnormal in both or neither: one exact product corrects
 * it. With a code of INF or NaN, which are rare, the unit is no better than
 * those at the ends.
 */
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
        aps_work_store16(w->x - (size_t)w->behind * 4 + (size_t)unit * 16, y);
}

#endif
