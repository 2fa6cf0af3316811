/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding to nearest for CPUs with AVX2, 32 values at a time: the arithmetic
 * of nearest_vbmi.h, on magnitudes, with AVX2's instructions. Formats of up to
 * 8 bits, and of 16; the CPU itself converts to fp16, and bf16 are floats that
 * are rounded.
 *
 * INF and NaN are only detected: the caller then encodes the tile in another
 * way.
 */
#ifndef APS_SIMD_NEAREST_AVX2_H
#define APS_SIMD_NEAREST_AVX2_H

#include <stdbool.h>
#include <string.h>

#include "kernel/kernel.h"
#include "simd/nearest_fold.h"
#include "kernel/table.h"
#include "simd/avx2.h"
#include "simd/code16.h"

#define APS_AVX2_VALUES 32 /* at a time */

/* A format's constants. */
struct aps_avx2 {
    unsigned width;
    enum aps_code16_kind words; /* FP16 and BF16 need only the scale */
    bool folded;      /* beyond, least and first are those of unscaled values */
    __m256 scale;     /* factor of the values, unless folded */
    __m256 beyond;    /* the first code that is not a finite value, in a format
                         without an upper limit */
    __m256 least;     /* the smallest normal value */
    __m256 up;        /* 2^(23-M) */
    __m128i shift;    /* 23 - M */
    __m256i first;    /* excess of the sums: bytes or words */
    __m256i overflow; /* code of overflows: bytes or words */
    __m128i to_sign;  /* from bit 7 of a byte to the sign's of a code */
    __m256i two;      /* factors that join two codes, ... */
    __m256i four;     /* ... and two such pairs, ... */
    __m128i eight;    /* ... and a shift for two such fours */
};

/* Constants of a compiled loop. */
struct aps_avx2_how {
    bool narrow;  /* codes of less than 8 bits */
    bool four;    /* ... of 4 */
    bool words;   /* of 16 bits */
    bool folded;  /* as above */
    bool bounded; /* all are finite and within the format, or need not be
                     checked */
    enum aps_code16_kind kind;
};

/* Returns the greatest lane, none of which is negative. */
APS_CODEC_AVX2 APS_INLINE uint32_t aps_avx2_greatest(__m256i lanes)
{
    __m128i most = _mm_max_epi32(_mm256_castsi256_si128(lanes),
                                 _mm256_extracti128_si256(lanes, 1));

    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(most);
}

/* Returns the kind of FP16 and BF16 that overflow to INF. */
APS_INLINE enum aps_code16_kind aps_avx2_words_of(const struct aps_kernel *k)
{
    return k->overflow == k->limit ? aps_code16_kind_of(k) : APS_CODE16_ANY;
}

/* True if the format can be encoded by this file. */
APS_INLINE bool aps_avx2_suits(const struct aps_format *format)
{
    const struct aps_kernel kernel = aps_kernel_init(format);

    return aps_avx2_words_of(&kernel) == APS_CODE16_BF16 ||
           ((format->width <= 8 || format->width == 16) &&
            format->exponent_bits < 8);
}

/* Sets the constants that join codes of up to 8 bits. */
APS_CODEC_AVX2 static inline void aps_avx2_packing(struct aps_avx2 *c,
                                                   unsigned width)
{
    c->width = width;
    c->to_sign = _mm_cvtsi32_si128(8 - (int)width);
    c->two = _mm256_set1_epi16((short)(1u | 1u << (8 + width % 8)));
    c->four = _mm256_set1_epi32((int)(1u | 1u << (16 + 2 * width % 16)));
    c->eight = _mm_cvtsi32_si128(32 - 4 * (int)width);
}

