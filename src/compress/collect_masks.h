/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares 64 magnitudes with a bound, and returns a mask: bit i is set if
 * element i reaches it. One function for every instruction set. Included by
 * collect.c.
 */
#ifndef APS_COMPRESS_COLLECT_MASKS_H
#define APS_COMPRESS_COLLECT_MASKS_H

#include <stdint.h>

#include "base/cpu.h"
#include "number/bits.h"
#if APS_CPU_X86
#include <immintrin.h>
#endif

#define APS_COLLECT_MASK 64

/* Elements at any address, of any effective type. */
typedef uint32_t aps_collect_u32 __attribute__((aligned(1), may_alias));

APS_INLINE int32_t aps_collect_magnitude(const aps_collect_u32 *x, size_t i)
{
    return (int32_t)(x[i] & ~APS_FLOAT_SIGN);
}

/* Also for n < 64. A compiler compares to bytes of 0 and 1 in vectors; a
 * multiplication moves eight of them to the top byte of a product. */
APS_INLINE uint64_t aps_collect_mask_plain(const aps_collect_u32 *x, size_t n,
                                           uint32_t lo)
{
    uint8_t flag[APS_COLLECT_MASK] = {0};
    uint64_t mask = 0;

    if (n == APS_COLLECT_MASK) {
        for (size_t i = 0; i < APS_COLLECT_MASK; i++)
            flag[i] = aps_collect_magnitude(x, i) >= (int32_t)lo;
    }
    for (size_t i = 0; n < APS_COLLECT_MASK && i < n; i++)
        flag[i] = aps_collect_magnitude(x, i) >= (int32_t)lo;
    for (size_t i = 0; i < APS_COLLECT_MASK; i += 8) {
        uint64_t eight = 0;

        for (size_t j = 0; j < 8; j++)
            eight |= (uint64_t)flag[i + j] << 8 * j;
        mask |= (eight * 0x0102040810204080u >> 56) << i;
    }
    return mask;
}

#define aps_collect_mask_neon aps_collect_mask_plain

#if APS_CPU_X86
APS_TARGET_AVX2 static inline uint64_t
aps_collect_mask_avx2(const aps_collect_u32 *x, size_t n, uint32_t lo)
{
    const __m256i below = _mm256_set1_epi32((int32_t)lo - 1);
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    uint64_t mask = 0;

    if (n < APS_COLLECT_MASK)
        return aps_collect_mask_plain(x, n, lo);
    for (int i = 0; i < APS_COLLECT_MASK; i += 8) {
        __m256i a = _mm256_and_si256(_mm256_loadu_si256((const void *)(x + i)),
                                     magnitude);
        int eight = _mm256_movemask_ps(
            _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, below)));

        mask |= (uint64_t)(unsigned)eight << i;
    }
    return mask;
}

APS_TARGET_AVX512 static inline uint64_t
aps_collect_mask_avx512(const aps_collect_u32 *x, size_t n, uint32_t lo)
{
    const __m512i bound = _mm512_set1_epi32((int32_t)lo);
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    uint64_t mask = 0;

    if (n < APS_COLLECT_MASK)
        return aps_collect_mask_plain(x, n, lo);
    for (int i = 0; i < APS_COLLECT_MASK; i += 16) {
        __m512i a = _mm512_and_si512(_mm512_loadu_si512(x + i), magnitude);

        mask |= (uint64_t)_mm512_cmpge_epi32_mask(a, bound) << i;
    }
    return mask;
}
#endif

#endif
