/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounding by random bits for CPUs with AVX-512 VBMI: the codes of rounding.h,
 * computed in another way. Included by x86-64 builds only.
 *
 * If the format has 5 exponent bits or more, 64 values are likely to be normal
 * numbers of it, or beyond it: then rounding is one addition to their bit
 * patterns. Other values are rounded like in stochastic_avx2.h, without a
 * branch for those below the normal ones. If one is INF or NaN, or so small
 * that its fraction has more than 32 bits and may be rounded up, each of the 64
 * values is processed by itself.
 */
#ifndef APS_SIMD_STOCHASTIC_VBMI_H
#define APS_SIMD_STOCHASTIC_VBMI_H

#include <immintrin.h>
#include <string.h>

#include "kernel/kernel.h"
#include "simd/pack_vbmi.h"
#include "kernel/scaling.h"
#include "kernel/tile.h"

#define APS_STOCHASTIC_VALUES 64 /* at a time */

/* The constants of a format, and the properties of the values so far. */
struct aps_stochastic {
    __m512 scale;
    __m512i min_normal; /* bit pattern */
    __m512i least;      /* min_normal, or 0 with 8 exponent bits */
    __m512i leading;    /* 2^23 less min_normal */
    __m512i normals;    /* a normal, finite value is less than this above
                           min_normal */
    bool wide;          /* 5 exponent bits or more */
    __m512i few;        /* 8 + M */
    __m512i unit;       /* 2^23 */
    __m512i overflow;   /* code */
    __m512i sign;       /* sign of a code */
    __m512i nan;        /* turns the code of overflows into that of NaN */
    __m512i shift;      /* 23 - M */
    __m512i rest;       /* 9 + M */
    __m512i sign_shift; /* 32 - width */
    __m512i mantissa;   /* M */
    __m512i greatest;   /* |x|, if one is not finite */
};

APS_TARGET_VBMI APS_INLINE struct aps_stochastic
aps_stochastic_make(const struct aps_kernel *k, unsigned width, float scale)
{
    const int mantissa = 23 - (int)k->shift;

    return (struct aps_stochastic){
        .scale = _mm512_set1_ps(scale),
        .min_normal = _mm512_set1_epi32((int)k->min_normal),
        .least = _mm512_set1_epi32(
            k->min_normal == 1u << 23 ? 0 : (int)k->min_normal),
        .leading = _mm512_set1_epi32((1 << 23) - (int)k->min_normal),
        .normals = _mm512_set1_epi32((int)(APS_FLOAT_INF - k->min_normal)),
        .wide = k->min_normal <= (uint32_t)(APS_FLOAT_BIAS - 14) << 23,
        .few = _mm512_set1_epi32(8 + mantissa),
        .unit = _mm512_set1_epi32(1 << 23),
        .overflow = _mm512_set1_epi32((int)k->overflow),
        .sign = _mm512_set1_epi32((int)(1u << (width - 1))),
        .nan = _mm512_set1_epi32((int)k->nan),
        .shift = _mm512_set1_epi32((int)k->shift),
        .rest = _mm512_set1_epi32(9 + mantissa),
        .sign_shift = _mm512_set1_epi32((int)k->sign_shift),
        .mantissa = _mm512_set1_epi32(mantissa),
        .greatest = _mm512_setzero_si512(),
    };
}

/* Returns the magnitudes of the codes of any 16 values, of magnitudes m (bit
 * patterns, scaled); values that are not finite overflow. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_stochastic_any(const struct aps_stochastic *s, __m512i m, __m512i random)
{
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i smallest = _mm512_srli_epi32(s->min_normal, 23);
    const __m512i e = _mm512_max_epi32(_mm512_srli_epi32(m, 23), one);
    const __m512i field = _mm512_max_epi32(e, smallest);
    const __m512i shift =
        _mm512_add_epi32(_mm512_sub_epi32(field, e), s->shift);
    const __m512i word = _mm512_set1_epi32(32);
    /* a subnormal float lacks the leading bit */
    const __m512i significand = _mm512_mask_or_epi32(
        m, _mm512_cmpge_epu32_mask(m, s->unit),
        _mm512_and_si512(m, _mm512_set1_epi32(0x7fffff)), s->unit);
    const __m512i whole = _mm512_srlv_epi32(significand, shift);
    /* 32 bits of a step; counts beyond 31 leave nothing */
    const __m512i fraction = _mm512_or_si512(
        _mm512_sllv_epi32(significand, _mm512_sub_epi32(word, shift)),
        _mm512_srlv_epi32(significand, _mm512_sub_epi32(shift, word)));
    const __mmask16 up =
        _mm512_cmplt_epu32_mask(_mm512_add_epi32(fraction, random), random);
    const __m512i code = _mm512_add_epi32(
        whole,
        _mm512_sllv_epi32(_mm512_sub_epi32(field, smallest), s->mantissa));

    return _mm512_min_epu32(_mm512_mask_add_epi32(code, up, code, one),
                            s->overflow);
}

