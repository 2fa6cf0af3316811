/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler vectorises the loops of kernel.h and pack.h with flags of their
 * own: see KERNEL_CFLAGS in configure.ac. The exception flags that they raise
 * are discarded (base/fpenv.h).
 */
#include "config.h"

#include "float/float.h"

#include <string.h>

#include "base/cpu.h"
#include "base/size_min.h"
#include "float/float_chunk.h"
#include "float/float_decode.h"
#include "float/float_sum.h"
#include "kernel/kernel.h"
#include "float/pack_chunk.h"
#include "simd/rounding.h"
#include "kernel/scaling.h"
#include "kernel/table.h"
#include "kernel/tile.h"
#if APS_CPU_HAS_256
#include "float/encode_avx2.h"
#include "simd/stochastic_avx2.h"
#endif
#if APS_CPU_X86
#include "float/float_elements.h"
#include "simd/nearest_vbmi.h"
#include "simd/stochastic_vbmi.h"
#endif

/* --- random bits --------------------------------------------------------- */

/* Cache of aps_draw_init, which takes time in proportion to the ranks, for the
 * last calls of this thread, because a layer is encoded slice by slice, and a
 * few layers alternate. */
#define KEPT 32 /* layers */

static struct aps_draw float_draw_of(const struct aps_cast_options *options)
{
    static _Thread_local struct kept {
        struct aps_cast_options options; /* offset 0 */
        struct aps_draw draw;
    } kept[KEPT];
    struct kept *known = &kept[(options->step ^ options->layer) % KEPT];
    const struct aps_cast_options *k = &known->options;

    if (options->rounding != APS_ROUND_CORRELATED)
        return aps_draw_init(options);
    if (k->rounding != options->rounding || k->seed != options->seed ||
        k->layer != options->layer || k->step != options->step ||
        k->stage != options->stage || k->rank != options->rank ||
        k->ranks != options->ranks) {
        known->options = *options;
        known->draw = aps_draw_init(options);
    }
    return known->draw;
}

/* --- the greatest magnitude ------------------------------------------------ */

#define NAME(x) x##_8
#define LANES 8
#include "float/greatest_variant.h"

#define NAME(x) x##_16
#define LANES 16
#include "float/greatest_variant.h"

/* aps_kernel_greatest, with vectors of the CPU's register length. */
APS_INLINE uint32_t greatest_body(const aps_any_float *x, size_t n,
                                  enum aps_vectors vectors)
{
    return vectors == APS_VECTORS_AVX512 ? greatest_16(x, n)
           : vectors == APS_VECTORS_AVX2 ? greatest_8(x, n)
                                         : aps_kernel_greatest(x, n);
}

/* --- kernel bodies ------------------------------------------------------- */

/* Encodes at most a tile to nearest, by one float multiplication for each
 * value; with statistics if `stats`. */
APS_INLINE bool encode_tile(const struct aps_kernel *kernel,
                            const aps_any_float *x, size_t n, float scale,
                            bool bounded, unsigned width, bool vbmi,
                            size_t room, uint8_t *wire,
                            struct aps_encode_stats *stats)
{
    bool marker = false;

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t at = i / 8 * width;

        marker |= encode_chunk(kernel, x + i, count, scale, bounded, width,
                               vbmi, room - at, wire + at, stats);
    }
    return marker;
}

/* Encodes to nearest, if one float multiplication gives the product; with
 * statistics if `stats`. */
APS_INLINE unsigned encode_direct_body(const struct aps_codec *codec,
                                       const aps_any_float *x, size_t n,
                                       struct aps_scaling scaling,
                                       enum aps_vectors vectors, uint8_t *wire,
                                       struct aps_encode_stats *stats)
{
    const bool vbmi = vectors == APS_VECTORS_AVX512;
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    const size_t bytes = aps_codec_bytes(codec, n);
    const float scale = scaling.factor * aps_float_pow2(scaling.exponent);
    bool marker = false;
#if APS_CPU_X86
    const bool suits = vbmi && aps_nearest_suits(&codec->format);
    struct aps_nearest nearest;

    if (suits)
        nearest = aps_nearest_make(&kernel, width, scale);
#endif
#if APS_CPU_HAS_256
    const bool suits_avx2 =
        vectors == APS_VECTORS_AVX2 && !stats && aps_avx2_suits(&codec->format);
    struct aps_avx2 avx2;

