/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding of formats of 4 and 8 bits for CPUs with AVX2, 32 values at a time: a
 * byte shuffle looks up all codes of 4 bits, and the subnormal ones of 8, of
 * which there are at most 8. The values of such formats are floats whose low 16
 * bits are zero: 16-bit lanes do. Included by x86-64 builds only.
 */
#ifndef APS_CODEC_TABLE_AVX2_H
#define APS_CODEC_TABLE_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/kernel.h"
#include "codec/put.h"
#include "codec/table.h"
#include "codec/tile.h"

#define APS_TABLE_AVX2_CODES 32 /* at a time */

/* The upper halves of floats. */
struct aps_table_avx2 {
    __m256i low, high; /* their bytes, of the codes 0 ... 15 */
    __m128i shift;     /* from a code of 8 bits to a float: 7 - M */
    __m256i rebias;
    __m256i first;   /* code of the smallest normal value */
    __m256i last;    /* the last code of a finite value */
    __m256i special; /* what greater codes add to their bits */
    __m256 scale;
};

/* Can the format be decoded so? */
APS_INLINE bool aps_table_avx2_suits(const struct aps_format *format)
{
    return format->width == 4 ||
           (format->width == 8 && format->mantissa_bits <= 3);
}

APS_CODEC_AVX2 static inline struct aps_table_avx2
aps_table_avx2_make(const struct aps_kernel *k, float scale)
{
    uint8_t low[16], high[16];

    for (uint32_t code = 0; code < 16; code++) {
        const uint32_t bits = aps_float_bits(aps_kernel_decode(k, code));

        low[code] = (uint8_t)(bits >> 16);
        high[code] = (uint8_t)(bits >> 24);
    }
    return (struct aps_table_avx2){
        .low = _mm256_broadcastsi128_si256(_mm_loadu_si128((void *)low)),
        .high = _mm256_broadcastsi128_si256(_mm_loadu_si128((void *)high)),
        .shift = _mm_cvtsi32_si128((int)k->shift - 16),
        .rebias = _mm256_set1_epi16((short)(k->rebias >> 16)),
        .first = _mm256_set1_epi16((short)k->first),
        .last = _mm256_set1_epi16((short)(k->limit - 1)),
        .special = _mm256_set1_epi16((short)(k->special >> 16)),
        .scale = _mm256_set1_ps(scale),
    };
}

/* x[8] = (or +=) the floats with these upper halves, times the scale. NaN of a
 * sum: the canonical one. */
APS_CODEC_AVX2 APS_INLINE void
aps_table_avx2_store(const struct aps_table_avx2 *t, __m256i bits,
                     enum aps_put put, aps_any_float *x)
{
    __m256 y = _mm256_mul_ps(_mm256_castsi256_ps(bits), t->scale);

