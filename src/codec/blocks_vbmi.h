/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding 64 values at a time, of two blocks of 32 or one of 64, to codes of up
 * to 8 bits, for CPUs with AVX-512 VBMI. The same bytes as blocks_encode.h
 * makes. Included by x86-64 builds only.
 */
#ifndef APS_CODEC_BLOCKS_VBMI_H
#define APS_CODEC_BLOCKS_VBMI_H

#include <immintrin.h>

#include "codec/blocks.h"
#include "codec/table.h"

/* Values that are asked for ahead of time: the machine's own prefetch starts
 * anew at every page. */
#define APS_BLOCKS_64_AHEAD 512

/* 64 values: their bit patterns, and the greatest magnitude of each half, in
 * all lanes of a vector. */
struct aps_blocks_64 {
    __m512i x[4];
    __m512i greatest[2];
};

APS_CODEC_AVX512 static inline __m512i aps_blocks_64_max(__m512i a, __m512i b)
{
    return _mm512_max_epu32(a, b);
}

APS_CODEC_AVX512 static inline struct aps_blocks_64
aps_blocks_64_load(const aps_any_float *x, size_t block)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    struct aps_blocks_64 v;
    __m512i m[2];

    for (int i = 0; i < 4; i++) {
        v.x[i] = _mm512_loadu_si512((const void *)(x + 16 * i));
        __builtin_prefetch(x + APS_BLOCKS_64_AHEAD + 16 * i);
    }
    for (int i = 0; i < 2; i++)
        m[i] = aps_blocks_64_max(_mm512_and_si512(v.x[2 * i], magnitude),
                                 _mm512_and_si512(v.x[2 * i + 1], magnitude));
    /* even lanes for one half, odd ones for the other */
    __m512i both = aps_blocks_64_max(_mm512_unpacklo_epi32(m[0], m[1]),
                                     _mm512_unpackhi_epi32(m[0], m[1]));

    both = aps_blocks_64_max(both, _mm512_shuffle_epi32(both, _MM_PERM_BADC));
    both = aps_blocks_64_max(both, _mm512_shuffle_i64x2(both, both, 0x4e));
    both = aps_blocks_64_max(both, _mm512_shuffle_i64x2(both, both, 0xb1));
    if (block == 64) /* one block */
        both =
            aps_blocks_64_max(both, _mm512_shuffle_epi32(both, _MM_PERM_CDAB));
    v.greatest[0] = _mm512_shuffle_epi32(both, _MM_PERM_AAAA);
    v.greatest[1] = _mm512_shuffle_epi32(both, _MM_PERM_BBBB);
    return v;
}

/* Is there a block of zeros, or one that is NaN? */
APS_CODEC_AVX512 static inline bool
aps_blocks_64_special(const struct aps_blocks_64 *v)
{
    const __m512i inf = _mm512_set1_epi32(APS_FLOAT_INF);
    const __m512i zero = _mm512_setzero_si512();

    return (_mm512_cmpge_epu32_mask(v->greatest[0], inf) |
            _mm512_cmpge_epu32_mask(v->greatest[1], inf) |
            _mm512_cmpeq_epu32_mask(v->greatest[0], zero) |
            _mm512_cmpeq_epu32_mask(v->greatest[1], zero)) != 0;
}

/* 2^(exponent of the field), field -1 is 2^-128, as floats. */
APS_CODEC_AVX512 static inline __m512 aps_blocks_64_pow2(__m512i field)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bits = _mm512_slli_epi32(field, 23);
    const __m512i below =
        _mm512_srlv_epi32(_mm512_set1_epi32(0x400000), /* 2^-127 */
                          _mm512_sub_epi32(zero, field));

    return _mm512_castsi512_ps(_mm512_mask_mov_epi32(
        bits, _mm512_cmple_epi32_mask(field, zero), below));
}

/* Where 64 codes go: blocks of 32 or 64, codes of at most 6 bits, or of 8. */
struct aps_blocks_64_layout {
    size_t block, bytes; /* bytes: of 64 values, scales included */
    unsigned width;
    __m512i from; /* the bytes of eight codes each, out of 64-bit lanes */
};

APS_CODEC_AVX512 static inline struct aps_blocks_64_layout
aps_blocks_64_layout_make(const struct aps_format *format)
{
    const unsigned width = (unsigned)format->width;
    struct aps_blocks_64_layout layout = {
        .block = (size_t)format->block,
        .bytes = 64 / (size_t)format->block + 8 * width,
        .width = width,
    };
    uint8_t from[64];

    for (unsigned i = 0; i < 64; i++)
        from[i] = (uint8_t)(i < 8 * width ? i / width * 8 + i % width : 0);
    layout.from = _mm512_loadu_si512(from);
    return layout;
}

/* code[4], of 16 codes each, behind the scales of their blocks. */
APS_CODEC_AVX512 static inline void
aps_blocks_64_store(const struct aps_blocks_64_layout *layout,
                    const __m512i *code, uint8_t first, uint8_t second,
                    uint8_t *wire)
{
    const unsigned width = layout->width;
    const bool halves = layout->block == 32;
    uint8_t *const behind = wire + 1 + 4 * width + halves; /* codes 32 on */

    wire[0] = first;
    if (halves)
        behind[-1] = second;
    if (width == 8) {
        for (int i = 0; i < 4; i++)
            _mm_storeu_si128(
                (void *)((i < 2 ? wire + 1 : behind) + 16 * (i % 2)),
                _mm512_cvtepi32_epi8(code[i]));
        return;
    }
    __m512i bytes = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(code[0]));

    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(code[1]), 1);
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(code[2]), 2);
    bytes = _mm512_inserti32x4(bytes, _mm512_cvtepi32_epi8(code[3]), 3);
    /* two codes in 16 bits, four in 32, eight in 64; then side by side */
    const __m512i two = _mm512_maddubs_epi16(
        bytes, _mm512_set1_epi16((short)(1 | 1 << (8 + width))));
    const __m512i four = _mm512_madd_epi16(
        two, _mm512_set1_epi32((int)(1u | 1u << (16 + 2 * width))));
    const __m512i eight =
        _mm512_or_si512(_mm512_and_si512(four, _mm512_set1_epi64(0xffffffff)),
                        _mm512_sll_epi64(_mm512_srli_epi64(four, 32),
                                         _mm_cvtsi32_si128((int)(4 * width))));
    const __mmask64 half = ((uint64_t)1 << 4 * width) - 1;

    bytes = _mm512_permutexvar_epi8(layout->from, eight);
    _mm512_mask_storeu_epi8(wire + 1, half, bytes);
    _mm512_mask_storeu_epi8(behind - 4 * width, half << 4 * width, bytes);
}

#endif
