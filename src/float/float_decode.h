/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding, and rounding of sums to a format: the bodies that float.c compiles
 * for each kind of vectors. Inlined into float.c.
 */
#ifndef APS_FLOAT_FLOAT_DECODE_H
#define APS_FLOAT_FLOAT_DECODE_H

#include "base/cpu.h"
#include "base/size_min.h"
#include "float/float_chunk.h"
#include "kernel/kernel.h"
#include "float/pack_chunk.h"
#include "kernel/scaling.h"
#if APS_CPU_HAS_256
#include "simd/values_avx2.h"
#endif
#if APS_CPU_X86
#include "simd/table_vbmi.h"
#include "simd/code16_vbmi.h"
#endif

/* Prefetches a chunk that is about to be written, or read and written, because
 * the hardware prefetcher starts again at every page. Measured: gains 5 % for
 * arrays of codes, and costs 30 % for e7m12, whose codes are unpacked first. */
APS_INLINE void prefetch_chunk(const aps_any_float *sums)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < CHUNK; i += 64 / sizeof *sums)
        __builtin_prefetch(sums + i, 1);
#else
    (void)sums;
#endif
}

/* Decodes codes of two bytes. */
APS_INLINE void decode_words(const struct aps_kernel *kernel, const void *codes,
                             size_t n, float scale, bool vbmi, enum aps_put put,
                             aps_any_float *x)
{
#if APS_CPU_X86
    if (vbmi) {
        aps_code16_decode(kernel, codes, n, scale, put, x);
        return;
    }
#else
    (void)vbmi;
#endif
    aps_kernel_decode_array(kernel, codes, 2, n, scale, put == APS_PUT_ADD, x);
}

#if APS_CPU_HAS_256
/* Decodes the first values, as many as its loops take. Returns their number. */
APS_CODEC_AVX2 static inline size_t
decode_by_avx2(const struct aps_kernel *kernel, const struct aps_format *format,
               const uint8_t *wire, size_t n, int exponent, enum aps_put put,
               aps_any_float *x)
{
    const struct aps_values v = aps_values_make(kernel, format, exponent);

    return v.kind == APS_VALUES_NONE
               ? 0
               : aps_values_decode_tiles(&v, wire, n, put, x);
}
#endif

APS_INLINE void decode_body(const struct aps_codec *codec, const void *wire,
                            size_t n, struct aps_scaling scaling,
                            unsigned flags, enum aps_vectors vectors,
                            enum aps_put put, float *x)
{
    const bool vbmi = vectors == APS_VECTORS_AVX512;
    struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    const size_t bytes = aps_codec_bytes(codec, n);
    const int size = array_size(width);
    const bool add = put == APS_PUT_ADD;
    const bool direct = aps_scaling_inverse_is_simple(scaling);
    const float scale = direct ? aps_float_pow2(-scaling.exponent) : 1;
    const uint8_t *in = wire;
    aps_any_float *out = (void *)x;
    size_t done = 0;

    if (flags & APS_BLOCK_NAN)
        aps_kernel_mark(&kernel);
#if APS_CPU_X86
    if (vbmi && width <= APS_TABLE_WIDTH && direct) {
        aps_table_decode(&kernel, width, in, n, scale, put, out);
        return;
    }
#endif
#if APS_CPU_HAS_256
    if (vectors == APS_VECTORS_AVX2 && direct)
        done = decode_by_avx2(&kernel, &codec->format, in, n, -scaling.exponent,
                              put, out);
#endif
    for (size_t i = done; i < n; i += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t at = i / 8 * width;
        const void *from = in + at;
        struct aps_codes codes;
        float values[CHUNK];

        if (size != 0 && n - i >= 2 * CHUNK && put != APS_PUT_STREAM)
            prefetch_chunk(out + i + CHUNK);
        if (size == 0) {
            unpack_chunk(in + at, count, width, vbmi, bytes - at, &codes);
            from = codes.code;
        }
        if (!direct) {
            aps_kernel_decode_array(&kernel, from, size ? size : 4, count, 1,
                                    false, values);
            aps_scaling_divide(values, count, scaling, add, out + i);
        } else if (size == 1) {
            aps_kernel_decode_array(&kernel, from, 1, count, scale, add,
                                    out + i);
        } else if (size == 2) {
            decode_words(&kernel, from, count, scale, vbmi, put, out + i);
        } else {
            aps_kernel_decode_array(&kernel, from, 4, count, scale, add,
                                    out + i);
        }
    }
}

/* decode_body with streaming stores, if a kernel can. Returns false, and writes
 * nothing, otherwise. */
APS_INLINE bool stream_body(const struct aps_codec *codec, const void *wire,
                            size_t n, struct aps_scaling scaling,
                            unsigned flags, enum aps_vectors vectors, float *x)
{
    bool suits = false;

#if APS_CPU_X86
    const int width = codec->format.width;

    if (vectors == APS_VECTORS_AVX512)
        suits = width <= APS_TABLE_WIDTH || width == 16;
#endif
#if APS_CPU_HAS_256
    if (vectors == APS_VECTORS_AVX2)
        suits = aps_values_suit(&codec->format);
#else
    (void)vectors;
#endif
    if (!suits || !aps_scaling_inverse_is_simple(scaling))
        return false;
    decode_body(codec, wire, n, scaling, flags, vectors, APS_PUT_STREAM, x);
    return true;
}

/* Values that are not finite stay so, even if the format has no code for
 * them. */
APS_INLINE void round_body(const struct aps_codec *codec, size_t n,
                           struct aps_scaling scaling, float *sum)
{
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const bool direct = aps_scaling_is_simple(&codec->format, scaling);
    const float scale =
        direct ? scaling.factor * aps_float_pow2(scaling.exponent) : 1;
    const uint32_t keep = APS_FLOAT_INF - codec->format.saturate;
    aps_any_float *out = (void *)sum;

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        const aps_any_float *values = out + i;
        float scaled[CHUNK], rounded[CHUNK];
        uint32_t codes[CHUNK];

        if (!direct) {
            aps_scaling_multiply(&codec->format, values, count, scaling,
                                 scaled);
            values = scaled;
        }
        aps_kernel_encode_array(&kernel, values, count, scale, codes, 4);
        aps_kernel_decode_array(&kernel, codes, 4, count, 1, false, scaled);
        aps_scaling_divide(scaled, count, scaling, false, rounded);
        for (size_t j = 0; j < count; j++) {
            uint32_t bits = aps_float_bits(out[i + j]);
            bool nan = (bits & ~APS_FLOAT_SIGN) > keep;

            bits = (bits & APS_FLOAT_SIGN) | APS_FLOAT_NAN;
            out[i + j] = nan ? aps_float_from_bits(bits) : rounded[j];
        }
    }
}

#endif
