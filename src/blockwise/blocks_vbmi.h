/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding of blocks to nearest, 64 values at a time, for CPUs with AVX-512
 * VBMI: two blocks of 32, or one of 64 or a multiple of that, to codes of up to
 * 8 bits or of 16. Makes the bytes of blocks_encode.h. A family defines how
 * blocks are scaled and how lanes are rounded. Included by x86-64 builds only.
 */
#ifndef APS_BLOCKWISE_BLOCKS_VBMI_H
#define APS_BLOCKWISE_BLOCKS_VBMI_H

#include <immintrin.h>

#include "blockwise/blocks.h"
#include "simd/nearest_vbmi.h"
#include "kernel/table.h"

/* The vbmi_step of struct aps_block_ops: a block, or two of 32. */
static inline size_t aps_blocks_64_step(const struct aps_format *format)
{
    const size_t block = (size_t)format->block;

    if (format->width > 8 && format->width != 16)
        return 0;
    return block == 32 ? 64 : block % 64 == 0 ? block : 0;
}

struct aps_blocks_64_ops {
    /* Returns the constants for `round`, those of simd/nearest_vbmi.h. */
    struct aps_nearest (*make)(const struct aps_block_kernel *kernel);

    /* Gets the codes of the scales, and the factors of the values, from the
     * greatest magnitudes of blocks, bit patterns in lanes. */
    __m512i (*scale)(const struct aps_block_kernel *kernel, __m512i greatest,
                     __m512 *factor);

    /* Returns the codes of y[16] in the low bits of lanes, too great by
     * c->first, without their signs if `sign`. */
    __m512i (*round)(const struct aps_nearest *c, __m512 y);
    bool sign;
};

/* Gets the magnitudes, by lanes, of 64 values. */
APS_CODEC_AVX512 APS_INLINE void
aps_blocks_64_load(const aps_any_float *x, __m512i *bits, __m512i *most)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);

    for (int j = 0; j < 4; j++)
        bits[j] = _mm512_loadu_si512((const void *)(x + 16 * j));
    for (int j = 0; j < 2; j++)
        most[j] =
            _mm512_max_epu32(_mm512_and_si512(bits[2 * j], magnitude),
                             _mm512_and_si512(bits[2 * j + 1], magnitude));
}

/* Returns the greatest of the lanes of each of most[2]: in even lanes that of
 * the first, in odd ones that of the second; or of both, if they are `one`
 * block. */
APS_CODEC_AVX512 APS_INLINE __m512i aps_blocks_64_greatest(const __m512i *most,
                                                           bool one)
{
    __m512i both = _mm512_max_epu32(_mm512_unpacklo_epi32(most[0], most[1]),
                                    _mm512_unpackhi_epi32(most[0], most[1]));

    both = _mm512_max_epu32(both, _mm512_shuffle_epi32(both, _MM_PERM_BADC));
    both = _mm512_max_epu32(both, _mm512_shuffle_i64x2(both, both, 0x4e));
    both = _mm512_max_epu32(both, _mm512_shuffle_i64x2(both, both, 0xb1));
    if (one)
        both =
            _mm512_max_epu32(both, _mm512_shuffle_epi32(both, _MM_PERM_CDAB));
    return both;
}

/* Finds blocks of zeros, and blocks that are NaN. */
APS_CODEC_AVX512 APS_INLINE uint64_t aps_blocks_64_special(__m512i greatest)
{
    const __m512i one = _mm512_set1_epi32(1);

    /* 0 - 1 is also beyond INF */
    return _mm512_cmpge_epu32_mask(_mm512_sub_epi32(greatest, one),
                                   _mm512_set1_epi32(APS_FLOAT_INF - 1)) != 0;
}

/* Returns 2^(exponent of the field) as floats; field -1 is 2^-128. */
APS_CODEC_AVX512 APS_INLINE __m512 aps_blocks_64_pow2(__m512i field)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i bits = _mm512_slli_epi32(field, 23);
    const __m512i below =
        _mm512_srlv_epi32(_mm512_set1_epi32(0x400000), /* 2^-127 */
                          _mm512_sub_epi32(zero, field));

    return _mm512_castsi512_ps(_mm512_mask_mov_epi32(
        bits, _mm512_cmple_epi32_mask(field, zero), below));
}

