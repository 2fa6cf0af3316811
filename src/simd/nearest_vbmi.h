/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding to nearest for CPUs with AVX-512 VBMI, 64 values at a time: the
 * codes of kernel.h, computed in another way. Included by x86-64 builds only.
 *
 * A value is rounded by one addition of a power of two, 2^(23-M) times its own
 * or that of the smallest normal value. The low mantissa bits of the sum are
 * the significand in steps of the format, and the exponent of the power is that
 * of the code, above or below the normal range. Values beyond the format are
 * first replaced by the first power of two, or code, beyond it. Codes of up to
 * 8 bits are made of the sum alone: the product of its two words shifts the
 * steps up to the exponent, and sign, exponent and steps form a word.
 *
 * INF and NaN are only detected: the caller then encodes the tile in another
 * way.
 */
#ifndef APS_SIMD_NEAREST_VBMI_H
#define APS_SIMD_NEAREST_VBMI_H

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "simd/codes_vbmi.h"
#include "simd/elements_vbmi.h"
#include "kernel/kernel.h"
#include "simd/nearest_fold.h"
#include "kernel/tile.h"

/* For _mm512_range_ps: the operand of smaller, or greater, magnitude, with the
 * sign of the first operand, or without. */
#define APS_NEAREST_LESS 2
#define APS_NEAREST_GREATER 3
#define APS_NEAREST_ABS 8

/* A format's constants. */
struct aps_nearest {
    struct aps_codes_64 codes;
    bool shifted;   /* 8 exponent bits: a code is the upper half of a float */
    uint32_t limit; /* the first code that is not a finite value ... */
    __m512 beyond;  /* ... and its value, in a format without an upper limit */
    bool folded;    /* beyond, least and first are those of unscaled values */
    __m512 scale;   /* factor of the values; 1 if folded */
    __m512 least;   /* the smallest normal value */
    __m512 up;      /* 2^(23-M) */
    __m512i shift;  /* 23 - M */
    __m512i first;  /* excess of lanes: bytes or words */
    __m512i line;   /* factors that join the words of a sum */
    __m512i code;   /* position of the low bits of a code in such a word, ... */
    __m512i high;   /* ... and the sign with as many bits below it as a code
                       has */
    __m512i excess; /* excess of such codes: bytes */
    __m512i overflow; /* code of overflows: bytes or words */
};

/* Properties of the values so far. */
struct aps_nearest_seen {
    __m512 special[2];  /* NaN if one was INF or NaN */
    __m512i most;       /* greatest magnitudes of codes: bytes or words */
    uint64_t underflow; /* number of nonzero values with the code 0 */
};

/* Constants of a compiled loop. */
struct aps_nearest_how {
    bool narrow;  /* codes of less than 8 bits, ... */
    bool odd;     /* ... of an odd number */
    bool words;   /* of 16 bits */
    bool shifted; /* as above */
    bool folded;  /* as above */
    bool bounded; /* no value is INF, NaN or beyond the format */
    bool counted; /* statistics are wanted */

    enum aps_element element; /* type of x: FP32, bf16 or fp16 */
};

/* True if the format can be encoded by this file. */
APS_INLINE bool aps_nearest_suits(const struct aps_format *format)
{
    if (format->width > 8 && format->width != 16)
        return false;
    return format->exponent_bits < 8 ||
           (format->width == 16 && format->kind == APS_FORMAT_IEEE &&
            !format->saturate);
}

