/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sum of several arrays of codes for CPUs with AVX2 and F16C, in one pass,
 * by the loops of values_avx2.h: no value of a summand goes through memory, and
 * the greatest magnitude of the sums is found at the same time.
 */
#ifndef APS_SIMD_SUM_AVX2_H
#define APS_SIMD_SUM_AVX2_H

#include "simd/nearest_avx2.h"
#include "kernel/tile.h"
#include "simd/values_avx2.h"

/* Wires that are summed at a time, of one kind of values. */
struct aps_sum_avx2 {
    struct aps_values values[APS_SUM_MAX];
    const uint8_t *wire[APS_SUM_MAX];
    int count;
};

/* x[n], n a multiple of 32, = the sum of the wires' values in order, added to x
 * if there are `more`; from value `begin` of the wires on. */
APS_CODEC_AVX2 APS_INLINE void
aps_sum_avx2_body(const struct aps_sum_avx2 *from, int count,
                  enum aps_values_kind kind, bool more, size_t begin, size_t n,
                  aps_any_float *x, __m256i *seen)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    const size_t width = aps_values_width(kind);
    __m256i greatest = *seen;

    for (size_t i = 0; i < n; i += APS_VALUES) {
        const size_t at = (begin + i) / 8 * width;
        __m256 sum[4], y[4];

        if (more)
            for (int q = 0; q < 4; q++)
                sum[q] = _mm256_loadu_ps((const void *)(x + i + 8 * q));
        else
            aps_values_32(&from->values[0], kind, from->wire[0] + at, sum);
        for (int s = !more; s < count; s++) {
            aps_values_32(&from->values[s], kind, from->wire[s] + at, y);
            for (int q = 0; q < 4; q++)
                sum[q] = _mm256_add_ps(sum[q], y[q]);
        }
        for (int q = 0; q < 4; q++) {
            greatest = _mm256_max_epi32(
                greatest,
                _mm256_and_si256(_mm256_castps_si256(sum[q]), magnitude));
            _mm256_storeu_ps((void *)(x + i + 8 * q), sum[q]);
        }
    }
    *seen = greatest;
}

#define APS_SUM_AVX2_LOOP(name, kind)                                          \
    APS_CODEC_AVX2 APS_NOINLINE void aps_sum_avx2_##name(                      \
        const struct aps_sum_avx2 *from, bool more, size_t begin, size_t n,    \
        aps_any_float *x, __m256i *seen)                                       \
    {                                                                          \
        if (from->count == 2 && !more)                                         \
            aps_sum_avx2_body(from, 2, kind, false, begin, n, x, seen);        \
        else if (!more)                                                        \
            aps_sum_avx2_body(from, from->count, kind, false, begin, n, x,     \
                              seen);                                           \
        else                                                                   \
            aps_sum_avx2_body(from, from->count, kind, true, begin, n, x,      \
                              seen);                                           \
    }

APS_SUM_AVX2_LOOP(fours, APS_VALUES_FOURS)
APS_SUM_AVX2_LOOP(eights, APS_VALUES_EIGHTS)
APS_SUM_AVX2_LOOP(fp16, APS_VALUES_FP16)
APS_SUM_AVX2_LOOP(bf16, APS_VALUES_BF16)

/* Runs aps_sum_avx2_body on codes that aps_values_take accepts. */
APS_CODEC_AVX2 static inline void
aps_sum_avx2_add(const struct aps_sum_avx2 *from, bool more, size_t begin,
                 size_t n, aps_any_float *x, __m256i *seen)
{
    static void (*const loops[APS_VALUES_KINDS])(
        const struct aps_sum_avx2 *from, bool more, size_t begin, size_t n,
        aps_any_float *x, __m256i *seen) = {
        [APS_VALUES_FOURS] = aps_sum_avx2_fours,
        [APS_VALUES_EIGHTS] = aps_sum_avx2_eights,
        [APS_VALUES_FP16] = aps_sum_avx2_fp16,
        [APS_VALUES_BF16] = aps_sum_avx2_bf16,
    };

    loops[from->values[0].kind](from, more, begin, n, x, seen);
}

#endif
