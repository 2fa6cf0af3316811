/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bits of a stream (number/philox.h) for CPUs with AVX2: 8 groups of four
 * at a time, like philox_avx512.h, whose comments apply here. Two vectors of
 * four groups are in progress at a time: more do not fit into the registers,
 * and the CPU begins the next two early.
 */
#ifndef APS_SIMD_PHILOX_AVX2_H
#define APS_SIMD_PHILOX_AVX2_H

#include "base/cpu.h"
#include "number/philox.h"
#include "simd/avx2.h"

#define APS_PHILOX_AVX2_GROUPS 8 /* at a time */
#define APS_PHILOX_AVX2_VECTORS 2

/* Four groups: a and c are words; in b and d, which are low halves of products,
 * the high halves are arbitrary. */
struct aps_philox_avx2 {
    __m256i a, b, c, d;
};

/* Returns high ^ low ^ key in the low halves, where `high` is the high half of
 * a product. */
APS_TARGET_AVX2 APS_INLINE __m256i aps_philox_avx2_mix(__m256i product,
                                                       __m256i low,
                                                       uint32_t key)
{
    return _mm256_xor_si256(
        _mm256_xor_si256(_mm256_shuffle_epi32(product, 0xf5), low),
        _mm256_set1_epi32((int)key));
}

/* Returns aps_philox_avx2_mix with the product's low half in the high one. */
APS_TARGET_AVX2 APS_INLINE __m256i aps_philox_avx2_pair(__m256i product,
                                                        __m256i low,
                                                        uint32_t key)
{
    const __m256i mixed = _mm256_xor_si256(low, _mm256_set1_epi32((int)key));

    return _mm256_xor_si256(
        _mm256_shuffle_epi32(product, 0xb1),
        _mm256_and_si256(mixed, _mm256_set1_epi64x(0xffffffff)));
}

/* word[4 * groups] = the bits of the groups from `group` on, in the order of
 * their elements; groups is a multiple of APS_PHILOX_AVX2_GROUPS, and only the
 * first may begin another 2^32 groups. */
APS_TARGET_AVX2 static void aps_philox_avx2(const struct aps_stream *stream,
                                            uint64_t group, size_t groups,
                                            uint32_t *word)
{
    const __m256i first = _mm256_set1_epi64x(0xd2511f53);
    const __m256i second = _mm256_set1_epi64x(0xcd9e8d57);
    /* The 128-bit halves are interleaved at the end: see the unpacking
     * below. */
    const __m256i lane = _mm256_setr_epi64x(0, 2, 1, 3);
    const __m256i step = _mm256_set1_epi64x(4 * (int64_t)0xd2511f53);
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
    const __m256i none = _mm256_setzero_si256();
    __m256i next = _mm256_mul_epu32(
        _mm256_add_epi64(_mm256_set1_epi64x((int64_t)(uint32_t)group), lane),
        first);

    for (size_t i = 0; i < groups; i += APS_PHILOX_AVX2_GROUPS) {
        struct aps_philox_avx2 v[APS_PHILOX_AVX2_VECTORS];

        for (int k = 0; k < APS_PHILOX_AVX2_VECTORS; k++) {
            __m256i c = aps_philox_avx2_mix(next, none, c1);
            __m256i s = _mm256_mul_epu32(c, second);
            __m256i a = aps_philox_avx2_mix(s, none, a2);

            c = _mm256_xor_si256(next, _mm256_set1_epi32((int)c2));
            v[k].b = s;
            s = _mm256_mul_epu32(c, second);
            v[k].d = _mm256_mul_epu32(a, first);
            v[k].a = aps_philox_avx2_mix(s, v[k].b, key0[2]);
            v[k].b = s;
            v[k].c = aps_philox_avx2_mix(v[k].d, none, c3);
            next = _mm256_add_epi64(next, step);
        }
#pragma GCC unroll 6
        for (int r = 3; r < 9; r++) {
#pragma GCC unroll 2
            for (int k = 0; k < APS_PHILOX_AVX2_VECTORS; k++) {
                __m256i f = _mm256_mul_epu32(v[k].a, first);
                __m256i s = _mm256_mul_epu32(v[k].c, second);

                v[k].a = aps_philox_avx2_mix(s, v[k].b, key0[r]);
                v[k].c = aps_philox_avx2_mix(f, v[k].d, key1[r]);
                v[k].b = s;
                v[k].d = f;
            }
        }
#pragma GCC unroll 2
        for (int k = 0; k < APS_PHILOX_AVX2_VECTORS; k++) {
            __m256i f = _mm256_mul_epu32(v[k].a, first);
            __m256i s = _mm256_mul_epu32(v[k].c, second);
            __m256i ab = aps_philox_avx2_pair(s, v[k].b, key0[9]);
            __m256i cd = aps_philox_avx2_pair(f, v[k].d, key1[9]);
            uint32_t *to = word + 4 * i + 16 * k;

            _mm256_storeu_si256((void *)to, _mm256_unpacklo_epi64(ab, cd));
            _mm256_storeu_si256((void *)(to + 8),
                                _mm256_unpackhi_epi64(ab, cd));
        }
    }
}

#endif