    if (suits_avx2)
        avx2 = aps_avx2_make(&kernel, width, scale);
#endif

    for (size_t i = 0; i < n; i += APS_TILE) {
        size_t count = aps_size_min(n - i, APS_TILE);
        size_t at = i / 8 * width;

#if APS_CPU_X86
        if (suits && aps_nearest_tile(&nearest, x + i, count, scaling.bounded,
                                      wire + at, stats))
            continue;
#endif
#if APS_CPU_HAS_256
        if (suits_avx2 &&
            aps_avx2_tile(&avx2, x + i, count, scaling.bounded, wire + at))
            continue;
#endif
        marker |= encode_tile(&kernel, x + i, count, scale, scaling.bounded,
                              width, vbmi, bytes - at, wire + at, stats);
    }
    return marker ? APS_BLOCK_NAN : 0;
}

/* Encodes to nearest with any scaling. */
APS_INLINE unsigned encode_nearest_body(const struct aps_codec *codec,
                                        const float *x, size_t n,
                                        struct aps_scaling scaling,
                                        enum aps_vectors vectors, void *wire)
{
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    const size_t bytes = aps_codec_bytes(codec, n);
    const aps_any_float *in = (const void *)x;
    uint8_t *out = wire;
    bool marker = false;

    if (aps_scaling_is_simple(&codec->format, scaling))
        return encode_direct_body(codec, in, n, scaling, vectors, out, NULL);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t at = i / 8 * width;
        float scaled[CHUNK];

        /* an INF after scaling need not be an INF of the caller's */
        marker |= aps_kernel_needs_marker(&kernel, in + i, count);
        aps_scaling_multiply(&codec->format, in + i, count, scaling, scaled);
        encode_chunk(&kernel, scaled, count, 1, false, width,
                     vectors == APS_VECTORS_AVX512, bytes - at, out + at, NULL);
    }
    return marker ? APS_BLOCK_NAN : 0;
}

#if APS_CPU_X86
/* Encodes by random bits, if one float multiplication gives the product. */
APS_TARGET_VBMI static unsigned
encode_drawn(const struct aps_codec *codec, const aps_any_float *in, size_t n,
             struct aps_scaling scaling, const struct aps_draw *draw,
             enum aps_rounding rounding, uint64_t offset, uint8_t *out)
{
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    const size_t bytes = aps_codec_bytes(codec, n);
    const int size = array_size(width);
    const float scale = scaling.factor * aps_float_pow2(scaling.exponent);
    const bool correlated = rounding == APS_ROUND_CORRELATED;
    bool marker = false;

    for (size_t i = 0; i < n; i += CHUNK, offset += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t whole = count / APS_STOCHASTIC_VALUES * APS_STOCHASTIC_VALUES;
        size_t at = i / 8 * width;
        struct aps_codes codes;
        uint32_t word[APS_ROUNDING_WORDS];
        const uint32_t *random =
            aps_rounding_draw(draw, offset, count, APS_VECTORS_AVX512, word);

        if (whole > 0 && size == 1)
            marker |=
                aps_stochastic_encode(&kernel, width, in + i, whole, scale,
                                      correlated, random, out + at, 1);
        else if (whole > 0 && size == 2)
            marker |=
                aps_stochastic_encode(&kernel, width, in + i, whole, scale,
                                      correlated, random, out + at, 2);
        else if (whole > 0)
            marker |=
                aps_stochastic_encode(&kernel, width, in + i, whole, scale,
                                      correlated, random, codes.code, 4);
        if (count > whole)
            marker |= aps_stochastic_rest(&kernel, width, in + i + whole,
                                          count - whole, scale, correlated,
                                          random + whole, codes.code + whole);
        if (size == 1)
            narrow_chunk(&codes, whole, count, 1, out + at);
        else if (size == 2)
            narrow_chunk(&codes, whole, count, 2, out + at);
        else if (size == 4)
            narrow_chunk(&codes, 0, count, 4, out + at);
        else
            pack_chunk(&codes, count, width, true, bytes - at, out + at);
    }
    return marker ? APS_BLOCK_NAN : 0;
}

#endif

