/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64 codes joined and packed, for CPUs with AVX-512 VBMI: from four vectors, a
 * code in the low bits of each 32-bit lane; or from two, a code in each 16-bit
 * word and the sign in its top bit. Other bits of lanes and words are ignored.
 * Included by x86-64 builds only.
 */
#ifndef APS_SIMD_CODES_VBMI_H
#define APS_SIMD_CODES_VBMI_H

#include <immintrin.h>

#include "kernel/table.h"

/* The constants of a width, 2 to 8 bits or 16. */
struct aps_codes_64 {
    unsigned width;
    size_t bytes;     /* bytes of 64 packed codes */
    __m512i low;      /* the low bytes or words of two vectors' lanes ... */
    __m512i high;     /* ... and the high ones */
    __m512i sign;     /* the sign's bit of a code, in bytes or words */
    __m512i to_sign;  /* from bit 7 of a byte to it, in 32-bit lanes */
    __m512i two;      /* factors that join two codes, ... */
    __m512i four;     /* ... and two such pairs, ... */
    __m512i eight;    /* ... and a shift for two such fours */
    __m512i together; /* the bytes of eight codes each, of 64-bit lanes */
    __m512i order; /* 32-bit lanes of the result of aps_codes_64_fields ... */
    __m512i fours; /* ... or, for an even width, the bytes of its codes */
};

/* Returns the byte of code i of 64 in the result of aps_codes_64_fields. */
APS_INLINE unsigned aps_codes_64_place(unsigned i)
{
    const unsigned four = i / 4;

    return 4 * (four % 4 * 4 + four / 4 % 2 * 2 + four / 8) + i % 4;
}

APS_CODEC_AVX512 APS_INLINE struct aps_codes_64
aps_codes_64_make(unsigned width)
{
    struct aps_codes_64 c = {
        .width = width,
        .bytes = 8 * (size_t)width,
    };
    uint8_t low[64], high[64], together[64] = {0}, fours[64] = {0};
    uint32_t order[16];
    size_t n = 0;

    if (width == 16) {
        uint16_t words[32];

        for (unsigned i = 0; i < 32; i++)
            words[i] = (uint16_t)(2 * i);
        c.low = _mm512_loadu_si512(words);
        c.high = _mm512_add_epi16(c.low, _mm512_set1_epi16(1));
        c.sign = _mm512_set1_epi16(INT16_MIN);
        return c;
    }
    for (unsigned i = 0; i < 64; i++) {
        low[i] = (uint8_t)(i % 32 * 4);
        high[i] = (uint8_t)(i % 32 * 4 + 3);
    }
    for (unsigned i = 0; i < 16; i++)
        order[i] = aps_codes_64_place(4 * i) / 4;
    for (unsigned lane = 0; lane < 8 && width < 8; lane++)
        for (unsigned i = 0; i < width; i++)
            together[n++] = (uint8_t)(8 * lane + i);
    n = 0;
    for (unsigned four = 0; four < 16 && width < 8; four++)
        for (unsigned i = 0; i < width / 2; i++)
            fours[n++] = (uint8_t)(aps_codes_64_place(4 * four) + i);
    c.order = _mm512_loadu_si512(order);
    c.fours = _mm512_loadu_si512(fours);
    c.low = _mm512_loadu_si512(low);
    c.high = _mm512_loadu_si512(high);
    c.together = _mm512_loadu_si512(together);
    c.sign = _mm512_set1_epi8((char)(1u << (width - 1)));
    c.to_sign = _mm512_set1_epi32((int)(8 - width));
    if (width < 8) {
        c.two = _mm512_set1_epi16((short)(1u | 1u << (8 + width)));
        c.four = _mm512_set1_epi32((int)(1u | 1u << (16 + 2 * width)));
    }
    c.eight = _mm512_set1_epi64(4 * (int64_t)width);
    return c;
}