APS_CODEC_AVX512 static inline struct aps_nearest
aps_nearest_make(const struct aps_kernel *k, unsigned width, float scale)
{
    uint32_t least = k->min_normal;
    uint32_t beyond = (k->limit << k->shift) + k->rebias;
    uint32_t first;
    struct aps_nearest c = {
        .codes = aps_codes_64_make(width),
        .shifted = k->min_normal == 1u << 23,
        .limit = k->limit,
        .scale = _mm512_set1_ps(scale),
        .shift = _mm512_set1_epi32((int)k->shift),
    };

    if (c.shifted)
        return c;
    c.folded = aps_nearest_fold(k, scale, &least, &beyond);
    if (c.folded)
        c.scale = _mm512_set1_ps(1);
    first = least >> k->shift;
    c.beyond = _mm512_set1_ps(aps_float_from_bits(beyond));
    c.least = _mm512_set1_ps(aps_float_from_bits(least));
    c.up = _mm512_set1_ps(aps_float_pow2((int)k->shift));
    c.first = width == 16 ? _mm512_set1_epi16((short)first)
                          : _mm512_set1_epi8((char)first);
    if (width <= 8) {
        const unsigned gap = k->shift - 16; /* 7 - M */

        c.line = _mm512_set1_epi32((int)(1u << 16 | 1u << gap));
        c.code = aps_codes_64_at(gap);
        c.high = aps_codes_64_at(16 - width);
        /* the sum's exponent is greater than the power's by 23 - M */
        c.excess = _mm512_set1_epi8((char)(first + (k->shift << (7 - gap))));
    }
    c.overflow = width == 16 ? _mm512_set1_epi16((short)k->overflow)
                             : _mm512_set1_epi8((char)k->overflow);
    return c;
}

/* Returns y[16], brought into the range. */
APS_CODEC_AVX512 APS_INLINE __m512
aps_nearest_clamp(const struct aps_nearest *c, __m512 y)
{
    return _mm512_range_ps(y, c->beyond, APS_NEAREST_LESS);
}

/* Returns the power of two, with the sign of y, that rounds y[16], which is in
 * the range: times 2^(23-M). */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_nearest_power(const struct aps_nearest *c, __m512 y)
{
    return _mm512_and_si512(
        _mm512_castps_si512(_mm512_range_ps(y, c->least, APS_NEAREST_GREATER)),
        _mm512_set1_epi32((int)0xff800000u));
}

/* Returns the magnitudes of the codes in the low bits, too great by `first`. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_nearest_code(const struct aps_nearest *c, __m512i power, __m512 sum)
{
    return _mm512_add_epi32(_mm512_castps_si512(sum),
                            _mm512_srlv_epi32(power, c->shift));
}

/* Returns y[16], in the range, in steps: the sum with the power. */
APS_CODEC_AVX512 APS_INLINE __m512 aps_nearest_sum(const struct aps_nearest *c,
                                                   __m512i power, __m512 y)
{
    return _mm512_fmadd_ps(_mm512_castsi512_ps(power), c->up, y);
}

/* Returns the codes of y[16], in the range. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_nearest_bounded_16(const struct aps_nearest *c, __m512 y)
{
    const __m512i power = aps_nearest_power(c, y);

    return aps_nearest_code(c, power, aps_nearest_sum(c, power, y));
}

/* Returns the codes of any y[16]. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_nearest_16(const struct aps_nearest *c,
                                                   __m512 y)
{
    return aps_nearest_bounded_16(c, aps_nearest_clamp(c, y));
}

/* Returns the floats x[16], scaled and brought into the range. */
APS_CODEC_AVX512 APS_INLINE __m512 aps_nearest_in_range(
    const struct aps_nearest *c, struct aps_nearest_how how, __m512i x)
{
    __m512 y = _mm512_castsi512_ps(x);

    if (!how.folded)
        y = _mm512_mul_ps(y, c->scale);
    return how.bounded ? y : aps_nearest_clamp(c, y);
}