#if APS_CPU_HAS_256
/* encode_drawn with AVX2. */
APS_CODEC_AVX2 static unsigned
encode_drawn_avx2(const struct aps_codec *codec, const aps_any_float *in,
                  size_t n, struct aps_scaling scaling,
                  const struct aps_draw *draw, enum aps_rounding rounding,
                  uint64_t offset, uint8_t *out)
{
    const struct aps_kernel kernel = aps_kernel_init(&codec->format);
    const unsigned width = (unsigned)codec->format.width;
    const bool packs = width <= 8 || width == 16;
    const size_t bytes = aps_codec_bytes(codec, n);
    const float scale = scaling.factor * aps_float_pow2(scaling.exponent);
    const bool correlated = rounding == APS_ROUND_CORRELATED;
    const struct aps_drawn drawn = aps_drawn_make(&kernel, width, scale);
    bool marker = false;

    for (size_t i = 0; i < n; i += CHUNK, offset += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t at = i / 8 * width;
        struct aps_codes codes;
        uint32_t word[APS_ROUNDING_WORDS];
        const uint32_t *random =
            aps_rounding_draw(draw, offset, count, APS_VECTORS_AVX2, word);
        uint8_t *to = packs ? out + at : (uint8_t *)codes.code;

        if (!aps_drawn_chunk(&drawn, in + i, count, correlated, random, to))
            marker |= aps_rounding_encode_chunk(
                &codec->format, in + i, count, scaling, rounding, draw, offset,
                APS_VECTORS_AVX2, codes.code, NULL);
        else if (packs)
            continue;
        put_chunk(&codes, count, width, false, bytes - at, out + at);
    }
    return marker ? APS_BLOCK_NAN : 0;
}
#endif

/* Encodes with any rounding; with statistics if `stats`. */
APS_INLINE unsigned encode_any_body(const struct aps_codec *codec,
                                    const float *x, size_t n,
                                    struct aps_scaling scaling,
                                    const struct aps_cast_options *options,
                                    enum aps_vectors vectors, void *wire,
                                    struct aps_encode_stats *stats)
{
    const bool vbmi = vectors == APS_VECTORS_AVX512;
    enum aps_rounding rounding = APS_ROUND_NEAREST;
    struct aps_draw draw = {.correlated = false};
    uint64_t offset = 0;
    const unsigned width = (unsigned)codec->format.width;
    const size_t bytes = aps_codec_bytes(codec, n);
    const aps_any_float *in = (const void *)x;
    uint8_t *out = wire;
    bool marker = false;

    if (options) {
        rounding = options->rounding;
        offset = options->offset;
        if (aps_cast_draws(rounding))
            draw = float_draw_of(options);
    }
    if (stats && rounding == APS_ROUND_NEAREST &&
        aps_scaling_is_simple(&codec->format, scaling))
        return encode_direct_body(codec, in, n, scaling, vectors, out, stats);
#if APS_CPU_X86
    if (vbmi && !stats && aps_cast_draws(rounding) &&
        aps_scaling_is_simple_drawn(&codec->format, scaling))
        return encode_drawn(codec, in, n, scaling, &draw, rounding, offset,
                            out);
#endif
#if APS_CPU_HAS_256
    if (vectors == APS_VECTORS_AVX2 && !stats && aps_cast_draws(rounding) &&
        aps_scaling_is_simple_drawn(&codec->format, scaling))
        return encode_drawn_avx2(codec, in, n, scaling, &draw, rounding, offset,
                                 out);
#endif
    for (size_t i = 0; i < n; i += CHUNK, offset += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);
        size_t at = i / 8 * width;
        struct aps_codes codes;

        marker |= aps_rounding_encode_chunk(&codec->format, in + i, count,
                                            scaling, rounding, &draw, offset,
                                            vectors, codes.code, stats);
        put_chunk(&codes, count, width, vbmi, bytes - at, out + at);
    }
    return marker ? APS_BLOCK_NAN : 0;
}

/* --- variants ------------------------------------------------------------ */

