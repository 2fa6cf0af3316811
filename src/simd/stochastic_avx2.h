/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounding by random bits for CPUs with AVX2, 32 values at a time: the codes of
 * rounding.h, computed in another way.
 *
 * A value is an integer of steps of 2^-shift of the format's, shift bits of
 * which are rounded: by adding the upper `shift` random bits, and dropping as
 * many bits of the sum. That is the 32-bit fraction of number/cast.h while
 * shift is below 32. A smaller value leaves less than 2^-8, which is rounded up
 * only if the upper 8 random bits are all ones: rare enough for a branch.
 *
 * INF and NaN are only detected: the caller then encodes the chunk in another
 * way.
 */
#ifndef APS_SIMD_STOCHASTIC_AVX2_H
#define APS_SIMD_STOCHASTIC_AVX2_H

#include <stdbool.h>
#include <string.h>

#include "base/size_min.h"
#include "kernel/kernel.h"
#include "simd/nearest_avx2.h"
#include "kernel/table.h"
#include "simd/avx2.h"
#include "kernel/tile.h"

/* A format's constants. */
struct aps_drawn {
    struct aps_avx2 packing; /* constants that join codes of up to 8 bits */
    unsigned width;
    __m256 scale;
    __m256i least;    /* the smallest normal value, bit pattern; 0 if all floats
                         are on the format's grid of exponents */
    __m256i leading;  /* 2^23 less `least`, or 0 */
    __m256i shift;    /* 23 - M */
    __m256i rest;     /* 9 + M */
    __m256i few;      /* 8 + M: a greater distance leaves less than 2^-8 */
    __m256i overflow; /* code of overflows: bytes, words or lanes */
    __m256i sign;     /* sign of a code, in lanes */
    __m128i to_sign;  /* 32 - width */
};

/* Constants of a compiled loop. */
struct aps_drawn_how {
    int bits;    /* 8: codes of up to 8 bits, 16, or 32: any others, in lanes */
    bool narrow; /* codes of less than 8 bits */
    bool correlated;
};

/* Properties of the values so far. */
struct aps_drawn_seen {
    __m256i greatest; /* greatest magnitude, scaled */
    __m256i chance;   /* random bits of values of less than 2^-8 steps */
};

APS_CODEC_AVX2 static inline struct aps_drawn
aps_drawn_make(const struct aps_kernel *k, unsigned width, float scale)
{
    const bool same = k->min_normal == 1u << 23; /* 8 exponent bits */
    const uint32_t least = same ? 0 : k->min_normal;
    const int mantissa = 23 - (int)k->shift;
    struct aps_drawn c = {
        .width = width,
        .scale = _mm256_set1_ps(scale),
        .least = _mm256_set1_epi32((int)least),
        .leading = _mm256_set1_epi32(same ? 0 : (1 << 23) - (int)least),
        .shift = _mm256_set1_epi32((int)k->shift),
        .rest = _mm256_set1_epi32(9 + mantissa),
        .few = _mm256_set1_epi32(8 + mantissa),
        .sign = _mm256_set1_epi32((int)(1u << (width - 1))),
        .to_sign = _mm_cvtsi32_si128(32 - (int)width),
    };

    if (width <= 8) {
        c.packing = aps_avx2_make(k, width, 1);
        c.overflow = _mm256_set1_epi8((char)k->overflow);
    } else if (width == 16) {
        c.overflow = _mm256_set1_epi16((short)k->overflow);
    } else {
        c.overflow = _mm256_set1_epi32((int)k->overflow);
    }
    return c;
}