/* Returns the sign, the exponent and the steps of the floats x[16], in the
 * low words of lanes, which have the sign above them. For M <= 7: the steps
 * are at most 2^(M+1), and with the bounds of aps_nearest_fold they fit into
 * 15 bits. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_nearest_line(
    const struct aps_nearest *c, struct aps_nearest_how how, __m512i x)
{
    const __m512 y = aps_nearest_in_range(c, how, x);
    const __m512 sum = aps_nearest_sum(c, aps_nearest_power(c, y), y);

    return _mm512_madd_epi16(_mm512_castps_si512(sum), c->line);
}

/* Returns the codes of y[16], with 8 exponent bits. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_nearest_shifted_16(const struct aps_nearest *c, __m512 y)
{
    const __m512i bits = _mm512_castps_si512(y);
    const __m512i odd = _mm512_and_si512(_mm512_srlv_epi32(bits, c->shift),
                                         _mm512_set1_epi32(1));
    const __m512i half = _mm512_set1_epi32(0x7fff);

    return _mm512_srlv_epi32(
        _mm512_add_epi32(_mm512_add_epi32(bits, half), odd), c->shift);
}

/* Sets bit i if the magnitude of value i of x[4] is not 0. */
APS_CODEC_AVX512 APS_INLINE uint64_t aps_nearest_nonzero(const __m512i *x,
                                                         int vectors)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    uint64_t nonzero = 0;

    for (int j = 0; j < vectors; j++)
        nonzero |= (uint64_t)_mm512_test_epi32_mask(x[j], magnitude) << 16 * j;
    return nonzero;
}

/* Returns 64 codes of up to 8 bits, a byte each, as aps_codes_64_fields joins
 * them. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_nearest_fields(const struct aps_nearest *c, struct aps_nearest_how how,
                   const __m512i *x, struct aps_nearest_seen *seen)
{
    __m512i word[2], code;

    for (int j = 0; j < 2; j++)
        word[j] = _mm512_packs_epi32(aps_nearest_line(c, how, x[2 * j]),
                                     aps_nearest_line(c, how, x[2 * j + 1]));
    code = _mm512_sub_epi8(aps_codes_64_fields(c->code, word), c->excess);
    if (how.counted)
        seen->most = _mm512_max_epu8(seen->most, code);
    if (!how.bounded)
        code = _mm512_min_epu8(code, c->overflow);
    /* code | (sign's field & sign) */
    return _mm512_ternarylogic_epi32(code, aps_codes_64_fields(c->high, word),
                                     c->codes.sign, 0xf8);
}

/* Writes codes to the wire. */
APS_CODEC_AVX512 APS_INLINE void
aps_nearest_put_fields(const struct aps_nearest *c, struct aps_nearest_how how,
                       __m512i code, uint8_t *wire)
{
    if (!how.narrow) {
        _mm512_storeu_si512(wire, aps_codes_64_in_order(&c->codes, code));
        return;
    }
    if (how.odd)
        code = aps_codes_64_pack(&c->codes,
                                 aps_codes_64_in_order(&c->codes, code));
    else
        code = aps_codes_64_pack_even(&c->codes, code);
    _mm512_mask_storeu_epi8(wire, aps_codes_64_valid(&c->codes), code);
}

/* Encodes to 64 codes of up to 8 bits. */
APS_CODEC_AVX512 APS_INLINE void
aps_nearest_bytes(const struct aps_nearest *c, struct aps_nearest_how how,
                  const __m512i *x, struct aps_nearest_seen *seen,
                  uint8_t *wire)
{
    const __m512i code = aps_nearest_fields(c, how, x, seen);

    if (how.counted) {
        const uint64_t zero = _mm512_testn_epi8_mask(
            aps_codes_64_in_order(&c->codes, code),
            _mm512_set1_epi8((char)((1u << (c->codes.width - 1)) - 1)));

        seen->underflow +=
            (uint64_t)__builtin_popcountll(zero & aps_nearest_nonzero(x, 4));
    }
    aps_nearest_put_fields(c, how, code, wire);
}

