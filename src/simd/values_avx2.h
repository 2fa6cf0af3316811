/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of packed codes for CPUs with AVX2 and F16C, 32 at a time: the
 * bits of aps_kernel_decode. A byte shuffle looks up codes of 4 bits. Codes of
 * 8 bits with up to 5 exponent bits are those of fp16 values, times a power of
 * two, with their bits further to the left; the CPU itself converts fp16,
 * subnormal values, too; bf16 is the upper half of a float.
 */
#ifndef APS_SIMD_VALUES_AVX2_H
#define APS_SIMD_VALUES_AVX2_H

#include <stdbool.h>
#include <stdint.h>

#include "base/size_min.h"
#include "kernel/kernel.h"
#include "kernel/table.h"
#include "simd/avx2.h"
#include "kernel/tile.h"
#include "simd/code16.h"

#define APS_VALUES 32 /* at a time */

enum aps_values_kind {
    APS_VALUES_NONE, /* no loop supports these codes */
    APS_VALUES_FOURS,
    APS_VALUES_EIGHTS,
    APS_VALUES_FP16,
    APS_VALUES_BF16,
    APS_VALUES_KINDS
};

/* A format's constants. */
struct aps_values {
    enum aps_values_kind kind;
    __m256 scale;      /* factor of the values; with eights, of fp16 values */
    __m256i low, high; /* with fours: the bytes of the upper halves of floats */
    __m128i left;      /* with eights: shift to the place in fp16, ... */
    __m256i bits;      /* ... the bits of a code there, ... */
    __m256i last;      /* ... and the last code of a finite value */
};

#define APS_VALUES_BIAS 15 /* the bias of fp16 */

APS_INLINE enum aps_values_kind
aps_values_kind_of(const struct aps_kernel *kernel,
                   const struct aps_format *format)
{
    const enum aps_code16_kind words = aps_code16_kind_of(kernel);

    if (format->width == 4)
        return APS_VALUES_FOURS;
    /* The greatest exponent of fp16 has no finite values. */
    if (format->width == 8 && format->exponent_bits <= 5 &&
        kernel->limit <= 0x1fu << format->mantissa_bits)
        return APS_VALUES_EIGHTS;
    if (format->width != 16 || words == APS_CODE16_ANY)
        return APS_VALUES_NONE;
    return words == APS_CODE16_FP16 ? APS_VALUES_FP16 : APS_VALUES_BF16;
}

/* True if there is a loop for the format's codes without a marker. */
APS_INLINE bool aps_values_suit(const struct aps_format *format)
{
    const struct aps_kernel kernel = aps_kernel_init(format);

    return aps_values_kind_of(&kernel, format) != APS_VALUES_NONE;
}

APS_CODEC_AVX2 APS_INLINE void aps_values_make_fours(struct aps_values *v,
                                                     const struct aps_kernel *k)
{
    uint8_t low[16], high[16];

    for (uint32_t code = 0; code < 16; code++) {
        const uint32_t bits = aps_float_bits(aps_kernel_decode(k, code));

        low[code] = (uint8_t)(bits >> 16);
        high[code] = (uint8_t)(bits >> 24);
    }
    v->low = _mm256_broadcastsi128_si256(_mm_loadu_si128((void *)low));
    v->high = _mm256_broadcastsi128_si256(_mm_loadu_si128((void *)high));
}

/* A marked kernel (aps_kernel_mark) has its own last code. The kind is NONE if
 * a constant would not be a normal float. */
APS_CODEC_AVX2 static inline struct aps_values
aps_values_make(const struct aps_kernel *kernel,
                const struct aps_format *format, int exponent)
{
    const int left = 10 - format->mantissa_bits;
    struct aps_values v = {.kind = aps_values_kind_of(kernel, format)};

    if (v.kind == APS_VALUES_EIGHTS) {
        exponent += APS_VALUES_BIAS - format->bias;
        if (exponent < -126 || exponent > 127)
            v.kind = APS_VALUES_NONE;
        v.left = _mm_cvtsi32_si128(left);
        v.bits = _mm256_set1_epi16((short)(0x8000 | (0x7f << left & 0x7fff)));
        v.last = _mm256_set1_epi8((char)(kernel->limit - 1));
    }
    if (v.kind == APS_VALUES_FOURS)
        aps_values_make_fours(&v, kernel);
    if (v.kind != APS_VALUES_NONE)
        v.scale = _mm256_set1_ps(aps_float_pow2(exponent));
    return v;
}

