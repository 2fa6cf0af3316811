/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bits of a stream (number/philox.h) for CPUs with AVX-512: 32 groups of
 * four at a time, eight in a vector, each word in the low half of a 64-bit
 * lane. A multiplication of such words gives both halves of the product, and
 * ignores the high halves of its factors: so that a round is two
 * multiplications, two shifts and two exclusive ors of three.
 *
 * Terms that are equal in all groups are computed once: the group is the first
 * of the counter's words, so that the first two rounds have one multiplication
 * each. Four vectors are in progress at a time, because each round waits for
 * the previous one. Included by x86-64 builds only.
 */
#ifndef APS_SIMD_PHILOX_AVX512_H
#define APS_SIMD_PHILOX_AVX512_H

#include <immintrin.h>

#include "base/cpu.h"
#include "number/philox.h"

#define APS_PHILOX_AVX512_GROUPS 32 /* at a time */
#define APS_PHILOX_AVX512_VECTORS 4

/* Eight groups: a and c are words; in b and d, which are low halves of
 * products, the high halves are arbitrary. */
struct aps_philox_avx512 {
    __m512i a, b, c, d;
};

/* Returns high ^ low ^ key in the low halves, where `high` is the high half of
 * a product. */
APS_TARGET_AVX512 APS_INLINE __m512i aps_philox_avx512_mix(__m512i product,
                                                           __m512i low,
                                                           uint32_t key)
{
    return _mm512_ternarylogic_epi32(
        _mm512_shuffle_epi32(product, _MM_PERM_DDBB), low,
        _mm512_set1_epi32((int)key), 0x96);
}

/* Returns aps_philox_avx512_mix with the product's low half in the high one. */
APS_TARGET_AVX512 APS_INLINE __m512i aps_philox_avx512_pair(__m512i product,
                                                            __m512i low,
                                                            uint32_t key)
{
    return _mm512_mask_ternarylogic_epi32(_mm512_ror_epi64(product, 32), 0x5555,
                                          low, _mm512_set1_epi32((int)key),
                                          0x96);
}

/* word[4 * groups] = the bits of the groups from `group` on, in the order of
 * their elements; groups is a multiple of APS_PHILOX_AVX512_GROUPS, and only
 * the first may begin another 2^32 groups. */
APS_TARGET_AVX512 static void aps_philox_avx512(const struct aps_stream *stream,
                                                uint64_t group, size_t groups,
                                                uint32_t *word)
{
    const __m512i first = _mm512_set1_epi64(0xd2511f53);
    const __m512i second = _mm512_set1_epi64(0xcd9e8d57);
    /* The 128-bit halves are interleaved at the end: see the unpacking
     * below. */
    const __m512i lane = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    const __m512i step = _mm512_set1_epi64(8 * (int64_t)0xd2511f53);
    uint32_t key0[10], key1[10];

    for (uint32_t r = 0; r < 10; r++) {
        key0[r] = (uint32_t)stream->key + r * 0x9e3779b9u;
        key1[r] = (uint32_t)(stream->key >> 32) + r * 0xbb67ae85u;
    }

    /* Round 1: a is the group, c the layer. Round 2: a is unchanged. */
    const uint64_t product1 = (uint64_t)stream->layer * 0xcd9e8d57u;
    const uint32_t a1 =
        (uint32_t)(product1 >> 32) ^ (uint32_t)(group >> 32) ^ key0[0];
    const uint64_t product2 = (uint64_t)a1 * 0xd2511f53u;
    const uint32_t c1 = stream->step ^ key1[0];
    const uint32_t a2 = (uint32_t)product1 ^ key0[1];
    const uint32_t c2 = (uint32_t)(product2 >> 32) ^ key1[1];
    const uint32_t c3 = (uint32_t)product2 ^ key1[2];
    const __m512i none = _mm512_setzero_si512();
    __m512i next = _mm512_mul_epu32(
        _mm512_add_epi64(_mm512_set1_epi64((int64_t)(uint32_t)group), lane),
        first);

    for (size_t i = 0; i < groups; i += APS_PHILOX_AVX512_GROUPS) {
        struct aps_philox_avx512 v[APS_PHILOX_AVX512_VECTORS];

        for (int k = 0; k < APS_PHILOX_AVX512_VECTORS; k++) {
            __m512i c = aps_philox_avx512_mix(next, none, c1);
            __m512i s = _mm512_mul_epu32(c, second);
            __m512i a = aps_philox_avx512_mix(s, none, a2);

            c = _mm512_xor_si512(next, _mm512_set1_epi32((int)c2));
            v[k].b = s;
            s = _mm512_mul_epu32(c, second);
            v[k].d = _mm512_mul_epu32(a, first);
            v[k].a = aps_philox_avx512_mix(s, v[k].b, key0[2]);
            v[k].b = s;
            v[k].c = aps_philox_avx512_mix(v[k].d, none, c3);
            next = _mm512_add_epi64(next, step);
        }
#pragma GCC unroll 6
        for (int r = 3; r < 9; r++) {
#pragma GCC unroll 4
            for (int k = 0; k < APS_PHILOX_AVX512_VECTORS; k++) {
                __m512i f = _mm512_mul_epu32(v[k].a, first);
                __m512i s = _mm512_mul_epu32(v[k].c, second);

                v[k].a = aps_philox_avx512_mix(s, v[k].b, key0[r]);
                v[k].c = aps_philox_avx512_mix(f, v[k].d, key1[r]);
                v[k].b = s;
                v[k].d = f;
            }
        }
#pragma GCC unroll 4
        for (int k = 0; k < APS_PHILOX_AVX512_VECTORS; k++) {
            __m512i f = _mm512_mul_epu32(v[k].a, first);
            __m512i s = _mm512_mul_epu32(v[k].c, second);
            __m512i ab = aps_philox_avx512_pair(s, v[k].b, key0[9]);
            __m512i cd = aps_philox_avx512_pair(f, v[k].d, key1[9]);
            uint32_t *to = word + 4 * i + 32 * k;

            _mm512_storeu_si512(to, _mm512_unpacklo_epi64(ab, cd));
            _mm512_storeu_si512(to + 16, _mm512_unpackhi_epi64(ab, cd));
        }
    }
}

#endif