    if (put == APS_PUT_ADD) {
        const __m256 nan =
            _mm256_castsi256_ps(_mm256_set1_epi32(APS_FLOAT_NAN));

        y = _mm256_add_ps(_mm256_loadu_ps((const void *)x), y);
        y = _mm256_blendv_ps(y, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
    }
    if (put == APS_PUT_STREAM)
        _mm256_stream_ps((void *)x, y);
    else
        _mm256_storeu_ps((void *)x, y);
}

/* The upper halves of 16 floats by the magnitudes of codes of 8 bits, where
 * `subnormal` has those that are looked up, and the codes' signs are bits 15 of
 * `sign`. */
APS_CODEC_AVX2 APS_INLINE __m256i
aps_table_avx2_eights(const struct aps_table_avx2 *t, __m256i magnitude,
                      __m256i subnormal, __m256i sign)
{
    const __m256i normal =
        _mm256_add_epi16(_mm256_sll_epi16(magnitude, t->shift), t->rebias);
    const __m256i special =
        _mm256_and_si256(_mm256_cmpgt_epi16(magnitude, t->last), t->special);
    const __m256i bits = _mm256_blendv_epi8(
        normal, subnormal, _mm256_cmpgt_epi16(t->first, magnitude));

    return _mm256_or_si256(
        _mm256_or_si256(bits, special),
        _mm256_and_si256(sign, _mm256_set1_epi16(INT16_MIN)));
}

/* The values of 32 codes, of 4 bits (`four`) or of 8. */
APS_CODEC_AVX2 APS_INLINE void aps_table_avx2_32(const struct aps_table_avx2 *t,
                                                 bool four, const uint8_t *wire,
                                                 enum aps_put put,
                                                 aps_any_float *x)
{
    /* The unpacking below works in lanes of 16 bytes: four codes of each eight
     * have to lie in each. */
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i zero = _mm256_setzero_si256();
    __m256i codes, index, low, high, half[2];

    if (four) {
        codes = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)wire));
        codes = _mm256_or_si256(codes, _mm256_slli_epi16(codes, 4));
        codes = _mm256_and_si256(codes, _mm256_set1_epi8(0x0f));
    } else {
        codes = _mm256_loadu_si256((const void *)wire);
    }
    codes = _mm256_permutevar8x32_epi32(codes, order);
    index = four ? codes : _mm256_and_si256(codes, _mm256_set1_epi8(0x7f));
    low = _mm256_shuffle_epi8(t->low, index);
    high = _mm256_shuffle_epi8(t->high, index);
    half[0] = _mm256_unpacklo_epi8(low, high);
    half[1] = _mm256_unpackhi_epi8(low, high);
    if (!four) {
        half[0] =
            aps_table_avx2_eights(t, _mm256_unpacklo_epi8(index, zero), half[0],
                                  _mm256_unpacklo_epi8(zero, codes));
        half[1] =
            aps_table_avx2_eights(t, _mm256_unpackhi_epi8(index, zero), half[1],
                                  _mm256_unpackhi_epi8(zero, codes));
    }
    for (int q = 0; q < 4; q++)
        aps_table_avx2_store(t,
                             q % 2 == 0
                                 ? _mm256_unpacklo_epi16(zero, half[q / 2])
                                 : _mm256_unpackhi_epi16(zero, half[q / 2]),
                             put, x + 8 * q);
}

APS_CODEC_AVX2 APS_INLINE void
aps_table_avx2_body(const struct aps_table_avx2 *table, bool four,
                    const uint8_t *wire, size_t n, enum aps_put put,
                    aps_any_float *x)
{
    const struct aps_table_avx2 t = *table;

    for (size_t i = 0; i < n; i += APS_TABLE_AVX2_CODES) {
        if (put != APS_PUT_STREAM)
            aps_tile_ask_to_write(x + i, APS_TABLE_AVX2_CODES);
        aps_table_avx2_32(&t, four, wire + (four ? i / 2 : i), put, x + i);
    }
}

/* The same in a loop of its own for what is done with the values. */
APS_CODEC_AVX2 APS_INLINE void
aps_table_avx2_put(const struct aps_table_avx2 *table, bool four,
                   const uint8_t *wire, size_t n, enum aps_put put,
                   aps_any_float *x)
{
    switch (put) {
    case APS_PUT:
        aps_table_avx2_body(table, four, wire, n, APS_PUT, x);
        break;
    case APS_PUT_ADD:
        aps_table_avx2_body(table, four, wire, n, APS_PUT_ADD, x);
        break;
    case APS_PUT_STREAM:
        aps_table_avx2_body(table, four, wire, n, APS_PUT_STREAM, x);
        break;
    }
}

/*
 * x[i] = (or +=, as `put` says) value of the packed codes at `wire` * scale, of as many
 * of n as are worked on together, which it returns; the same bits as
 * aps_kernel_decode_array.
 */
APS_CODEC_AVX2 static inline size_t
aps_table_avx2_decode(const struct aps_kernel *kernel, unsigned width,
                      const uint8_t *wire, size_t n, float scale,
                      enum aps_put put, aps_any_float *x)
{
    const struct aps_table_avx2 t = aps_table_avx2_make(kernel, scale);
    const size_t whole = n / APS_TABLE_AVX2_CODES * APS_TABLE_AVX2_CODES;

    if (width == 4)
        aps_table_avx2_put(&t, true, wire, whole, put, x);
    else
        aps_table_avx2_put(&t, false, wire, whole, put, x);
    return whole;
}

#endif
