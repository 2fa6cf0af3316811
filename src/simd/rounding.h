/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding of arrays with any rounding, and with statistics: loops over
 * number/cast.h, in integer arithmetic. Slower than the loop of kernel.h, which
 * only rounds to nearest. Inlined into float.c.
 */
#ifndef APS_SIMD_ROUNDING_H
#define APS_SIMD_ROUNDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpu.h"
#include "kernel/ops.h"
#include "kernel/kernel.h"
#include "kernel/pack.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/draw.h"
#if APS_CPU_HAS_256
#include "simd/philox_avx2.h"
#endif
#if APS_CPU_X86
#include "simd/philox_avx512.h"
#endif

/* The words of a chunk that starts and ends inside a group of four, and of the
 * groups that a vector unit draws after it. */
#define APS_ROUNDING_WORDS (APS_PACK_CHUNK + 8 + 128)

/* Draws the bits of groups of four, in a vector if that is faster. */
APS_INLINE void aps_rounding_groups(const struct aps_stream *stream,
                                    uint64_t group, size_t groups,
                                    enum aps_vectors vectors, uint32_t *word)
{
    size_t done = 0;

    /* many, unless the first word of the counter overflows: few are cheaper one
     * by one */
#if APS_CPU_X86
    if (vectors == APS_VECTORS_AVX512 &&
        (uint32_t)group < UINT32_MAX - APS_PACK_CHUNK) {
        done = (groups + APS_PHILOX_AVX512_GROUPS - 5) /
               APS_PHILOX_AVX512_GROUPS * APS_PHILOX_AVX512_GROUPS;
        aps_philox_avx512(stream, group, done, word);
    }
#endif
#if APS_CPU_HAS_256
    if (vectors == APS_VECTORS_AVX2 &&
        (uint32_t)group < UINT32_MAX - APS_PACK_CHUNK) {
        done = (groups + APS_PHILOX_AVX2_GROUPS - 3) / APS_PHILOX_AVX2_GROUPS *
               APS_PHILOX_AVX2_GROUPS;
        aps_philox_avx2(stream, group, done, word);
    }
#endif
    (void)vectors;
    for (size_t i = done; i < groups; i++)
        aps_stream_group(stream, group + i, word + 4 * i);
}

/* Draws a stream's bits of n <= APS_PACK_CHUNK elements from `first` on,
 * somewhere in word[APS_ROUNDING_WORDS]. */
APS_INLINE uint32_t *aps_rounding_stream(const struct aps_stream *stream,
                                         uint64_t first, size_t n,
                                         enum aps_vectors vectors,
                                         uint32_t *word)
{
    aps_rounding_groups(stream, first / 4, (first % 4 + n + 3) / 4, vectors,
                        word);
    return word + first % 4;
}

/* own[n] becomes the bits of the rank in its part: aps_draw_part and
 * aps_draw_within, which are shifts if the number of ranks is a power of
 * two. */
APS_INLINE void aps_rounding_correlate(const struct aps_draw *draw,
                                       const uint32_t *restrict shared,
                                       size_t n, uint32_t *restrict own)
{
    const struct aps_draw d = *draw;
    const uint32_t place = d.place;

    if ((d.ranks & (d.ranks - 1)) == 0) {
        const int bits = __builtin_ctz(d.ranks);

        for (size_t i = 0; i < n; i++)
            own[i] = (place + (shared[i] >> (32 - bits))) << (32 - bits) |
                     own[i] >> bits;
        return;
    }
    for (size_t i = 0; i < n; i++)
        own[i] = aps_draw_within(&d, aps_draw_part(&d, shared[i]), own[i]);
}

/* Returns the random bits that round n <= APS_PACK_CHUNK elements from `first`
 * on, somewhere in word[APS_ROUNDING_WORDS]. */
APS_INLINE const uint32_t *aps_rounding_draw(const struct aps_draw *draw,
                                             uint64_t first, size_t n,
                                             enum aps_vectors vectors,
                                             uint32_t *word)
{
    const struct aps_draw d = *draw;
    uint32_t *own = aps_rounding_stream(&d.own, first, n, vectors, word);
    uint32_t other[APS_ROUNDING_WORDS];

    if (d.correlated) {
        const uint32_t *shared =
            aps_rounding_stream(&d.shared, first, n, vectors, other);

        aps_rounding_correlate(&d, shared, n, own);
    }
    return own;
}

/* Returns the random bits that round the magnitudes of x[n]: those of
 * aps_cast_random, so that rounding is stochastic from here on. */
APS_INLINE const uint32_t *
aps_rounding_draw_magnitudes(const struct aps_draw *draw, uint64_t first,
                             const aps_any_float *x, size_t n,
                             enum aps_vectors vectors, uint32_t *word)
{
    uint32_t *own =
        word + (aps_rounding_draw(draw, first, n, vectors, word) - word);