/* Encodes to 32 codes of 16 bits. */
APS_CODEC_AVX512 APS_INLINE void
aps_nearest_words(const struct aps_nearest *c, struct aps_nearest_how how,
                  const __m512i *x, struct aps_nearest_seen *seen,
                  uint8_t *wire)
{
    const __m512i magnitude = _mm512_set1_epi16(0x7fff);
    __m512i lane[2], code;

    for (int j = 0; j < 2; j++)
        lane[j] =
            how.shifted
                ? aps_nearest_shifted_16(
                      c, _mm512_mul_ps(_mm512_castsi512_ps(x[j]), c->scale))
                : aps_nearest_bounded_16(c, aps_nearest_in_range(c, how, x[j]));
    code = aps_codes_words(&c->codes, lane);
    if (!how.shifted)
        code = _mm512_sub_epi16(code, c->first);
    if (how.counted)
        seen->most =
            _mm512_max_epu16(seen->most, _mm512_and_si512(code, magnitude));
    if (!how.shifted && !how.bounded)
        code = _mm512_min_epu16(code, c->overflow);
    if (!how.shifted)
        code = _mm512_ternarylogic_epi32(
            code, aps_codes_high_words(&c->codes, x), c->codes.sign, 0xf8);
    if (how.counted)
        seen->underflow += (uint64_t)__builtin_popcountll(
            _mm512_testn_epi16_mask(code, magnitude) &
            aps_nearest_nonzero(x, 2));
    _mm512_storeu_si512(wire, code);
}

/* Encodes x[64] to packed codes. */
APS_CODEC_AVX512 APS_INLINE void aps_nearest_64(const struct aps_nearest *c,
                                                struct aps_nearest_how how,
                                                const aps_any_float *x,
                                                struct aps_nearest_seen *seen,
                                                uint8_t *wire)
{
    const __m512 none = _mm512_setzero_ps();
    __m512i bits[4];

    for (int j = 0; j < 4; j++) {
        const __m512 value = aps_elements_load(
            how.element, aps_elements_at(how.element, x, (size_t)(16 * j)));

        bits[j] = _mm512_castps_si512(value);
        if (!how.bounded)
            seen->special[j % 2] =
                _mm512_fmadd_ps(value, none, seen->special[j % 2]);
    }
    if (!how.words) {
        aps_nearest_bytes(c, how, bits, seen, wire);
        return;
    }
    aps_nearest_words(c, how, bits, seen, wire);
    aps_nearest_words(c, how, bits + 2, seen, wire + 64);
}

/* Encodes x[n] to packed codes. */
APS_CODEC_AVX512 APS_INLINE void
aps_nearest_values(const struct aps_nearest *constants,
                   struct aps_nearest_how how, const aps_any_float *x, size_t n,
                   struct aps_nearest_seen *what, uint8_t *wire)
{
    /* in registers, because a store of bytes may alias anything in memory */
    const struct aps_nearest k = *constants, *const c = &k;
    struct aps_nearest_seen all = *what, *const seen = &all;
    const size_t width = c->codes.width;
    size_t i = 0;

    for (; n - i >= 64; i += 64) {
        const aps_any_float *from = aps_elements_at(how.element, x, i);

        aps_tile_ask_ahead(from, 16 * aps_elements_bytes(how.element));
        aps_nearest_64(c, how, from, seen, wire + i / 8 * width);
    }
    if (i < n) {
        const aps_any_float *from = aps_elements_at(how.element, x, i);
        float rest[64] = {0};
        uint8_t codes[128];

        memcpy(rest, from, (n - i) * aps_elements_bytes(how.element));
        aps_nearest_64(c, how, rest, seen, codes);
        memcpy(wire + i / 8 * width, codes, ((n - i) * width + 7) / 8);
    }
    *what = all;
}