/* Further arguments are members of a codec that other variants lack. */
#define VARIANT(name, target, vectors, ...)                                    \
    target static unsigned encode_##name(                                      \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire)                                                            \
    {                                                                          \
        if (!options || options->rounding == APS_ROUND_NEAREST)                \
            return encode_nearest_body(codec, x, n, scaling, vectors, wire);   \
        return encode_any_body(codec, x, n, scaling, options, vectors, wire,   \
                               NULL);                                          \
    }                                                                          \
    target static unsigned encode_stats_##name(                                \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire, struct aps_encode_stats *stats)                            \
    {                                                                          \
        return encode_any_body(codec, x, n, scaling, options, vectors, wire,   \
                               stats);                                         \
    }                                                                          \
    target static void decode_##name(                                          \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *x)                  \
    {                                                                          \
        decode_body(codec, wire, n, scaling, flags, vectors, APS_PUT, x);      \
    }                                                                          \
    target static void decode_add_##name(                                      \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *sum)                \
    {                                                                          \
        decode_body(codec, wire, n, scaling, flags, vectors, APS_PUT_ADD,      \
                    sum);                                                      \
    }                                                                          \
    target static bool sum_##name(                                             \
        const struct aps_codec *codec, const struct aps_summand *summands,     \
        int count, size_t n, float *sum, struct aps_magnitude *magnitude)      \
    {                                                                          \
        return sum_body(codec, summands, count, n, vectors, sum, magnitude);   \
    }                                                                          \
    target static bool sum_encode_##name(                                      \
        const struct aps_codec *codec, const struct aps_summand *summands,     \
        int count, size_t n, struct aps_scaling scaling, void *wire, float *x, \
        bool stream, float *max)                                               \
    {                                                                          \
        return sum_encode_body(codec, summands, count, n, scaling, vectors,    \
                               wire, x, stream, max);                          \
    }                                                                          \
    target static bool stream_##name(                                          \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *x)                  \
    {                                                                          \
        return stream_body(codec, wire, n, scaling, flags, vectors, x);        \
    }                                                                          \
    target static void round_##name(const struct aps_codec *codec, size_t n,   \
                                    struct aps_scaling scaling, float *sum)    \
    {                                                                          \
        round_body(codec, n, scaling, sum);                                    \
    }                                                                          \
    target static uint32_t max_finite_##name(const float *x, size_t n)         \
    {                                                                          \
        return aps_kernel_max_finite((const void *)x, n);                      \
    }                                                                          \
    target static uint32_t greatest_##name(const float *x, size_t n)           \
    {                                                                          \
        return greatest_body((const void *)x, n, vectors);                     \
    }                                                                          \
    static const struct aps_float_variant variant_##name = {                   \
        .codec = {.cpu = #name,                                                \
                  .encode = encode_##name,                                     \
                  .encode_stats = encode_stats_##name,                         \
                  .decode = decode_##name,                                     \
                  .decode_add = decode_add_##name,                             \
                  .sum = sum_##name,                                           \
                  .sum_encode = sum_encode_##name,                             \
                  .stream = stream_##name,                                     \
                  .round = round_##name,                                       \
                  __VA_ARGS__},                                                \
        .max_finite = max_finite_##name,                                       \
        .greatest = greatest_##name,                                           \
    };

VARIANT(plain, , APS_VECTORS_PLAIN, )

#if APS_CPU_ARM
VARIANT(neon, , APS_VECTORS_NEON, )
#endif
#if APS_CPU_X86
VARIANT(avx2, APS_CODEC_AVX2, APS_VECTORS_AVX2, )
VARIANT(avx512, APS_CODEC_AVX512, APS_VECTORS_AVX512,
        .encode_elements = encode_elements, .decode_elements = decode_elements)
#endif

/* Returns the supported variants, best first. */
static const struct aps_float_variant *supported(int i)
{
#if APS_CPU_ARM
    if (i-- == 0)
        return &variant_neon;
#endif
#if APS_CPU_X86
    bool avx2 = aps_cpu_supported(APS_CPU_AVX2);
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                  __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vbmi");

    if (avx512 && i-- == 0)
        return &variant_avx512;
    if (avx2 && i-- == 0)
        return &variant_avx2;
#endif
    return i == 0 ? &variant_plain : NULL;
}

const struct aps_float_variant *aps_float_variant_best(void)
{
    return supported(0);
}

const struct aps_float_variant *aps_float_variant_find(const char *cpu)
{
    const struct aps_float_variant *variant;

    for (int i = 0; (variant = supported(i)); i++) {
        if (strcmp(variant->codec.cpu, cpu) == 0)
            return variant;
    }
    return NULL;
}

void aps_float_codec_init(const struct aps_format *format,
                          const struct aps_float_variant *variant,
                          struct aps_codec *codec)
{
    *codec = variant->codec;
    codec->format = *format;
}