/* Returns these magnitudes if a product is not finite, of the values x: a NaN
 * has a code of its own. Rare. */
APS_TARGET_VBMI static __attribute__((noinline)) __m512i
aps_stochastic_special(struct aps_stochastic *s, __m512i x, __m512i m,
                       __m512i random)
{
    const __m512i magnitude =
        _mm512_and_si512(x, _mm512_set1_epi32(0x7fffffff));
    const __mmask16 nan =
        _mm512_cmpgt_epu32_mask(magnitude, _mm512_set1_epi32(APS_FLOAT_INF));
    const __m512i code = _mm512_mask_mov_epi32(aps_stochastic_any(s, m, random),
                                               nan, s->overflow);

    s->greatest = _mm512_max_epu32(s->greatest, magnitude);
    return _mm512_mask_xor_epi32(code, nan, code, s->nan);
}

/* Properties of 64 values. */
struct aps_stochastic_seen {
    __m512i greatest; /* greatest magnitude, scaled */
    __m512i chance;   /* random bits of values of less than 2^-8 steps */
};

/* Gets x[16], scaled, and the bits that round their magnitudes. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_stochastic_scale(const struct aps_stochastic *s, const aps_any_float *x)
{
    return _mm512_castps_si512(
        _mm512_mul_ps(_mm512_loadu_ps((const void *)x), s->scale));
}

APS_TARGET_VBMI APS_INLINE __m512i aps_stochastic_random(const uint32_t *random,
                                                         __m512i y,
                                                         bool correlated)
{
    const __m512i r = _mm512_loadu_si512(random);

    return correlated ? _mm512_xor_si512(r, _mm512_srai_epi32(y, 31)) : r;
}

/* Returns the code of a magnitude with the value's sign. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_stochastic_sign(const struct aps_stochastic *s, __m512i code, __m512i y)
{
    return _mm512_ternarylogic_epi32(code, _mm512_srlv_epi32(y, s->sign_shift),
                                     s->sign, 0xf8);
}

/* Returns the codes of x[16], not for INF and NaN, and without the carries of
 * values of less than 2^-8 steps. */
APS_TARGET_VBMI APS_INLINE __m512i aps_stochastic_16(
    const struct aps_stochastic *s, const aps_any_float *x,
    const uint32_t *random, bool correlated, struct aps_stochastic_seen *seen)
{
    const __m512i y = aps_stochastic_scale(s, x);
    const __m512i r = aps_stochastic_random(random, y, correlated);
    const __m512i m = _mm512_and_si512(y, _mm512_set1_epi32(0x7fffffff));
    const __m512i power = _mm512_and_si512(m, _mm512_set1_epi32(0x7f800000));
    const __m512i missing =
        _mm512_sub_epi32(_mm512_max_epi32(power, s->least), power);
    const __m512i binades = _mm512_srli_epi32(missing, 23);
    const __m512i steps =
        _mm512_add_epi32(_mm512_add_epi32(m, missing), s->leading);
    const __m512i carry =
        _mm512_srlv_epi32(r, _mm512_sub_epi32(s->rest, binades));
    const __m512i code = _mm512_srlv_epi32(_mm512_add_epi32(steps, carry),
                                           _mm512_add_epi32(s->shift, binades));

    seen->greatest = _mm512_max_epu32(seen->greatest, m);
    seen->chance = _mm512_mask_max_epu32(
        seen->chance, _mm512_cmpgt_epi32_mask(binades, s->few), seen->chance,
        r);
    return aps_stochastic_sign(s, _mm512_min_epu32(code, s->overflow), y);
}

/* Returns the codes of x[16], all of which are normal; *most is the greatest
 * distance from min_normal. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_stochastic_normal(const struct aps_stochastic *s, const aps_any_float *x,
                      const uint32_t *random, bool correlated, __m512i *most)
{
    const __m512i y = aps_stochastic_scale(s, x);
    const __m512i r = aps_stochastic_random(random, y, correlated);
    const __m512i m = _mm512_and_si512(y, _mm512_set1_epi32(0x7fffffff));
    const __m512i above = _mm512_sub_epi32(m, s->min_normal);
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(above, s->unit),
                                         _mm512_srlv_epi32(r, s->rest));

    *most = _mm512_max_epu32(*most, above);
    return aps_stochastic_sign(
        s, _mm512_min_epu32(_mm512_srlv_epi32(sum, s->shift), s->overflow), y);
}

/* Returns the codes of any x[16]. */
APS_TARGET_VBMI APS_INLINE __m512i
aps_stochastic_apart(struct aps_stochastic *s, const aps_any_float *x,
                     const uint32_t *random, bool correlated)
{
    const __m512i y = aps_stochastic_scale(s, x);
    const __m512i r = aps_stochastic_random(random, y, correlated);
    const __m512i m = _mm512_and_si512(y, _mm512_set1_epi32(0x7fffffff));
    __m512i code;

    if (_mm512_cmpge_epu32_mask(m, _mm512_set1_epi32(APS_FLOAT_INF)) == 0)
        code = aps_stochastic_any(s, m, r);
    else
        code = aps_stochastic_special(s, _mm512_loadu_si512((const void *)x), m,
                                      r);
    return aps_stochastic_sign(s, code, y);
}