APS_CODEC_AVX2 static inline struct aps_avx2
aps_avx2_make(const struct aps_kernel *k, unsigned width, float scale)
{
    uint32_t least = k->min_normal;
    uint32_t beyond = (k->limit << k->shift) + k->rebias;
    uint32_t first;
    struct aps_avx2 c = {
        .width = width,
        .scale = _mm256_set1_ps(scale),
        .shift = _mm_cvtsi32_si128((int)k->shift),
        .up = _mm256_set1_ps(aps_float_pow2((int)k->shift)),
        .words = aps_avx2_words_of(k),
    };

    if (c.words != APS_CODE16_ANY) {
        c.folded = true;
        return c;
    }
    c.folded = aps_nearest_fold(k, scale, &least, &beyond);
    first = least >> k->shift;
    c.beyond = _mm256_set1_ps(aps_float_from_bits(beyond));
    c.least = _mm256_set1_ps(aps_float_from_bits(least));
    if (width == 16) {
        c.first = _mm256_set1_epi16((short)first);
        c.overflow = _mm256_set1_epi16((short)k->overflow);
        return c;
    }
    c.first = _mm256_set1_epi8((char)first);
    c.overflow = _mm256_set1_epi8((char)k->overflow);
    aps_avx2_packing(&c, width);
    return c;
}

/* Returns the code of each of 8 values in the low bits of its lane, too great
 * by `first`; `seen` is the greatest magnitude, as a bit pattern. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_avx2_8(const struct aps_avx2 *c,
                                             struct aps_avx2_how how, __m256i x,
                                             __m256i *seen)
{
    const __m256i magnitude =
        _mm256_and_si256(x, _mm256_set1_epi32(0x7fffffff));
    __m256 y = _mm256_castsi256_ps(magnitude);
    __m256i power;

    if (!how.bounded)
        *seen = _mm256_max_epi32(*seen, magnitude);
    if (!how.folded)
        y = _mm256_mul_ps(y, c->scale);
    if (!how.bounded)
        y = _mm256_min_ps(y, c->beyond);
    power = _mm256_and_si256(_mm256_castps_si256(_mm256_max_ps(y, c->least)),
                             _mm256_set1_epi32((int)0xff800000u));
    y = _mm256_fmadd_ps(_mm256_castsi256_ps(power), c->up, y);
    return _mm256_add_epi32(_mm256_castps_si256(y),
                            _mm256_srl_epi32(power, c->shift));
}

/* Returns 16 codes of 16 bits. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_avx2_words(const struct aps_avx2 *c,
                                                 struct aps_avx2_how how,
                                                 const __m256i *x,
                                                 __m256i *seen)
{
    const __m256i low = _mm256_set1_epi32(0xffff);
    const __m256i a = _mm256_and_si256(aps_avx2_8(c, how, x[0], seen), low);
    const __m256i b = _mm256_and_si256(aps_avx2_8(c, how, x[1], seen), low);
    /* saturation keeps the sign */
    const __m256i signs = _mm256_and_si256(_mm256_packs_epi32(x[0], x[1]),
                                           _mm256_set1_epi16(INT16_MIN));
    __m256i code = _mm256_sub_epi16(_mm256_packus_epi32(a, b), c->first);

    if (!how.bounded)
        code = _mm256_min_epu16(code, c->overflow);
    return _mm256_permute4x64_epi64(_mm256_or_si256(code, signs), 0xd8);
}

/* Returns 16 codes of fp16 or bf16. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_avx2_halves(const struct aps_avx2 *c,
                                                  struct aps_avx2_how how,
                                                  const __m256i *x,
                                                  __m256i *seen)
{
    __m256i code[2];

    for (int j = 0; j < 2; j++) {
        const __m256 y = _mm256_mul_ps(_mm256_castsi256_ps(x[j]), c->scale);
        const __m256i bits = _mm256_castps_si256(y);

        if (!how.bounded)
            *seen = _mm256_max_epi32(
                *seen, _mm256_and_si256(x[j], _mm256_set1_epi32(0x7fffffff)));
        if (how.kind == APS_CODE16_FP16)
            code[j] = _mm256_castsi128_si256(
                _mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT));
        else /* half of an ulp, or less if the code is even */
            code[j] = _mm256_srli_epi32(
                _mm256_add_epi32(
                    _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)),
                    _mm256_and_si256(_mm256_srli_epi32(bits, 16),
                                     _mm256_set1_epi32(1))),
                16);
    }
    if (how.kind == APS_CODE16_FP16)
        return _mm256_inserti128_si256(code[0], _mm256_castsi256_si128(code[1]),
                                       1);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(code[0], code[1]),
                                    0xd8);
}

