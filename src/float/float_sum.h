/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of several arrays of codes in one pass: the bodies that float.c compiles
 * for each kind of vectors. Inlined into float.c.
 */
#ifndef APS_FLOAT_FLOAT_SUM_H
#define APS_FLOAT_FLOAT_SUM_H

#include "base/cpu.h"
#include "base/size_min.h"
#include "float/float_chunk.h"
#include "kernel/kernel.h"
#include "kernel/scaling.h"
#include "kernel/tile.h"
#if APS_CPU_HAS_256
#include "float/float_sum_avx2.h"
#else
#define sum_by_avx2(...) false
#define sum_encode_by_avx2(...) false
#endif
#if APS_CPU_X86
#include "simd/sum_vbmi.h"
#else
#define sum_by_vbmi(...) false
#define sum_encode_by_vbmi(...) false
#endif

#if APS_CPU_X86
/* True if there is a kernel for sums of these arrays. */
static bool sum_suits(const struct aps_codec *codec,
                      const struct aps_summand *summands, int count,
                      enum aps_vectors vectors)
{
    if (vectors != APS_VECTORS_AVX512 || codec->format.width > APS_TABLE_WIDTH)
        return false;
    for (int s = 0; s < count; s++)
        if (!aps_scaling_inverse_is_simple(summands[s].scaling))
            return false;
    return true;
}

/* Prepares the values of some summands from `begin`, a multiple of 64, on. */
APS_CODEC_AVX512 static void sum_make(const struct aps_codec *codec,
                                      const struct aps_summand *summands,
                                      int count, size_t begin,
                                      struct aps_sum *from)
{
    const unsigned width = (unsigned)codec->format.width;

    from->scaled = true;
    for (int s = 0; s < count; s++) {
        struct aps_kernel kernel = aps_kernel_init(&codec->format);

        if (summands[s].flags & APS_BLOCK_NAN)
            aps_kernel_mark(&kernel);
        from->table[s] = aps_table_make(
            &kernel, width, aps_float_pow2(-summands[s].scaling.exponent));
        from->scaled &= from->table[s].scaled;
        from->wire[s] = (const uint8_t *)summands[s].wire + begin / 8 * width;
    }
}

/* Sums the values [begin, begin + n), multiples of 64, some summands at a time.
 * Returns the greatest bit pattern of the sums' magnitudes. */
APS_CODEC_AVX512 static uint32_t sum_vbmi(const struct aps_codec *codec,
                                          const struct aps_summand *summands,
                                          int count, size_t begin, size_t n,
                                          aps_any_float *x)
{
    uint32_t greatest = 0;

    for (int s = 0; s < count; s += APS_SUM_MAX) {
        const int these = count - s < APS_SUM_MAX ? count - s : APS_SUM_MAX;
        struct aps_sum from;

        sum_make(codec, summands + s, these, begin, &from);
        greatest = aps_sum_store(&from, these, (unsigned)codec->format.width,
                                 s > 0, n, x + begin);
    }
    return greatest;
}

/* Sums the rest of an array, n < 64 values from `begin` on, with zeros after
 * them. */
APS_CODEC_AVX512 static uint32_t
sum_encode_rest(const struct aps_codec *codec, struct aps_sum *from, int count,
                size_t begin, size_t n, const struct aps_nearest *nearest,
                uint8_t *wire)
{
    const unsigned width = (unsigned)codec->format.width;
    const size_t at = begin / 8 * width, bytes = (n * width + 7) / 8;
    uint8_t rest[APS_SUM_MAX][64] = {{0}}, codes[64];
    uint32_t greatest;

    for (int s = 0; s < count; s++) {
        memcpy(rest[s], from->wire[s] + at, bytes);
        from->wire[s] = rest[s];
    }
    greatest =
        aps_sum_encode(from, count, width, APS_SUM_CODES, 64,
                       (struct aps_sum_to){.codes = codes, .nearest = nearest});
    memcpy(wire + at, codes, bytes);
    return greatest;
}