/* Returns the codes of x[64]. */
APS_TARGET_VBMI APS_INLINE void
aps_stochastic_64(struct aps_stochastic *s, const aps_any_float *x,
                  const uint32_t *random, bool correlated, __m512i *code)
{
    struct aps_stochastic_seen seen;

    if (s->wide) {
        __m512i most = _mm512_setzero_si512();

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            code[j] = aps_stochastic_normal(s, x + 16 * j, random + 16 * j,
                                            correlated, &most);
        if (_mm512_cmpge_epu32_mask(most, s->normals) == 0)
            return;
    }
    seen.greatest = seen.chance = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
        code[j] = aps_stochastic_16(s, x + 16 * j, random + 16 * j, correlated,
                                    &seen);
    if (__builtin_expect(
            (_mm512_cmpge_epu32_mask(seen.greatest,
                                     _mm512_set1_epi32(APS_FLOAT_INF)) |
             _mm512_cmpge_epu32_mask(seen.chance,
                                     _mm512_set1_epi32((int)0xff000000u))) == 0,
            1))
        return;
    for (int j = 0; j < 4; j++)
        code[j] =
            aps_stochastic_apart(s, x + 16 * j, random + 16 * j, correlated);
}

/* codes[n] = codes of x[n] * scale, of `size` bytes each (1, 2, 4), for the
 * random bits random[n]; n is a multiple of APS_STOCHASTIC_VALUES. Returns
 * whether the marker is needed. */
APS_TARGET_VBMI APS_INLINE bool
aps_stochastic_encode(const struct aps_kernel *k, unsigned width,
                      const aps_any_float *x, size_t n, float scale,
                      bool correlated, const uint32_t *random, void *codes,
                      int size)
{
    struct aps_stochastic s = aps_stochastic_make(k, width, scale);
    unsigned char *to = codes;
    uint8_t first[64];

    for (int i = 0; i < 64; i++)
        first[i] = (uint8_t)(i % 32 * 4);

    const __m512i bytes = _mm512_loadu_si512(first);

    for (size_t i = 0; i < n; i += APS_STOCHASTIC_VALUES) {
        __m512i code[4];

        if (n > APS_STOCHASTIC_VALUES)
            aps_tile_ask_ahead(x + i, 64);
        aps_stochastic_64(&s, x + i, random + i, correlated, code);
        if (size == 1) {
            const __m512i low =
                _mm512_permutex2var_epi8(code[0], bytes, code[1]);
            const __m512i high =
                _mm512_permutex2var_epi8(code[2], bytes, code[3]);

            _mm512_storeu_si512(
                to + i,
                _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1));
            continue;
        }
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            if (size == 2)
                _mm256_storeu_si256((void *)(to + 2 * (i + 16 * (size_t)j)),
                                    _mm512_cvtepi32_epi16(code[j]));
            else
                _mm512_storeu_si512(to + 4 * (i + 16 * (size_t)j), code[j]);
        }
    }
    return _mm512_reduce_max_epu32(s.greatest) > k->marked;
}

/* Encodes the last n < APS_STOCHASTIC_VALUES values. */
APS_TARGET_VBMI APS_INLINE bool
aps_stochastic_rest(const struct aps_kernel *k, unsigned width,
                    const aps_any_float *x, size_t n, float scale,
                    bool correlated, const uint32_t *random, uint32_t *codes)
{
    float values[APS_STOCHASTIC_VALUES] = {0};
    uint32_t bits[APS_STOCHASTIC_VALUES] = {0};
    uint32_t all[APS_STOCHASTIC_VALUES];
    bool marker;

    memcpy(values, x, n * sizeof *values);
    memcpy(bits, random, n * sizeof *bits);
    marker = aps_stochastic_encode(k, width, values, APS_STOCHASTIC_VALUES,
                                   scale, correlated, bits, all, 4);
    memcpy(codes, all, n * sizeof *all);
    return marker;
}

#endif