/* Returns the magnitude of each of x[8], scaled, and the number of binades that
 * it is below the normal values. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_magnitude(const struct aps_drawn *c,
                                                      __m256i x)
{
    const __m256i y =
        _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(x), c->scale));

    return _mm256_and_si256(y, _mm256_set1_epi32(0x7fffffff));
}

APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_missing(const struct aps_drawn *c,
                                                    __m256i magnitude)
{
    const __m256i power =
        _mm256_and_si256(magnitude, _mm256_set1_epi32(0x7f800000));

    return _mm256_sub_epi32(_mm256_max_epi32(power, c->least), power);
}

/* Returns the bits that round the magnitudes of x[8]. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_random(struct aps_drawn_how how,
                                                   __m256i x,
                                                   const uint32_t *random)
{
    const __m256i r = _mm256_loadu_si256((const void *)random);

    return how.correlated ? _mm256_xor_si256(r, _mm256_srai_epi32(x, 31)) : r;
}

/* Returns the magnitudes of the codes of x[8], not clipped, without the carries
 * of values of less than 2^-8 steps. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_8(const struct aps_drawn *c,
                                              struct aps_drawn_how how,
                                              __m256i x, const uint32_t *random,
                                              struct aps_drawn_seen *seen)
{
    const __m256i magnitude = aps_drawn_magnitude(c, x);
    const __m256i r = aps_drawn_random(how, x, random);
    const __m256i missing = aps_drawn_missing(c, magnitude);
    const __m256i binades = _mm256_srli_epi32(missing, 23);
    /* the significand, preceded by the number of binades above the smallest */
    const __m256i steps =
        _mm256_add_epi32(_mm256_add_epi32(magnitude, missing), c->leading);
    const __m256i carry =
        _mm256_srlv_epi32(r, _mm256_sub_epi32(c->rest, binades));
    const __m256i is_small = _mm256_cmpgt_epi32(binades, c->few);

    seen->greatest = _mm256_max_epi32(seen->greatest, magnitude);
    seen->chance =
        _mm256_max_epu32(seen->chance, _mm256_and_si256(r, is_small));
    return _mm256_srlv_epi32(_mm256_add_epi32(steps, carry),
                             _mm256_add_epi32(c->shift, binades));
}

/* Returns 1 for each of x[8] of less than 2^-8 steps that is rounded up. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_small(const struct aps_drawn *c,
                                                  struct aps_drawn_how how,
                                                  __m256i x,
                                                  const uint32_t *random)
{
    const __m256i magnitude = aps_drawn_magnitude(c, x);
    const __m256i r = aps_drawn_random(how, x, random);
    const __m256i missing = aps_drawn_missing(c, magnitude);
    const __m256i steps =
        _mm256_add_epi32(_mm256_add_epi32(magnitude, missing), c->leading);
    /* 0 if the count is below 0 */
    const __m256i fraction = _mm256_srlv_epi32(
        steps, _mm256_sub_epi32(_mm256_srli_epi32(missing, 23), c->rest));
    const __m256i sum = _mm256_add_epi32(fraction, r);
    const __m256i stays = _mm256_cmpeq_epi32(_mm256_max_epu32(sum, r), sum);

    return _mm256_add_epi32(stays, _mm256_set1_epi32(1));
}

/* Returns 32 codes of up to 8 bits, a byte each. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_bytes(const struct aps_drawn *c,
                                                  struct aps_drawn_how how,
                                                  const __m256i *x,
                                                  const __m256i *lane)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    /* saturation keeps overflows beyond the format, and the signs */
    const __m256i code = _mm256_min_epu8(
        _mm256_packus_epi16(_mm256_packs_epi32(lane[0], lane[1]),
                            _mm256_packs_epi32(lane[2], lane[3])),
        c->overflow);
    __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(x[0], x[1]),
                                       _mm256_packs_epi32(x[2], x[3]));

    signs = _mm256_and_si256(signs, _mm256_set1_epi8(INT8_MIN));
    if (how.narrow)
        signs = _mm256_srl_epi16(signs, c->packing.to_sign);
    return _mm256_permutevar8x32_epi32(_mm256_or_si256(code, signs), order);
}

/* Returns 16 codes of 16 bits. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_drawn_words(const struct aps_drawn *c,
                                                  const __m256i *x,
                                                  const __m256i *lane)
{
    const __m256i code =
        _mm256_min_epu16(_mm256_packus_epi32(lane[0], lane[1]), c->overflow);
    const __m256i signs = _mm256_and_si256(_mm256_packs_epi32(x[0], x[1]),
                                           _mm256_set1_epi16(INT16_MIN));

    return _mm256_permute4x64_epi64(_mm256_or_si256(code, signs), 0xd8);
}

/* Encodes x[32] to packed codes, of less than 8 bits like aps_avx2_pack, or to
 * 32 bits each. */