/* x may be NULL: then the values are not stored. */
APS_CODEC_AVX512 static bool
sum_encode_vbmi(const struct aps_codec *codec,
                const struct aps_summand *summands, int count, size_t n,
                struct aps_scaling scaling, uint8_t *wire, enum aps_sum_put put,
                float *x, uint32_t *greatest)
{
    const unsigned width = (unsigned)codec->format.width;
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const size_t whole = n / APS_TABLE_CODES * APS_TABLE_CODES;
    struct aps_nearest nearest;
    struct aps_table values;
    struct aps_sum from;
    uint32_t rest;

    if (count > APS_SUM_MAX || !aps_nearest_suits(&codec->format) ||
        !aps_scaling_is_simple(&codec->format, scaling) ||
        !aps_scaling_inverse_is_simple(scaling))
        return false;
    nearest = aps_nearest_make(
        &kernel, width, scaling.factor * aps_float_pow2(scaling.exponent));
    sum_make(codec, summands, count, 0, &from);
    if (!nearest.folded || !from.scaled)
        return false;
    if (put != APS_SUM_CODES) {
        values =
            aps_table_make(&kernel, width, aps_float_pow2(-scaling.exponent));
        if (!values.scaled)
            return false;
    }
    *greatest = aps_sum_encode(&from, count, width, put, whole,
                               (struct aps_sum_to){.x = (void *)x,
                                                   .codes = wire,
                                                   .nearest = &nearest,
                                                   .values = &values});
    if (n == whole)
        return true;
    rest =
        sum_encode_rest(codec, &from, count, whole, n - whole, &nearest, wire);
    if (put != APS_SUM_CODES)
        codec->decode(codec, wire + whole / 8 * width, n - whole, scaling, 0,
                      x + whole);
    *greatest = rest > *greatest ? rest : *greatest;
    return true;
}
#endif

/* Makes a NaN of the sums canonical. */
APS_INLINE void sum_settle(size_t n, aps_any_float *sum)
{
    for (size_t i = 0; i < n; i++)
        if (sum[i] != sum[i])
            sum[i] = aps_float_from_bits(APS_FLOAT_NAN);
}

#if APS_CPU_X86
APS_INLINE bool sum_by_vbmi(const struct aps_codec *codec,
                            const struct aps_summand *summands, int count,
                            size_t n, enum aps_vectors vectors,
                            aps_any_float *x, uint32_t *greatest)
{
    const size_t whole = n / APS_TABLE_CODES * APS_TABLE_CODES;
    const size_t at = whole / 8 * (size_t)codec->format.width;
    const size_t tile = count > APS_SUM_MAX ? APS_SUM_TILE : whole;
    uint32_t next;

    if (!sum_suits(codec, summands, count, vectors))
        return false;
    *greatest = 0;
    for (size_t i = 0; i < whole; i += tile) {
        next = sum_vbmi(codec, summands, count, i,
                        aps_size_min(tile, whole - i), x);
        *greatest = next > *greatest ? next : *greatest;
    }
    for (int s = 0; s < count && whole < n; s++)
        (s == 0 ? codec->decode : codec->decode_add)(
            codec, (const uint8_t *)summands[s].wire + at, n - whole,
            summands[s].scaling, summands[s].flags,
            (float *)(void *)(x + whole));
    next = aps_kernel_greatest(x + whole, n - whole);
    *greatest = next > *greatest ? next : *greatest;
    return true;
}

/* A function that is compiled for VBMI may be called only if the CPU has it. */
APS_INLINE bool sum_encode_by_vbmi(
    const struct aps_codec *codec, const struct aps_summand *summands,
    int count, size_t n, struct aps_scaling scaling, enum aps_vectors vectors,
    uint8_t *wire, enum aps_sum_put put, float *x, uint32_t *greatest)
{
    return sum_suits(codec, summands, count, vectors) &&
           sum_encode_vbmi(codec, summands, count, n, scaling, wire, put, x,
                           greatest);
}
#endif

APS_INLINE bool sum_body(const struct aps_codec *codec,
                         const struct aps_summand *summands, int count,
                         size_t n, enum aps_vectors vectors, float *sum,
                         struct aps_magnitude *magnitude)
{
    aps_any_float *x = (void *)sum;
    uint32_t greatest;

    if (!(vectors == APS_VECTORS_AVX2
              ? sum_by_avx2(codec, summands, count, n, x, &greatest)
              : sum_by_vbmi(codec, summands, count, n, vectors, x, &greatest)))
        return false;
    if (greatest > APS_FLOAT_INF)
        sum_settle(n, x);
    *magnitude = magnitude_of(greatest, x, n);
    return true;
}

APS_INLINE bool sum_encode_body(const struct aps_codec *codec,
                                const struct aps_summand *summands, int count,
                                size_t n, struct aps_scaling scaling,
                                enum aps_vectors vectors, void *wire, float *x,
                                bool stream, float *max)
{
    uint32_t greatest;

    if (!(vectors == APS_VECTORS_AVX2
              ? sum_encode_by_avx2(codec, summands, count, n, scaling,
                                   stream ? APS_PUT_STREAM : APS_PUT, wire,
                                   (void *)x, &greatest)
              : sum_encode_by_vbmi(codec, summands, count, n, scaling, vectors,
                                   wire,
                                   !x       ? APS_SUM_CODES
                                   : stream ? APS_SUM_STREAM
                                            : APS_SUM_VALUES,
                                   x, &greatest)))
        return false;
#if APS_CPU_HAS_256
    if (x && stream)
        _mm_sfence();
#endif
    *max = aps_float_from_bits(greatest);
    return greatest < APS_FLOAT_INF;
}

#endif