/* Returns 32 codes of up to 8 bits, a byte each. */
APS_CODEC_AVX2 APS_INLINE __m256i aps_avx2_bytes(const struct aps_avx2 *c,
                                                 struct aps_avx2_how how,
                                                 const __m256i *x,
                                                 __m256i *seen)
{
    const __m256i low = _mm256_set1_epi32(0xff);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i lane[4], code, signs;

    for (int j = 0; j < 4; j++)
        lane[j] = _mm256_and_si256(aps_avx2_8(c, how, x[j], seen), low);
    code = _mm256_packus_epi16(_mm256_packus_epi32(lane[0], lane[1]),
                               _mm256_packus_epi32(lane[2], lane[3]));
    code = _mm256_sub_epi8(code, c->first);
    if (!how.bounded)
        code = _mm256_min_epu8(code, c->overflow);
    /* saturation keeps the sign */
    signs = _mm256_packs_epi16(_mm256_packs_epi32(x[0], x[1]),
                               _mm256_packs_epi32(x[2], x[3]));
    signs = _mm256_and_si256(signs, _mm256_set1_epi8(INT8_MIN));
    if (how.narrow)
        signs = _mm256_srl_epi16(signs, c->to_sign);
    return _mm256_permutevar8x32_epi32(_mm256_or_si256(code, signs), order);
}

/* Packs 32 codes of less than 8 bits to 4 * width bytes; writes up to 8 - width
 * bytes after them. */
APS_CODEC_AVX2 APS_INLINE void aps_avx2_pack(const struct aps_avx2 *c,
                                             __m256i codes, uint8_t *wire)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const unsigned width = c->width;
    __m256i two, four, eight;
    uint64_t words[4];

    if (width < 7)
        two = _mm256_maddubs_epi16(codes, c->two);
    else /* 2^7 is not a signed factor */
        two =
            _mm256_or_si256(_mm256_and_si256(codes, _mm256_set1_epi16(0xff)),
                            _mm256_slli_epi16(_mm256_srli_epi16(codes, 8), 7));
    four = _mm256_madd_epi16(two, c->four);
    eight = _mm256_or_si256(
        _mm256_and_si256(four, low),
        _mm256_srl_epi64(_mm256_andnot_si256(low, four), c->eight));
    _mm256_storeu_si256((void *)words, eight);
    for (unsigned j = 0; j < 4; j++)
        memcpy(wire + j * width, &words[j], sizeof words[j]);
}

/* Packs 32 codes of 4 bits to 16 bytes. */
APS_CODEC_AVX2 APS_INLINE void aps_avx2_pack_fours(__m256i codes, uint8_t *wire)
{
    const __m256i pairs =
        _mm256_maddubs_epi16(codes, _mm256_set1_epi16(1 | 16 << 8));

    _mm_storeu_si128((void *)wire,
                     _mm_packus_epi16(_mm256_castsi256_si128(pairs),
                                      _mm256_extracti128_si256(pairs, 1)));
}

/* Encodes x[32] to packed codes, narrow ones like aps_avx2_pack. */
APS_CODEC_AVX2 APS_INLINE void aps_avx2_32(const struct aps_avx2 *c,
                                           struct aps_avx2_how how,
                                           const aps_any_float *x,
                                           __m256i *seen, uint8_t *wire)
{
    __m256i bits[4];

    for (int j = 0; j < 4; j++)
        bits[j] = _mm256_loadu_si256((const void *)(x + 8 * j));
    if (how.words && how.kind != APS_CODE16_ANY) {
        for (int j = 0; j < 4; j += 2)
            _mm256_storeu_si256((void *)(wire + 16 * j),
                                aps_avx2_halves(c, how, bits + j, seen));
    } else if (how.words) {
        _mm256_storeu_si256((void *)wire, aps_avx2_words(c, how, bits, seen));
        _mm256_storeu_si256((void *)(wire + 32),
                            aps_avx2_words(c, how, bits + 2, seen));
    } else if (how.four) {
        aps_avx2_pack_fours(aps_avx2_bytes(c, how, bits, seen), wire);
    } else if (how.narrow) {
        aps_avx2_pack(c, aps_avx2_bytes(c, how, bits, seen), wire);
    } else {
        _mm256_storeu_si256((void *)wire, aps_avx2_bytes(c, how, bits, seen));
    }
}

#endif