    for (size_t i = 0; draw->correlated && i < n; i++)
        own[i] =
            aps_cast_random(APS_ROUND_CORRELATED, aps_float_bits(x[i]), own[i]);
    return own;
}

/* y[n] = x[n] * factor * 2^exponent, rounded to float, and then cast like CPD
 * if `cpd`. */
APS_INLINE void aps_rounding_multiply(const struct aps_format *format,
                                      const aps_any_float *restrict x, size_t n,
                                      struct aps_scaling scaling, bool cpd,
                                      aps_any_float *restrict y)
{
    const double factor = scaling.factor;
    const double power = aps_double_pow2(scaling.exponent);

    for (size_t i = 0; i < n; i++)
        y[i] = (float)(x[i] * factor * power);
    for (size_t i = 0; cpd && i < n; i++)
        y[i] = aps_float_from_bits(aps_cpd_cast(format, aps_float_bits(y[i])));
}

/* codes[n] = codes of y[n] * 2^exponent, where y[n] comes from x[n]; x decides
 * about special values, the marker and the statistics, which are added to. */
APS_INLINE bool aps_rounding_encode_array(
    const struct aps_format *format, const aps_any_float *restrict x,
    const aps_any_float *restrict y, size_t n, int exponent,
    enum aps_rounding rounding, const uint32_t *restrict random,
    uint32_t *restrict codes, struct aps_encode_stats *stats)
{
    const struct aps_format f = *format;
    const uint32_t limit = aps_cast_limit(&f);
    const uint32_t marked = aps_kernel_init(&f).marked;
    const uint32_t digits = (1u << (f.width - 1)) - 1;
    uint32_t underflow = 0, overflow = 0, nonfinite = 0;
    int32_t greatest = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = aps_float_bits(x[i]) & ~APS_FLOAT_SIGN;
        uint32_t bits = aps_float_bits(y[i]);
        uint32_t raw =
            aps_cast_magnitude(&f, bits & ~APS_FLOAT_SIGN, exponent, rounding,
                               aps_cast_draws(rounding)
                                   ? aps_cast_random(rounding, bits, random[i])
                                   : 0);
        uint32_t code = aps_cast_complete(
            &f, (bits & APS_FLOAT_SIGN) | magnitude, rounding, raw);
        uint32_t finite = magnitude < APS_FLOAT_INF;
        uint32_t nonzero = magnitude < 1 ? magnitude : 1;

        codes[i] = code;
        greatest =
            (int32_t)magnitude > greatest ? (int32_t)magnitude : greatest;
        underflow += finite & nonzero & ((code & digits) == 0);
        overflow += finite & nonzero & (raw >= limit);
        nonfinite += !finite;
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
        stats->nonfinite += nonfinite;
    }
    return (uint32_t)greatest > marked;
}

/* codes[n] = codes of x[n], n <= APS_PACK_CHUNK; `offset` is the number of
 * x[0], and `draw` gives the bits of `rounding`, if it needs any. `stats` may
 * be NULL. Returns whether the marker is needed. */
APS_INLINE bool aps_rounding_encode_chunk(
    const struct aps_format *format, const aps_any_float *x, size_t n,
    struct aps_scaling scaling, enum aps_rounding rounding,
    const struct aps_draw *draw, uint64_t offset, enum aps_vectors vectors,
    uint32_t *codes, struct aps_encode_stats *stats)
{
    const bool cpd = rounding == APS_ROUND_CPD;
    const aps_any_float *y = x;
    int exponent = scaling.exponent;
    float product[APS_PACK_CHUNK];
    uint32_t word[APS_ROUNDING_WORDS];

    if (cpd || scaling.factor != 1) {
        aps_rounding_multiply(format, x, n, scaling, cpd, product);
        y = product;
        exponent = 0;
    }
    switch (rounding) {
    case APS_ROUND_STOCHASTIC:
        return aps_rounding_encode_array(
            format, x, y, n, exponent, APS_ROUND_STOCHASTIC,
            aps_rounding_draw(draw, offset, n, vectors, word), codes, stats);
    case APS_ROUND_CORRELATED:
        return aps_rounding_encode_array(
            format, x, y, n, exponent, APS_ROUND_CORRELATED,
            aps_rounding_draw(draw, offset, n, vectors, word), codes, stats);
    case APS_ROUND_TOWARD_ZERO:
        return aps_rounding_encode_array(format, x, y, n, exponent,
                                         APS_ROUND_TOWARD_ZERO, NULL, codes,
                                         stats);
    case APS_ROUND_NEAREST:
    case APS_ROUND_CPD: /* rounded already */
        break;
    }
    return aps_rounding_encode_array(format, x, y, n, exponent,
                                     APS_ROUND_NEAREST, NULL, codes, stats);
}

#endif
