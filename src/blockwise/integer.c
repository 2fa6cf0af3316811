/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of integers in two's complement, flexN: x * factor * 2^exponent,
 * rounded and clipped (number/integer.h). Codes of the largest magnitude, both
 * ends of the range, are NaN in a block that has the marker.
 */
#include "config.h"

#include <string.h>

#include "base/size_min.h"
#include "blockwise/fixed.h"
#include "kernel/kernel.h"
#include "simd/rounding.h"
#include "kernel/scaling.h"
#include "kernel/table.h"
#include "number/integer.h"

#define CHUNK ((size_t)APS_PACK_CHUNK)

/* --- bodies -------------------------------------------------------------- */

/* codes[n] = codes of x[n], n <= CHUNK, where y[n] = x[n] * scale, or, if
 * rounded otherwise, y[n] * 2^exponent. Returns true if a value is not
 * finite. */
APS_INLINE bool
integer_encode_chunk(const struct aps_format *format, const aps_any_float *x,
                     const aps_any_float *y, size_t n, float scale,
                     int exponent, enum aps_rounding rounding,
                     const uint32_t *random, int size, void *codes,
                     struct aps_encode_stats *stats)
{
    const struct aps_format f = *format;
    const uint32_t most = (1u << (f.width - 1)) - 1;
    uint32_t underflow = 0, overflow = 0, nonfinite = 0;
    int32_t greatest = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t magnitude = aps_float_bits(x[i]) & ~APS_FLOAT_SIGN;
        uint32_t bits = aps_float_bits(y[i]);
        uint32_t raw, code;

        if (rounding == APS_ROUND_NEAREST) {
            code = aps_fixed_code(&f, y[i] * scale, &raw);
        } else {
            raw = aps_integer_magnitude(
                bits & ~APS_FLOAT_SIGN, exponent, rounding,
                rounding == APS_ROUND_STOCHASTIC ? random[i] : 0);
            code = aps_integer_complete(&f, bits, raw);
        }
        greatest =
            (int32_t)magnitude > greatest ? (int32_t)magnitude : greatest;
        aps_kernel_store(codes, i, size, code);
        if (stats) {
            uint32_t finite = magnitude < APS_FLOAT_INF;

            underflow += finite & (magnitude > 0) & (code == 0);
            overflow += finite & (raw > most + (bits >> 31));
            nonfinite += !finite;
        }
    }
    if (stats) {
        stats->underflow += underflow;
        stats->overflow += overflow;
        stats->nonfinite += nonfinite;
    }
    return (uint32_t)greatest >= APS_FLOAT_INF;
}

APS_INLINE unsigned integer_encode_size(
    const struct aps_codec *codec, const aps_any_float *x, size_t n,
    struct aps_scaling scaling, enum aps_rounding rounding,
    const struct aps_cast_options *options, enum aps_vectors vectors, int size,
    uint8_t *wire, struct aps_encode_stats *stats)
{
    const struct aps_format *f = &codec->format;
    /* a product with a factor is rounded to float, and then to the integer */
    const bool nearest = rounding == APS_ROUND_NEAREST;
    const bool direct =
        nearest ? aps_scaling_is_simple(f, scaling) : scaling.factor == 1;
    const float scale = nearest && direct
                            ? scaling.factor * aps_float_pow2(scaling.exponent)
                            : 1;
    const int exponent = direct ? scaling.exponent : 0;
    struct aps_draw draw = {.correlated = false};
    bool marker = false;

    if (rounding == APS_ROUND_STOCHASTIC)
        draw = aps_draw_init(options);
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t count = aps_size_min(n - i, CHUNK);
        const aps_any_float *y = x + i;
        uint32_t word[APS_ROUNDING_WORDS];
        const uint32_t *random = NULL;
        float product[APS_PACK_CHUNK];

        if (!direct) {
            aps_rounding_multiply(f, x + i, count, scaling, false, product);
            y = product;
        }
        if (rounding == APS_ROUND_STOCHASTIC)
            random = aps_rounding_draw_magnitudes(&draw, options->offset + i,
                                                  x + i, count, vectors, word);
        marker |=
            integer_encode_chunk(f, x + i, y, count, scale, exponent, rounding,
                                 random, size, wire + i * (size_t)size, stats);
    }
    return marker ? APS_BLOCK_NAN : 0;
}

APS_INLINE unsigned integer_encode_body(const struct aps_codec *codec,
                                        const float *x, size_t n,
                                        struct aps_scaling scaling,
                                        const struct aps_cast_options *options,
                                        enum aps_vectors vectors, void *wire,
                                        struct aps_encode_stats *stats)
{
    const aps_any_float *in = (const void *)x;
    const enum aps_rounding rounding =
        options ? options->rounding : APS_ROUND_NEAREST;

#define ENCODE(rounding)                                                       \
    (codec->format.width == 8                                                  \
         ? integer_encode_size(codec, in, n, scaling, rounding, options,       \
                               vectors, 1, wire, stats)                        \
         : integer_encode_size(codec, in, n, scaling, rounding, options,       \
                               vectors, 2, wire, stats))

