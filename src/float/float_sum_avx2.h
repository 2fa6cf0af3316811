/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * float_sum.h for CPUs with AVX2: in parts that the L1 cache holds, by the
 * loops of sum_avx2.h, encode_avx2.h and values_avx2.h. A single loop would
 * need more than 16 registers.
 */
#ifndef APS_FLOAT_FLOAT_SUM_AVX2_H
#define APS_FLOAT_FLOAT_SUM_AVX2_H

#include "base/size_min.h"
#include "float/encode_avx2.h"
#include "kernel/kernel.h"
#include "kernel/ops.h"
#include "kernel/scaling.h"
#include "simd/sum_avx2.h"

#define SUM_PART ((size_t)1024) /* values */

/* Prepares the constants of some of `count` summands. Returns false if no loop
 * supports them. */
APS_CODEC_AVX2 static inline bool
sum_avx2_make(const struct aps_codec *codec, const struct aps_summand *summands,
              int count, struct aps_sum_avx2 *from)
{
    from->count = count < APS_SUM_MAX ? count : APS_SUM_MAX;
    for (int s = 0; s < from->count; s++) {
        struct aps_kernel kernel = aps_kernel_init(&codec->format);

        if (!aps_scaling_inverse_is_simple(summands[s].scaling))
            return false;
        if (summands[s].flags & APS_BLOCK_NAN)
            aps_kernel_mark(&kernel);
        from->values[s] = aps_values_make(&kernel, &codec->format,
                                          -summands[s].scaling.exponent);
        from->wire[s] = summands[s].wire;
        if (from->values[s].kind == APS_VALUES_NONE ||
            from->values[s].kind != from->values[0].kind)
            return false;
    }
    return true;
}

/* x[n] = (or +=, if there are `more`) their sum, from value `begin`, a multiple
 * of 32, on; adds its greatest magnitude to *seen. Returns false if the loops
 * do not support a code. */
APS_CODEC_AVX2 static inline bool
sum_avx2_part(const struct aps_codec *codec, const struct aps_summand *summands,
              const struct aps_sum_avx2 *from, bool more, size_t begin,
              size_t n, aps_any_float *x, __m256i *seen)
{
    const size_t width = (size_t)codec->format.width;
    const size_t whole = n / APS_VALUES * APS_VALUES;
    const size_t rest = (begin + whole) / 8 * width;

    for (int s = 0; s < from->count; s++)
        if (!aps_values_take(&from->values[s],
                             from->wire[s] + begin / 8 * width, whole))
            return false;
    aps_sum_avx2_add(from, more, begin, whole, x, seen);
    if (n == whole)
        return true;
    for (int s = 0; s < from->count; s++)
        (more || s > 0 ? codec->decode_add : codec->decode)(
            codec, from->wire[s] + rest, n - whole, summands[s].scaling,
            summands[s].flags, (float *)(void *)(x + whole));
    *seen = _mm256_max_epi32(*seen, _mm256_set1_epi32((int)aps_kernel_greatest(
                                        x + whole, n - whole)));
    return true;
}

/* aps_codec.sum; *greatest is a bit pattern. */
APS_CODEC_AVX2 static inline bool
sum_by_avx2(const struct aps_codec *codec, const struct aps_summand *summands,
            int count, size_t n, aps_any_float *x, uint32_t *greatest)
{
    __m256i seen = _mm256_setzero_si256();

    for (size_t i = 0; i < n; i += APS_SUM_TILE) {
        __m256i part = seen;

        for (int s = 0; s < count; s += APS_SUM_MAX) {
            struct aps_sum_avx2 from;

            part = seen;
            if (!sum_avx2_make(codec, summands + s, count - s, &from) ||
                !sum_avx2_part(codec, summands + s, &from, s > 0, i,
                               aps_size_min(n - i, APS_SUM_TILE), x + i, &part))
                return false;
        }
        seen = part;
    }
    *greatest = aps_avx2_greatest(seen);
    return true;
}

/* aps_codec.sum_encode; *greatest is a bit pattern. */
APS_CODEC_AVX2 static inline bool
sum_encode_by_avx2(const struct aps_codec *codec,
                   const struct aps_summand *summands, int count, size_t n,
                   struct aps_scaling scaling, enum aps_put put, uint8_t *wire,
                   aps_any_float *x, uint32_t *greatest)
{
    const unsigned width = (unsigned)codec->format.width;
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    struct aps_sum_avx2 from;
    struct aps_avx2 to;
    struct aps_values values;
    __m256i seen = _mm256_setzero_si256();

    if (count > APS_SUM_MAX || !aps_avx2_suits(&codec->format) ||
        !aps_scaling_is_simple(&codec->format, scaling) ||
        !aps_scaling_inverse_is_simple(scaling) ||
        !sum_avx2_make(codec, summands, count, &from))
        return false;
    to = aps_avx2_make(&kernel, width,
                       scaling.factor * aps_float_pow2(scaling.exponent));
    values = aps_values_make(&kernel, &codec->format, -scaling.exponent);
    if (!to.folded || values.kind == APS_VALUES_NONE)
        return false;
    for (size_t i = 0; i < n; i += SUM_PART) {
        const size_t part = aps_size_min(n - i, SUM_PART);
        const size_t whole = part / APS_VALUES * APS_VALUES;
        uint8_t *codes = wire + i / 8 * width;
        float sum[SUM_PART];

        if (!sum_avx2_part(codec, summands, &from, false, i, part, (void *)sum,
                           &seen))
            return false;
        aps_avx2_encode(&to, APS_AVX2_BOUNDED, (void *)sum, part, &seen, codes);
        if (!x)
            continue;
        aps_values_decode(&values, codes, whole, put, x + i);
        codec->decode(codec, codes + whole / 8 * width, part - whole, scaling,
                      0, (float *)(void *)(x + i + whole));
    }
    *greatest = aps_avx2_greatest(seen);
    return true;
}

#endif
