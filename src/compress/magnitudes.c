/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/magnitudes.h"

#include "blockwise/lanes.h"
#include "number/bits.h"
#if APS_CPU_X86
#include <immintrin.h>
#endif

#define LANES APS_MAGNITUDES_LANES

/* Elements at any address, of any effective type. */
typedef float magnitudes_float __attribute__((aligned(1), may_alias));

/* Adds elements [from, n), from a multiple of LANES. */
APS_INLINE void magnitudes_rest(const float *g, const float *e, size_t from,
                                size_t n, float *delta,
                                struct aps_magnitudes_sum *sum)
{
    const magnitudes_float *in = (const void *)g;
    const magnitudes_float *memory = (const void *)e;
    magnitudes_float *out = (void *)delta;

    for (size_t i = from; i < n; i++) {
        float x = memory ? in[i] + memory[i] : in[i];
        int32_t bits = (int32_t)(aps_float_bits(x) & ~APS_FLOAT_SIGN);

        if (out)
            out[i] = x;
        sum->lane[i % LANES] += (double)aps_float_from_bits((uint32_t)bits);
        sum->max = bits > sum->max ? bits : sum->max;
    }
}

/* Adds all LANES at i; their values are x. */
APS_INLINE void magnitudes_lanes(const float *x, struct aps_magnitudes_sum *sum)
{
    int32_t max = sum->max;

    for (size_t j = 0; j < LANES; j++) {
        int32_t bits = (int32_t)(aps_float_bits(x[j]) & ~APS_FLOAT_SIGN);

        sum->lane[j] += (double)aps_float_from_bits((uint32_t)bits);
        max = bits > max ? bits : max;
    }
    sum->max = max;
}

static void magnitudes_plain(const float *g, const float *e, size_t n,
                             float *delta, struct aps_magnitudes_sum *sum)
{
    const magnitudes_float *in = (const void *)g;
    const magnitudes_float *memory = (const void *)e;
    magnitudes_float *out = (void *)delta;
    const size_t whole = n - n % LANES;

    for (size_t i = 0; i < whole; i += LANES) {
        float x[LANES];

        for (size_t j = 0; j < LANES; j++)
            x[j] = in[i + j];
        for (size_t j = 0; memory && j < LANES; j++)
            x[j] += memory[i + j];
        for (size_t j = 0; out && j < LANES; j++)
            out[i + j] = x[j];
        magnitudes_lanes(x, sum);
    }
    magnitudes_rest(g, e, whole, n, delta, sum);
}

#if APS_CPU_X86
/* Returns eight lanes at i. */
APS_TARGET_AVX2 static inline __m256
magnitudes_eight(const float *g, const float *e, size_t i, float *delta)
{
    __m256 x = _mm256_loadu_ps(g + i);

    if (e)
        x = _mm256_add_ps(x, _mm256_loadu_ps(e + i));
    if (delta)
        _mm256_storeu_ps(delta + i, x);
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
}

APS_TARGET_AVX2 static void magnitudes_avx2(const float *g, const float *e,
                                            size_t n, float *delta,
                                            struct aps_magnitudes_sum *all)
{
    const size_t whole = n - n % LANES;
    __m256i max = _mm256_set1_epi32(all->max);
    __m256d sum[LANES / 4];
    int32_t most[8];

    for (int j = 0; j < LANES / 4; j++)
        sum[j] = _mm256_loadu_pd(all->lane + 4 * j);
    for (size_t i = 0; i < whole; i += LANES) {
        for (int j = 0; j < LANES / 8; j++) {
            __m256 a = magnitudes_eight(g, e, i + 8 * (size_t)j, delta);
            __m128 low = _mm256_castps256_ps128(a);
            __m128 high = _mm256_extractf128_ps(a, 1);

            max = _mm256_max_epi32(max, _mm256_castps_si256(a));
            sum[2 * j] = _mm256_add_pd(sum[2 * j], _mm256_cvtps_pd(low));
            sum[2 * j + 1] =
                _mm256_add_pd(sum[2 * j + 1], _mm256_cvtps_pd(high));
        }
    }
    for (int j = 0; j < LANES / 4; j++)
        _mm256_storeu_pd(all->lane + 4 * j, sum[j]);
    _mm256_storeu_si256((__m256i *)(void *)most, max);
    for (int j = 0; j < 8; j++)
        all->max = most[j] > all->max ? most[j] : all->max;
    magnitudes_rest(g, e, whole, n, delta, all);
}

/* Returns sixteen lanes at i. */
APS_TARGET_AVX512 static inline __m512
magnitudes_sixteen(const float *g, const float *e, size_t i, float *delta)
{
    __m512 x = _mm512_loadu_ps(g + i);

    if (e)
        x = _mm512_add_ps(x, _mm512_loadu_ps(e + i));
    if (delta)
        _mm512_storeu_ps(delta + i, x);
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x),
                                                _mm512_set1_epi32(0x7fffffff)));
}

APS_TARGET_AVX512 static void magnitudes_avx512(const float *g, const float *e,
                                                size_t n, float *delta,
                                                struct aps_magnitudes_sum *all)
{
    const size_t whole = n - n % LANES;
    __m512i max = _mm512_set1_epi32(all->max);
    __m512d sum[LANES / 8];

    for (int j = 0; j < LANES / 8; j++)
        sum[j] = _mm512_loadu_pd(all->lane + 8 * j);
    for (size_t i = 0; i < whole; i += LANES) {
        for (int j = 0; j < LANES / 16; j++) {
            __m512 a = magnitudes_sixteen(g, e, i + 16 * (size_t)j, delta);
            __m256 low = _mm512_castps512_ps256(a);
            __m256 high = _mm512_extractf32x8_ps(a, 1);

            max = _mm512_max_epi32(max, _mm512_castps_si512(a));
            sum[2 * j] = _mm512_add_pd(sum[2 * j], _mm512_cvtps_pd(low));
            sum[2 * j + 1] =
                _mm512_add_pd(sum[2 * j + 1], _mm512_cvtps_pd(high));
        }
    }
    for (int j = 0; j < LANES / 8; j++)
        _mm512_storeu_pd(all->lane + 8 * j, sum[j]);
    all->max = _mm512_reduce_max_epi32(max);
    magnitudes_rest(g, e, whole, n, delta, all);
}
#endif

#define magnitudes_neon magnitudes_plain

aps_magnitudes_fn aps_magnitudes_kernel(enum aps_cpu cpu)
{
    static const aps_magnitudes_fn kernels[APS_CPUS] =
        APS_CPU_TABLE(magnitudes_);

    return aps_cpu_supported(cpu) ? kernels[cpu] : NULL;
}

struct aps_magnitudes aps_magnitudes_fold(struct aps_magnitudes_sum *sum)
{
    return (struct aps_magnitudes){
        .sum = aps_lanes_fold(sum->lane, LANES),
        .max = aps_float_from_bits((uint32_t)sum->max),
        .finite = sum->max < (int32_t)APS_FLOAT_INF,
    };
}

struct aps_magnitudes aps_magnitudes_add(const float *g, const float *e,
                                         size_t n, float *delta)
{
    struct aps_magnitudes_sum sum = {.max = 0};

    aps_magnitudes_kernel(aps_cpu_chosen())(g, e, n, delta, &sum);
    return aps_magnitudes_fold(&sum);
}

struct aps_magnitudes aps_magnitudes_of(const float *x, size_t n)
{
    return aps_magnitudes_add(x, NULL, n, NULL);
}