APS_INLINE size_t aps_values_width(enum aps_values_kind kind)
{
    return kind == APS_VALUES_FOURS ? 4 : kind == APS_VALUES_EIGHTS ? 8 : 16;
}

/* --- 32 values --------------------------------------------------------------- */

APS_CODEC_AVX2 APS_INLINE void
aps_values_of_fours(const struct aps_values *v, const uint8_t *wire, __m256 *y)
{
    /* The unpacking below works in lanes of 16 bytes: each needs four codes of
     * each eight. */
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i zero = _mm256_setzero_si256();
    __m256i codes, low, high, half[2];

    codes = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)wire));
    codes = _mm256_or_si256(codes, _mm256_slli_epi16(codes, 4));
    codes = _mm256_and_si256(codes, _mm256_set1_epi8(0x0f));
    codes = _mm256_permutevar8x32_epi32(codes, order);
    low = _mm256_shuffle_epi8(v->low, codes);
    high = _mm256_shuffle_epi8(v->high, codes);
    half[0] = _mm256_unpacklo_epi8(low, high);
    half[1] = _mm256_unpackhi_epi8(low, high);
    for (int q = 0; q < 4; q++)
        y[q] = _mm256_castsi256_ps(
            q % 2 == 0 ? _mm256_unpacklo_epi16(zero, half[q / 2])
                       : _mm256_unpackhi_epi16(zero, half[q / 2]));
}

/* Gets the values before they are scaled; all have to be finite. */
APS_CODEC_AVX2 APS_INLINE void
aps_values_of_eights(const struct aps_values *v, const uint8_t *wire, __m256 *y)
{
    for (int q = 0; q < 4; q += 2) {
        __m256i half =
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)(wire + 8 * q)));

        half = _mm256_and_si256(_mm256_sll_epi16(half, v->left), v->bits);
        y[q] = _mm256_cvtph_ps(_mm256_castsi256_si128(half));
        y[q + 1] = _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1));
    }
}

/* `kind` is v's, as a constant. Values of eights have to be finite. */
APS_CODEC_AVX2 APS_INLINE void aps_values_32(const struct aps_values *v,
                                             enum aps_values_kind kind,
                                             const uint8_t *wire, __m256 *y)
{
    if (kind == APS_VALUES_FOURS)
        aps_values_of_fours(v, wire, y);
    else if (kind == APS_VALUES_EIGHTS)
        aps_values_of_eights(v, wire, y);
    for (int q = 0; q < 4; q++) {
        const void *const words = wire + 16 * q;

        if (kind == APS_VALUES_FP16)
            y[q] = _mm256_cvtph_ps(_mm_loadu_si128(words));
        else if (kind == APS_VALUES_BF16)
            y[q] = _mm256_castsi256_ps(_mm256_slli_epi32(
                _mm256_cvtepu16_epi32(_mm_loadu_si128(words)), 16));
        y[q] = _mm256_mul_ps(y[q], v->scale);
    }
}

/* True if the loop supports the codes [0, n) at `wire`. The values of eights
 * have to be finite. n is a multiple of 32. */
APS_CODEC_AVX2 static inline bool aps_values_take(const struct aps_values *v,
                                                  const uint8_t *wire, size_t n)
{
    const __m256i magnitude = _mm256_set1_epi8(INT8_MAX);
    __m256i greatest = _mm256_setzero_si256();

    if (v->kind != APS_VALUES_EIGHTS)
        return v->kind != APS_VALUES_NONE;
    for (size_t i = 0; i < n; i += APS_VALUES)
        greatest = _mm256_max_epu8(
            greatest,
            _mm256_and_si256(_mm256_loadu_si256((const void *)(wire + i)),
                             magnitude));
    greatest = _mm256_cmpgt_epi8(greatest, v->last);
    return _mm256_testz_si256(greatest, greatest) != 0;
}

/* --- arrays ------------------------------------------------------------------ */