    switch (rounding) {
    case APS_ROUND_STOCHASTIC:
    case APS_ROUND_CORRELATED:
        return ENCODE(APS_ROUND_STOCHASTIC);
    case APS_ROUND_TOWARD_ZERO:
        return ENCODE(APS_ROUND_TOWARD_ZERO);
    default:
        return ENCODE(APS_ROUND_NEAREST);
    }
#undef ENCODE
}

APS_INLINE void integer_decode_size(const struct aps_codec *codec,
                                    const uint8_t *wire, size_t n,
                                    struct aps_scaling scaling, unsigned flags,
                                    bool add, int size, aps_any_float *x)
{
    const struct aps_format f = codec->format;
    const bool direct = aps_scaling_inverse_is_simple(scaling);
    const float scale = direct ? aps_float_pow2(-scaling.exponent) : 1;
    const uint32_t lowest = 1u << (f.width - 1);
    /* value of the codes at both ends, or none */
    const uint32_t nan = flags & APS_BLOCK_NAN ? APS_FLOAT_NAN : 0;

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t count = aps_size_min(n - i, CHUNK);
        float values[APS_PACK_CHUNK];

        for (size_t j = 0; j < count; j++) {
            uint32_t code = aps_kernel_load(wire, i + j, size);
            float y = (float)aps_integer_value(&f, code) * scale;
            uint32_t end = code == lowest || code == lowest - 1;

            values[j] =
                aps_float_from_bits(aps_float_bits(y) | ((0 - end) & nan));
        }
        if (!direct) {
            aps_scaling_divide(values, count, scaling, add, x + i);
            continue;
        }
        for (size_t j = 0; j < count; j++)
            x[i + j] =
                add ? aps_kernel_canonical(x[i + j] + values[j]) : values[j];
    }
}

APS_INLINE void integer_decode_body(const struct aps_codec *codec,
                                    const void *wire, size_t n,
                                    struct aps_scaling scaling, unsigned flags,
                                    bool add, float *x)
{
    if (codec->format.width == 8)
        integer_decode_size(codec, wire, n, scaling, flags, add, 1, (void *)x);
    else
        integer_decode_size(codec, wire, n, scaling, flags, add, 2, (void *)x);
}

/* A value that is not finite becomes NaN of its sign, for which there is no
 * code. */
APS_INLINE void integer_round_body(const struct aps_codec *codec, size_t n,
                                   struct aps_scaling scaling, float *sum)
{
    aps_any_float *out = (void *)sum;

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t count = aps_size_min(n - i, CHUNK);
        uint8_t codes[APS_PACK_CHUNK * 2];
        float rounded[APS_PACK_CHUNK];

        integer_encode_body(codec, sum + i, count, scaling, NULL,
                            APS_VECTORS_PLAIN, codes, NULL);
        integer_decode_body(codec, codes, count, scaling, 0, false, rounded);
        for (size_t j = 0; j < count; j++) {
            uint32_t bits = aps_float_bits(out[i + j]);
            bool finite = (bits & ~APS_FLOAT_SIGN) < APS_FLOAT_INF;

            bits = (bits & APS_FLOAT_SIGN) | APS_FLOAT_NAN;
            out[i + j] = finite ? rounded[j] : aps_float_from_bits(bits);
        }
    }
}

/* --- variants ------------------------------------------------------------ */

#define VARIANT(arg, CPU, name, target)                                        \
    APS_CODEC_##CPU static unsigned encode_##name(                             \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire)                                                            \
    {                                                                          \
        return integer_encode_body(codec, x, n, scaling, options,              \
                                   APS_VECTORS_##CPU, wire, NULL);             \
    }                                                                          \
    APS_CODEC_##CPU static unsigned encode_stats_##name(                       \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire, struct aps_encode_stats *stats)                            \
    {                                                                          \
        return integer_encode_body(codec, x, n, scaling, options,              \
                                   APS_VECTORS_##CPU, wire, stats);            \
    }                                                                          \
    APS_CODEC_##CPU static void decode_##name(                                 \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *x)                  \
    {                                                                          \
        integer_decode_body(codec, wire, n, scaling, flags, false, x);         \
    }                                                                          \
    APS_CODEC_##CPU static void decode_add_##name(                             \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *sum)                \
    {                                                                          \
        integer_decode_body(codec, wire, n, scaling, flags, true, sum);        \
    }                                                                          \
    APS_CODEC_##CPU static void round_##name(                                  \
        const struct aps_codec *codec, size_t n, struct aps_scaling scaling,   \
        float *sum)                                                            \
    {                                                                          \
        integer_round_body(codec, n, scaling, sum);                            \
    }
#define ROW(arg, CPU, name, target)                                            \
    [APS_CPU_##CPU] = {                                                        \
        .cpu = #name,                                                          \
        .encode = encode_##name,                                               \
        .encode_stats = encode_stats_##name,                                   \
        .decode = decode_##name,                                               \
        .decode_add = decode_add_##name,                                       \
        .round = round_##name,                                                 \
    },

APS_CPU_ROWS(VARIANT, )

static const struct aps_codec variants[APS_CPUS] = {APS_CPU_ROWS(ROW, )};

void aps_codec_init_integer(const struct aps_format *format, enum aps_cpu cpu,
                            struct aps_codec *codec)
{
    *codec = variants[cpu];
    codec->format = *format;
}