/* Encodes x[4] to packed codes, 32 at each place, multiplied by factor[2]. */
APS_CODEC_AVX512 APS_INLINE void
aps_blocks_64_codes(const struct aps_blocks_64_ops *ops,
                    const struct aps_nearest *c, const __m512i *x,
                    const __m512 *factor, uint8_t *first, uint8_t *second)
{
    const struct aps_codes_64 *codes = &c->codes;
    __m512i lane[4], all;

    for (int j = 0; j < 4; j++)
        lane[j] = ops->round(
            c, _mm512_mul_ps(_mm512_castsi512_ps(x[j]), factor[j / 2]));
    if (codes->width == 16) {
        for (int j = 0; j < 2; j++) {
            all = _mm512_ternarylogic_epi32(
                aps_codes_words(codes, lane + 2 * j),
                aps_codes_high_words(codes, x + 2 * j), codes->sign, 0xf8);
            _mm512_storeu_si512(j == 0 ? first : second, all);
        }
        return;
    }
    all = _mm512_sub_epi8(aps_codes_bytes(codes, lane), c->first);
    if (ops->sign)
        all = aps_codes_64_sign(codes, all, x);
    if (codes->width == 8) {
        _mm256_storeu_si256((void *)first, _mm512_castsi512_si256(all));
        _mm256_storeu_si256((void *)second, _mm512_extracti64x4_epi64(all, 1));
        return;
    }
    const __mmask64 half = ((uint64_t)1 << codes->bytes / 2) - 1;

    all = aps_codes_64_pack(codes, all);
    _mm512_mask_storeu_epi8(first, half, all);
    _mm512_mask_storeu_epi8(second - codes->bytes / 2, half << codes->bytes / 2,
                            all);
}

/* Encodes 64 values that are one block, or two. Returns 0, or 1 if a block is
 * special, whose bytes then have any value. */
APS_CODEC_AVX512 APS_INLINE uint64_t aps_blocks_64_encode(
    const struct aps_blocks_64_ops *ops, const struct aps_block_kernel *kernel,
    const struct aps_nearest *c, bool one, const aps_any_float *x,
    uint8_t *wire)
{
    const size_t half = c->codes.bytes / 2;
    __m512i bits[4], most[2], greatest, code;
    __m512 factor, each[2];
    uint64_t scales;

    aps_blocks_64_load(x, bits, most);
    greatest = aps_blocks_64_greatest(most, one);
    code = ops->scale(kernel, greatest, &factor);
    scales = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(code));
    each[0] = one ? factor : _mm512_permute_ps(factor, 0x00);
    each[1] = one ? factor : _mm512_permute_ps(factor, 0x55);
    aps_blocks_64_codes(ops, c, bits, each, wire + 1, wire + 1 + half + !one);
    wire[0] = (uint8_t)scales;
    if (!one)
        wire[1 + half] = (uint8_t)(scales >> 32);
    return aps_blocks_64_special(greatest);
}

/* Encodes a block of several times 64 values. */
APS_CODEC_AVX512 APS_INLINE uint64_t aps_blocks_64_encode_long(
    const struct aps_blocks_64_ops *ops, const struct aps_block_kernel *kernel,
    const struct aps_nearest *c, size_t block, const aps_any_float *x,
    uint8_t *wire)
{
    const size_t bytes = c->codes.bytes;
    __m512i bits[4], most[2], all[2], greatest, code;
    __m512 factor[2];

    all[0] = all[1] = _mm512_setzero_si512();
    for (size_t i = 0; i < block; i += 64) {
        aps_tile_ask_ahead(x + i, 64);
        aps_blocks_64_load(x + i, bits, most);
        all[0] = _mm512_max_epu32(all[0], most[0]);
        all[1] = _mm512_max_epu32(all[1], most[1]);
    }
    greatest = aps_blocks_64_greatest(all, true);
    code = ops->scale(kernel, greatest, &factor[0]);
    factor[1] = factor[0];
    *wire++ = (uint8_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(code));
    for (size_t i = 0; i < block; i += 64, wire += bytes) {
        aps_blocks_64_load(x + i, bits, most);
        aps_blocks_64_codes(ops, c, bits, factor, wire, wire + bytes / 2);
    }
    return aps_blocks_64_special(greatest);
}

/* The vbmi of struct aps_block_ops. */
APS_CODEC_AVX512 APS_INLINE uint64_t aps_blocks_64_vbmi(
    const struct aps_blocks_64_ops *ops, const struct aps_block_kernel *kernel,
    const aps_any_float *x, size_t n, uint8_t *wire)
{
    const struct aps_nearest c = ops->make(kernel);
    const struct aps_block_kernel k = *kernel;
    const size_t block = (size_t)k.format.block;
    const size_t bytes = c.codes.bytes + (block == 32 ? 2 : 1);
    uint64_t special = 0;

    if (block > 64) {
        const size_t all = 1 + block / 64 * c.codes.bytes;

        for (size_t i = 0; i < n / block; i++)
            special |= aps_blocks_64_encode_long(ops, &k, &c, block,
                                                 x + i * block, wire + i * all)
                       << i;
        return special;
    }
    for (size_t i = 0; i < n / 64; i++) {
        aps_tile_ask_ahead(x + 64 * i, 64);
        special |= aps_blocks_64_encode(ops, &k, &c, block == 64, x + 64 * i,
                                        wire + i * bytes)
                   << i;
    }
    return special;
}

#endif