/* Calls aps_nearest_values with the format's properties as constants. */
APS_CODEC_AVX512 APS_INLINE void
aps_nearest_format(const struct aps_nearest *c, struct aps_nearest_how how,
                   const aps_any_float *x, size_t n,
                   struct aps_nearest_seen *seen, uint8_t *wire)
{
    if (c->codes.width == 16) {
        how.words = true;
        aps_nearest_values(c, how, x, n, seen, wire);
    } else if (c->codes.width == 8) {
        aps_nearest_values(c, how, x, n, seen, wire);
    } else {
        how.narrow = true;
        if (c->codes.width % 2 == 0) {
            aps_nearest_values(c, how, x, n, seen, wire);
        } else {
            how.odd = true;
            aps_nearest_values(c, how, x, n, seen, wire);
        }
    }
}

/* True if an INF, a NaN or, if they are counted, a value beyond the format has
 * been seen. */
APS_CODEC_AVX512 APS_INLINE bool
aps_nearest_is_special(const struct aps_nearest *c,
                       const struct aps_nearest_seen *seen, bool counted)
{
    const __m512 special = _mm512_add_ps(seen->special[0], seen->special[1]);

    if (_mm512_cmp_ps_mask(special, special, _CMP_UNORD_Q))
        return true;
    if (!counted)
        return false;
    return c->codes.width == 16
               ? _mm512_cmpge_epu16_mask(
                     seen->most, _mm512_set1_epi16((short)c->limit)) != 0
               : _mm512_cmpge_epu8_mask(seen->most,
                                        _mm512_set1_epi8((char)c->limit)) != 0;
}

APS_CODEC_AVX512 APS_INLINE struct aps_nearest_seen aps_nearest_seen_none(void)
{
    struct aps_nearest_seen seen = {.underflow = 0};

    seen.special[0] = seen.special[1] = _mm512_setzero_ps();
    seen.most = _mm512_setzero_si512();
    return seen;
}

/*
 * Encodes x[n], at most a tile, to packed codes, exactly their bytes;
 * `bounded`: all are finite, and none is beyond the format. Adds to `stats`
 * (NULL: not counted). Returns false if there are INF, NaN or, if they are
 * counted, values beyond the format; the codes are then not valid and nothing
 * is counted.
 */
APS_CODEC_AVX512 static inline bool
aps_nearest_tile(const struct aps_nearest *c, const aps_any_float *x, size_t n,
                 bool bounded, uint8_t *wire, struct aps_encode_stats *stats)
{
    struct aps_nearest_seen seen = aps_nearest_seen_none();

    if (stats)
        aps_nearest_format(
            c, (struct aps_nearest_how){.counted = true, .shifted = c->shifted},
            x, n, &seen, wire);
    else if (c->shifted)
        aps_nearest_values(
            c, (struct aps_nearest_how){.words = true, .shifted = true}, x, n,
            &seen, wire);
    else if (!c->folded)
        aps_nearest_format(c, (struct aps_nearest_how){.folded = false}, x, n,
                           &seen, wire);
    else if (!bounded)
        aps_nearest_format(c, (struct aps_nearest_how){.folded = true}, x, n,
                           &seen, wire);
    else
        aps_nearest_format(
            c, (struct aps_nearest_how){.folded = true, .bounded = true}, x, n,
            &seen, wire);
    if (aps_nearest_is_special(c, &seen, stats))
        return false;
    if (stats)
        stats->underflow += seen.underflow;
    return true;
}

/* aps_nearest_tile for elements of bf16 or fp16; only if c->folded. */
APS_CODEC_AVX512 static inline bool
aps_nearest_elements(const struct aps_nearest *c, enum aps_element element,
                     const void *x, size_t n, uint8_t *wire)
{
    struct aps_nearest_seen seen = aps_nearest_seen_none();
    struct aps_nearest_how how = {.folded = true};

    if (element == APS_ELEMENT_BF16) {
        how.element = APS_ELEMENT_BF16;
        aps_nearest_format(c, how, x, n, &seen, wire);
    } else {
        how.element = APS_ELEMENT_FP16;
        aps_nearest_format(c, how, x, n, &seen, wire);
    }
    return !aps_nearest_is_special(c, &seen, false);
}

#endif