/* Returns the mask of the bytes that 64 packed codes of less than 8 bits use. */
APS_CODEC_AVX512 APS_INLINE __mmask64
aps_codes_64_valid(const struct aps_codes_64 *c)
{
    return ((uint64_t)1 << c->bytes) - 1;
}

/* Returns a byte of each lane of lane[4], selected by c->low or c->high. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_gather(__m512i which,
                                                     const __m512i *lane)
{
    const __m512i first = _mm512_permutex2var_epi8(lane[0], which, lane[1]);
    const __m512i second = _mm512_permutex2var_epi8(lane[2], which, lane[3]);

    return _mm512_inserti64x4(first, _mm512_castsi512_si256(second), 1);
}

/* Returns the low bytes of the lanes of lane[4]. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_bytes(const struct aps_codes_64 *c, const __m512i *lane)
{
    return aps_codes_gather(c->low, lane);
}

/* Return the low words of lane[2], and the high ones. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_words(const struct aps_codes_64 *c, const __m512i *lane)
{
    return _mm512_permutex2var_epi16(lane[0], c->low, lane[1]);
}

APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_high_words(const struct aps_codes_64 *c, const __m512i *lane)
{
    return _mm512_permutex2var_epi16(lane[0], c->high, lane[1]);
}

/* Returns the codes in `magnitude` with the signs of the floats x[4]. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_64_sign(
    const struct aps_codes_64 *c, __m512i magnitude, const __m512i *x)
{
    __m512i signs = aps_codes_gather(c->high, x);

    if (c->width < 8)
        signs = _mm512_srlv_epi32(signs, c->to_sign);
    /* magnitude | (signs & sign) */
    return _mm512_ternarylogic_epi32(magnitude, signs, c->sign, 0xf8);
}

/* Returns the selector of fields of 8 bits that start at this bit of words, for
 * aps_codes_64_fields. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_64_at(unsigned bit)
{
    uint8_t at[64];

    for (unsigned i = 0; i < 64; i++)
        at[i] = (uint8_t)((i % 4 * 16 + bit) % 64);
    return _mm512_loadu_si512(at);
}

/* Returns a field of each word of word[2], each of which has been packed
 * from two vectors: bytes whose 32-bit lanes c->order brings into the
 * values' order. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_64_fields(__m512i at,
                                                        const __m512i *word)
{
    return _mm512_mask_multishift_epi64_epi8(
        _mm512_multishift_epi64_epi8(at, word[0]), 0xf0f0f0f0f0f0f0f0, at,
        word[1]);
}

APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_in_order(const struct aps_codes_64 *c, __m512i codes)
{
    return _mm512_permutexvar_epi32(c->order, codes);
}

/* Joins codes of less than 8 bits, a byte each: fours in the low bits of 32-bit
 * lanes. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_pack_fours(const struct aps_codes_64 *c, __m512i codes)
{
    __m512i two;

    if (c->width < 7)
        two = _mm512_maddubs_epi16(codes, c->two);
    else /* 2^7 is not a signed factor */
        two =
            _mm512_or_si512(_mm512_and_si512(codes, _mm512_set1_epi16(0xff)),
                            _mm512_slli_epi16(_mm512_srli_epi16(codes, 8), 7));
    return _mm512_madd_epi16(two, c->four);
}

/* Packs the result of aps_codes_64_fields, with an even number of bits less
 * than 8, to c->bytes bytes: four codes are whole bytes. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_pack_even(const struct aps_codes_64 *c, __m512i codes)
{
    return _mm512_permutexvar_epi8(c->fours, aps_codes_64_pack_fours(c, codes));
}

/* Packs 64 codes of less than 8 bits, a byte each, to c->bytes bytes. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_pack(const struct aps_codes_64 *c, __m512i codes)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    const __m512i four = aps_codes_64_pack_fours(c, codes);
    __m512i eight;

    eight = _mm512_or_si512(
        _mm512_and_si512(four, low),
        _mm512_sllv_epi64(_mm512_srli_epi64(four, 32), c->eight));
    return _mm512_permutexvar_epi8(c->together, eight);
}

#endif