/* x[8] = (or +=) y. The NaN of a sum is made canonical. */
APS_CODEC_AVX2 APS_INLINE void aps_values_put(__m256 y, enum aps_put put,
                                              aps_any_float *x)
{
    if (put == APS_PUT_ADD) {
        const __m256 nan =
            _mm256_castsi256_ps(_mm256_set1_epi32(APS_FLOAT_NAN));

        y = _mm256_add_ps(_mm256_loadu_ps((const void *)x), y);
        y = _mm256_blendv_ps(y, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q));
    }
    if (put == APS_PUT_STREAM)
        _mm256_stream_ps((void *)x, y);
    else
        _mm256_storeu_ps((void *)x, y);
}

APS_CODEC_AVX2 APS_INLINE void
aps_values_body(const struct aps_values *constants, enum aps_values_kind kind,
                enum aps_put put, const uint8_t *wire, size_t n,
                aps_any_float *x)
{
    const struct aps_values v = *constants; /* in registers */

    for (size_t i = 0; i < n; i += APS_VALUES) {
        __m256 y[4];

        if (put != APS_PUT_STREAM)
            aps_tile_ask_to_write(x + i, APS_VALUES);
        aps_values_32(&v, kind, wire + i / 8 * aps_values_width(kind), y);
        for (int q = 0; q < 4; q++)
            aps_values_put(y[q], put, x + i + 8 * q);
    }
}

/* Loops, each a function of its own, because there are 16 registers. */
#define APS_VALUES_LOOP(name, kind, put)                                       \
    APS_CODEC_AVX2 APS_NOINLINE void aps_values_##name(                        \
        const struct aps_values *v, const uint8_t *wire, size_t n,             \
        aps_any_float *x)                                                      \
    {                                                                          \
        aps_values_body(v, kind, put, wire, n, x);                             \
    }
#define APS_VALUES_LOOPS(name, kind)                                           \
    APS_VALUES_LOOP(name, kind, APS_PUT)                                       \
    APS_VALUES_LOOP(name##_add, kind, APS_PUT_ADD)                             \
    APS_VALUES_LOOP(name##_stream, kind, APS_PUT_STREAM)

APS_VALUES_LOOPS(fours, APS_VALUES_FOURS)
APS_VALUES_LOOPS(eights, APS_VALUES_EIGHTS)
APS_VALUES_LOOPS(fp16, APS_VALUES_FP16)
APS_VALUES_LOOPS(bf16, APS_VALUES_BF16)

/* x[n] = (or +=, as `put` says) the values of codes that aps_values_take
 * accepts. */
APS_CODEC_AVX2 static inline void aps_values_decode(const struct aps_values *v,
                                                    const uint8_t *wire,
                                                    size_t n, enum aps_put put,
                                                    aps_any_float *x)
{
#define ROW(name)                                                              \
    {                                                                          \
        aps_values_##name, aps_values_##name##_add, aps_values_##name##_stream \
    }
    static void (*const loops[APS_VALUES_KINDS][3])(
        const struct aps_values *v, const uint8_t *wire, size_t n,
        aps_any_float *x) = {
        [APS_VALUES_FOURS] = ROW(fours),
        [APS_VALUES_EIGHTS] = ROW(eights),
        [APS_VALUES_FP16] = ROW(fp16),
        [APS_VALUES_BF16] = ROW(bf16),
    };
#undef ROW

    loops[v->kind][put](v, wire, n, x);
}

/* Decodes tile by tile, until one has codes that the loops do not support.
 * Returns the number of values decoded. */
APS_CODEC_AVX2 static inline size_t
aps_values_decode_tiles(const struct aps_values *v, const uint8_t *wire,
                        size_t n, enum aps_put put, aps_any_float *x)
{
    const size_t whole = n / APS_VALUES * APS_VALUES;

    for (size_t i = 0; i < whole; i += APS_TILE) {
        const size_t count = aps_size_min(whole - i, APS_TILE);
        const uint8_t *from = wire + i / 8 * aps_values_width(v->kind);

        if (!aps_values_take(v, from, count))
            return i;
        aps_values_decode(v, from, count, put, x + i);
    }
    return whole;
}

#endif