APS_CODEC_AVX2 APS_INLINE void aps_drawn_32(const struct aps_drawn *c,
                                            struct aps_drawn_how how,
                                            const aps_any_float *x,
                                            const uint32_t *random,
                                            __m256i *greatest, uint8_t *wire)
{
    struct aps_drawn_seen seen = {*greatest, _mm256_setzero_si256()};
    __m256i bits[4], lane[4];

    for (int j = 0; j < 4; j++) {
        bits[j] = _mm256_loadu_si256((const void *)(x + 8 * j));
        lane[j] = aps_drawn_8(c, how, bits[j], random + 8 * j, &seen);
    }
    *greatest = seen.greatest;
    /* detects upper bits that are all ones */
    seen.chance = _mm256_cmpeq_epi32(_mm256_srli_epi32(seen.chance, 24),
                                     _mm256_set1_epi32(0xff));
    if (__builtin_expect(!_mm256_testz_si256(seen.chance, seen.chance), 0)) {
        for (int j = 0; j < 4; j++)
            lane[j] = _mm256_add_epi32(
                lane[j], aps_drawn_small(c, how, bits[j], random + 8 * j));
    }
    if (how.bits == 8 && how.narrow) {
        aps_avx2_pack(&c->packing, aps_drawn_bytes(c, how, bits, lane), wire);
    } else if (how.bits == 8) {
        _mm256_storeu_si256((void *)wire, aps_drawn_bytes(c, how, bits, lane));
    } else if (how.bits == 16) {
        _mm256_storeu_si256((void *)wire, aps_drawn_words(c, bits, lane));
        _mm256_storeu_si256((void *)(wire + 32),
                            aps_drawn_words(c, bits + 2, lane + 2));
    } else {
        for (int j = 0; j < 4; j++) {
            const __m256i signs = _mm256_and_si256(
                _mm256_srl_epi32(bits[j], c->to_sign), c->sign);

            _mm256_storeu_si256(
                (void *)(wire + 32 * j),
                _mm256_or_si256(_mm256_min_epu32(lane[j], c->overflow), signs));
        }
    }
}

/* Encodes x[n], at most a chunk. Returns whether all products are finite. */
APS_CODEC_AVX2 APS_INLINE bool
aps_drawn_values(const struct aps_drawn *constants, struct aps_drawn_how how,
                 const aps_any_float *x, size_t n, const uint32_t *random,
                 uint8_t *wire)
{
    /* in registers, because a store of bytes may alias anything in memory */
    const struct aps_drawn k = *constants, *const c = &k;
    const size_t width = how.bits == 32 ? 32 : c->width;
    /* Bytes written after narrow codes are overwritten later. */
    const size_t behind = how.narrow ? APS_AVX2_VALUES : 0;
    __m256i greatest = _mm256_setzero_si256();
    size_t i = 0;

    for (; n - i >= APS_AVX2_VALUES + behind; i += APS_AVX2_VALUES) {
        aps_tile_ask_ahead(x + i, APS_AVX2_VALUES);
        aps_drawn_32(c, how, x + i, random + i, &greatest,
                     wire + i / 8 * width);
    }
    for (; i < n; i += APS_AVX2_VALUES) {
        const size_t count = aps_size_min(n - i, APS_AVX2_VALUES);
        float values[APS_AVX2_VALUES] = {0};
        uint32_t bits[APS_AVX2_VALUES] = {0};
        uint8_t codes[4 * APS_AVX2_VALUES];

        memcpy(values, x + i, count * sizeof *values);
        memcpy(bits, random + i, count * sizeof *bits);
        aps_drawn_32(c, how, (const void *)values, bits, &greatest, codes);
        memcpy(wire + i / 8 * width, codes, (count * width + 7) / 8);
    }
    greatest =
        _mm256_cmpgt_epi32(greatest, _mm256_set1_epi32(APS_FLOAT_INF - 1));
    return _mm256_testz_si256(greatest, greatest) != 0;
}

/* Calls aps_drawn_values with the format's properties as constants. */
APS_CODEC_AVX2 APS_INLINE bool
aps_drawn_format(const struct aps_drawn *c, struct aps_drawn_how how,
                 const aps_any_float *x, size_t n, const uint32_t *random,
                 uint8_t *wire)
{
    how.bits = 8;
    if (c->width == 8)
        return aps_drawn_values(c, how, x, n, random, wire);
    how.narrow = c->width < 8;
    if (c->width < 8)
        return aps_drawn_values(c, how, x, n, random, wire);
    how.bits = c->width == 16 ? 16 : 32;
    return how.bits == 16 ? aps_drawn_values(c, how, x, n, random, wire)
                          : aps_drawn_values(c, how, x, n, random, wire);
}

/* Rounds x[n], at most a chunk, by random[n] to codes: packed ones, exactly
 * their bytes, if these are of up to 8 bits or of 16, and otherwise of 32
 * bits each. Returns false if a product is INF or NaN; the codes are then
 * not valid. */
APS_CODEC_AVX2 static inline bool
aps_drawn_chunk(const struct aps_drawn *c, const aps_any_float *x, size_t n,
                bool correlated, const uint32_t *random, uint8_t *wire)
{
    if (correlated)
        return aps_drawn_format(c, (struct aps_drawn_how){.correlated = true},
                                x, n, random, wire);
    return aps_drawn_format(c, (struct aps_drawn_how){.correlated = false}, x,
                            n, random, wire);
}

#endif
