/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64 codes in four vectors, a code in the low bits of each 32-bit lane, brought
 * together and packed, for CPUs with AVX-512 VBMI. What stands above the codes
 * in their lanes is arbitrary: it is dropped. Included by x86-64 builds only.
 */
#ifndef APS_CODEC_CODES_VBMI_H
#define APS_CODEC_CODES_VBMI_H

#include <immintrin.h>

#include "codec/table.h"

/* The constants of a width, 2 to 8 bits or 16. */
struct aps_codes_64 {
    unsigned width;
    size_t bytes;     /* of 64 packed codes */
    __m512i order;    /* bytes or words, from those below to that of codes */
    __m512i sign;     /* the sign's bit of a code, in bytes or words */
    __m512i to_sign;  /* from bit 7 of a byte to it, in 32-bit lanes */
    __m512i two;      /* factors that put two codes behind each other, ... */
    __m512i four;     /* ... and two such pairs, ... */
    __m512i eight;    /* ... and a shift of two such fours */
    __m512i together; /* the bytes of eight codes each, of 64-bit lanes */
};

APS_CODEC_AVX512 APS_INLINE struct aps_codes_64
aps_codes_64_make(unsigned width)
{
    struct aps_codes_64 c = {
        .width = width,
        .bytes = 8 * (size_t)width,
    };
    uint8_t order[64], together[64];

    for (unsigned i = 0; i < 64; i++) {
        /* bytes of vectors 0, 2, 1, 3 by turns; words of 0, 1 */
        order[i] =
            (uint8_t)(width == 16 ? i % 32 / 2 * 4 + i / 32 * 2 + i % 2
                                  : i % 16 * 4 + i / 32 + i % 32 / 16 * 2);
        together[i] = (uint8_t)(i < 8 * width ? i / width * 8 + i % width : 0);
    }
    c.order = _mm512_loadu_si512(order);
    c.together = _mm512_loadu_si512(together);
    if (width == 16) {
        c.sign = _mm512_set1_epi16(INT16_MIN);
        return c;
    }
    c.sign = _mm512_set1_epi8((char)(1u << (width - 1)));
    c.to_sign = _mm512_set1_epi32((int)(8 - width));
    c.two = _mm512_set1_epi16((short)(1u | 1u << (8 + width)));
    c.four = _mm512_set1_epi32((int)(1u | 1u << (16 + 2 * width)));
    c.eight = _mm512_set1_epi64(4 * (int64_t)width);
    return c;
}

/* The bytes of 64 packed codes of less than 8 bits. */
APS_CODEC_AVX512 APS_INLINE __mmask64
aps_codes_64_valid(const struct aps_codes_64 *c)
{
    return ((uint64_t)1 << c->bytes) - 1;
}

/* mask ? a : b, bit by bit. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_blend(int mask, __m512i a,
                                                    __m512i b)
{
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32(mask), a, b, 0xca);
}

/* The low bytes of the lanes of lane[4], in an order that aps_codes_64_order
 * mends. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_bytes(const __m512i *lane)
{
    const __m512i first =
        aps_codes_blend(0xffff, lane[0], _mm512_slli_epi32(lane[1], 16));
    const __m512i second =
        aps_codes_blend(0xffff, lane[2], _mm512_slli_epi32(lane[3], 16));

    return aps_codes_blend(0x00ff00ff, first, _mm512_slli_epi32(second, 8));
}

/* The high bytes, in the same order. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_high_bytes(const __m512i *lane)
{
    const __m512i first =
        aps_codes_blend(0xffff, _mm512_srli_epi32(lane[0], 16), lane[1]);
    const __m512i second =
        aps_codes_blend(0xffff, _mm512_srli_epi32(lane[2], 16), lane[3]);

    return aps_codes_blend(0x00ff00ff, _mm512_srli_epi32(first, 8), second);
}

/* The low words of lane[2], and the high ones. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_words(const __m512i *lane)
{
    return aps_codes_blend(0xffff, lane[0], _mm512_slli_epi32(lane[1], 16));
}

APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_high_words(const __m512i *lane)
{
    return aps_codes_blend(0xffff, _mm512_srli_epi32(lane[0], 16), lane[1]);
}

/* The codes in `magnitude`, as aps_codes_bytes makes them, with the signs of the
 * floats x[4]; and all of it in the codes' order. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_codes_64_sign(
    const struct aps_codes_64 *c, __m512i magnitude, const __m512i *x)
{
    __m512i signs = aps_codes_high_bytes(x);

    if (c->width < 8)
        signs = _mm512_srlv_epi32(signs, c->to_sign);
    /* magnitude | (signs & sign) */
    return _mm512_ternarylogic_epi32(magnitude, signs, c->sign, 0xf8);
}

APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_order(const struct aps_codes_64 *c, __m512i codes)
{
    return _mm512_permutexvar_epi8(c->order, codes);
}

/* 64 codes of less than 8 bits, a byte each, to c->bytes bytes. */
APS_CODEC_AVX512 APS_INLINE __m512i
aps_codes_64_pack(const struct aps_codes_64 *c, __m512i codes)
{
    const __m512i low = _mm512_set1_epi64(0xffffffff);
    __m512i two, four, eight;

    if (c->width < 7)
        two = _mm512_maddubs_epi16(codes, c->two);
    else /* 2^7 is no signed factor */
        two =
            _mm512_or_si512(_mm512_and_si512(codes, _mm512_set1_epi16(0xff)),
                            _mm512_slli_epi16(_mm512_srli_epi16(codes, 8), 7));
    four = _mm512_madd_epi16(two, c->four);
    eight = _mm512_or_si512(
        _mm512_and_si512(four, low),
        _mm512_sllv_epi64(_mm512_srli_epi64(four, 32), c->eight));
    return _mm512_permutexvar_epi8(c->together, eight);
}

#endif
