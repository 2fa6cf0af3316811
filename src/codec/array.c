/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of aps.h: checks the arguments, then calls the codec. */
#include "config.h"

#include "aps.h"
#include "base/fpenv.h"
#include "base/size_min.h"
#include "codec/codec.h"
#include "number/bits.h"
#include "number/check.h"
#include "number/cpd.h"

#define CHUNK ((size_t)1024)

static struct aps_scaling array_scaling(const struct aps_cast_options *options)
{
    return (struct aps_scaling){.exponent = options->scale_exponent,
                                .factor = 1};
}

/* Encodes and decodes in chunks that stay in the cache. */
static void cast_by_codec(const struct aps_format *format, const float *x,
                          size_t n, const struct aps_cast_options *options,
                          float *y)
{
    const struct aps_scaling scaling = array_scaling(options);
    struct aps_cast_options here = *options;
    unsigned char packed[CHUNK * sizeof(float)];
    struct aps_codec codec;

    aps_codec_init(format, &codec);
    if (codec.cast) {
        codec.cast(&codec, x, n, options, y);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK, here.offset += CHUNK) {
        size_t count = aps_size_min(n - i, CHUNK);

        codec.encode(&codec, x + i, count, scaling, &here, packed);
        codec.decode(&codec, packed, count, scaling, 0, y + i);
    }
}

int aps_cast_array(const struct aps_format *format, const float *x, size_t n,
                   const struct aps_cast_options *given, float *y,
                   struct aps_error *error)
{
    struct aps_cast_options options;
    fenv_t saved;

    if (aps_check_array("aps_cast_array", format, "x", x, "y", y, n, error) <
            0 ||
        aps_check_options("aps_cast_array", format, given, &options, error) <
            0 ||
        aps_check_rounding("aps_cast_array", format, options.rounding, error) <
            0)
        return -1;
    aps_fpenv_enter(&saved);
    if (options.rounding == APS_ROUND_CPD) {
        /* without codes, because overflows may have none */
        double power = aps_double_pow2(options.scale_exponent);
        double inverse = aps_double_pow2(-options.scale_exponent);

        for (size_t i = 0; i < n; i++)
            y[i] = aps_float_from_bits(aps_cpd_cast_scaled(
                format, aps_float_bits(x[i]), power, inverse));
    } else {
        cast_by_codec(format, x, n, &options, y);
    }
    aps_fpenv_leave(&saved);
    return 0;
}

int aps_encode_array(const struct aps_format *format, const float *x, size_t n,
                     const struct aps_cast_options *given, void *packed,
                     struct aps_error *error)
{
    struct aps_cast_options options;
    struct aps_codec codec;
    fenv_t saved;

    if (aps_check_array("aps_encode_array", format, "x", x, "packed", packed, n,
                        error) < 0 ||
        aps_check_options("aps_encode_array", format, given, &options, error) <
            0 ||
        aps_check_rounding("aps_encode_array", format, options.rounding,
                           error) < 0)
        return -1;
    aps_fpenv_enter(&saved);
    aps_codec_init(format, &codec);
    codec.encode(&codec, x, n, array_scaling(&options), &options, packed);
    aps_fpenv_leave(&saved);
    return 0;
}

int aps_decode_array(const struct aps_format *format, const void *packed,
                     size_t n, const struct aps_cast_options *given, float *x,
                     struct aps_error *error)
{
    struct aps_cast_options options;
    struct aps_codec codec;
    fenv_t saved;

    if (aps_check_array("aps_decode_array", format, "packed", packed, "x", x, n,
                        error) < 0 ||
        aps_check_options("aps_decode_array", format, given, &options, error) <
            0)
        return -1;
    aps_fpenv_enter(&saved);
    aps_codec_init(format, &codec);
    codec.decode(&codec, packed, n, array_scaling(&options), 0, x);
    aps_fpenv_leave(&saved);
    return 0;
}
