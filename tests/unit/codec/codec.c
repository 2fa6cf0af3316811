/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every variant of the codec against one value at a time: the same bytes and
 * floats, bit for bit, for all sizes and alignments.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "float/float.h"
#include "number/parse.h"
#include "unit/common/formats.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/draw.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N_MAX 2100
#define GUARD 80 /* bytes after every array that must not change */

static const char *const cpus[] = APS_CPU_NAMES;
static const size_t sizes[] = {
    0,  1,   7,    15,   16,   17,   31,   63,    64,
    65, 513, 1003, 1023, 1024, 1025, 1100, N_MAX,
};

/* An array whose address is `offset` bytes off, guarded at both ends. */
struct array {
    _Alignas(64) unsigned char bytes[64 + N_MAX * 4 + GUARD];
};

static void *array_at(struct array *array, size_t offset)
{
    memset(array->bytes, 0xa5, sizeof array->bytes);
    return array->bytes + 64 - offset;
}

static bool array_intact(const struct array *array, size_t offset, size_t size)
{
    for (size_t i = 0; i < sizeof array->bytes; i++) {
        if ((i < 64 - offset || i >= 64 - offset + size) &&
            array->bytes[i] != 0xa5)
            return false;
    }
    return true;
}

static uint32_t load_bits(const void *array, size_t i)
{
    uint32_t bits;

    memcpy(&bits, (const char *)array + i * sizeof bits, sizeof bits);
    return bits;
}

static bool is_nan(uint32_t bits)
{
    return (bits & ~APS_FLOAT_SIGN) > APS_FLOAT_INF;
}

static float load_float(const void *array, size_t i)
{
    return aps_float_from_bits(load_bits(array, i));
}

/* True if a block with this value needs the marker. */
static bool needs_marker(const struct aps_format *f, float x)
{
    if (f->saturate)
        return !isfinite(x);
    return f->kind == APS_FORMAT_IEEE && f->mantissa_bits == 0 && isnan(x);
}

/* value / 2^exponent */
static float unscaled(const struct aps_format *f, uint32_t code, int exponent)
{
    return (float)ldexp((double)aps_decode(f, code), -exponent);
}

/* Encodes, decodes, adds and rounds n values. Returns the name of the first
 * function that differs from the definition, or NULL. */
static const char *check(const struct aps_codec *codec, size_t n, size_t offset,
                         int exponent)
{
    static struct array x_array, wire_array, y_array, expected_array;
    const struct aps_format *f = &codec->format;
    const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
    const size_t bytes = aps_codec_bytes(codec, n);
    float *x = array_at(&x_array, offset);
    uint8_t *wire = array_at(&wire_array, offset ? 64 - offset : 0);
    uint8_t *expected = expected_array.bytes;
    bool marker = false;

    if (bytes != (n * (size_t)f->width + 7) / 8)
        return "bytes";
    memset(expected, 0, bytes);
    for (size_t i = 0; i < n; i++) {
        float value = random_value(f, exponent);

        memcpy((char *)x + i * sizeof value, &value, sizeof value);
        marker = marker || needs_marker(f, value);
        wire_put(expected, i, f->width,
                 aps_cast_encode(f, load_bits(x, i), exponent));
    }

    unsigned flags = codec->encode(codec, x, n, scaling, NULL, wire);
    if (memcmp(wire, expected, bytes) != 0 ||
        !array_intact(&wire_array, offset ? 64 - offset : 0, bytes))
        return "encode";
    if (flags != (marker ? APS_BLOCK_NAN : 0))
        return "flags";

    float *y = array_at(&y_array, offset);
    codec->decode(codec, wire, n, scaling, 0, y);
    if (!array_intact(&y_array, offset, n * 4))
        return "decode";
    for (size_t i = 0; i < n; i++) {
        uint32_t code = wire_get(wire, i, f->width);

        if (load_bits(y, i) != aps_float_bits(unscaled(f, code, exponent)))
            return "decode";
    }

    if (flags & APS_BLOCK_NAN) {
        codec->decode(codec, wire, n, scaling, flags, y);
        for (size_t i = 0; i < n; i++) {
            uint32_t code = wire_get(wire, i, f->width);
            uint32_t bits = aps_float_bits(unscaled(f, code, exponent));
            bool nan = (code & ~(1u << (f->width - 1))) >= aps_cast_inf(f);

            if (nan ? !is_nan(load_bits(y, i)) : load_bits(y, i) != bits)
                return "decode of a block with a marker";
            if (!isfinite(load_float(x, i)) && isfinite(load_float(y, i)))
                return "decode of what was not finite";
        }
    }

    /* adds onto x itself: INF - INF, NaN and the like included */
    memcpy(y, x, n * sizeof *x);
    codec->decode_add(codec, wire, n, scaling, 0, y);
    if (!array_intact(&y_array, offset, n * 4))
        return "decode_add";
    for (size_t i = 0; i < n; i++) {
        uint32_t code = wire_get(wire, i, f->width);
        float sum =
            aps_float_from_bits(load_bits(x, i)) + unscaled(f, code, exponent);
        uint32_t bits = isnan(sum) ? APS_FLOAT_NAN : aps_float_bits(sum);

        if (load_bits(y, i) != bits)
            return "decode_add";
    }

    memcpy(y, x, n * sizeof *x);
    codec->round(codec, n, scaling, y);
    if (!array_intact(&y_array, offset, n * 4))
        return "round";
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = load_bits(x, i);
        uint32_t code = aps_cast_encode(f, bits, exponent);

        bool nan = f->saturate ? !isfinite(load_float(x, i)) : is_nan(bits);

        bits = nan ? (bits & APS_FLOAT_SIGN) | APS_FLOAT_NAN
                   : aps_float_bits(unscaled(f, code, exponent));
        if (load_bits(y, i) != bits)
            return "round";
    }
    return NULL;
}

/* Encodes n values that are known to be finite in the format. */
static const char *check_bounded(const struct aps_codec *codec, size_t n,
                                 size_t offset, int exponent)
{
    static struct array x_array, wire_array, expected_array;
    const struct aps_format *f = &codec->format;
    const struct aps_scaling scaling = {
        .exponent = exponent, .factor = 1, .bounded = true};
    const double limit = (double)aps_decode(f, aps_cast_limit(f) - 1);
    const size_t bytes = aps_codec_bytes(codec, n);
    float *x = array_at(&x_array, offset);
    uint8_t *wire = array_at(&wire_array, offset);
    uint8_t *expected = expected_array.bytes;

    memset(expected, 0, bytes);
    for (size_t i = 0; i < n; i++) {
        float value = random_value(f, exponent);

        /* The greatest magnitude itself, if it is a float. */
        if (!(fabs(ldexp((double)value, exponent)) <= limit))
            value = (float)ldexp(copysign(limit, (double)value), -exponent);
        if (!(fabs(ldexp((double)value, exponent)) <= limit))
            value = 0;
        memcpy((char *)x + i * sizeof value, &value, sizeof value);
        wire_put(expected, i, f->width,
                 aps_cast_encode(f, load_bits(x, i), exponent));
    }
    if (codec->encode(codec, x, n, scaling, NULL, wire) != 0)
        return "flags of bounded values";
    if (memcmp(wire, expected, bytes) != 0 ||
        !array_intact(&wire_array, offset, bytes))
        return "encode of bounded values";
    return NULL;
}

/* Returns the code of x * 2^exponent, and updates the statistics. */
static uint32_t code_of(const struct aps_format *f, uint32_t x, int exponent,
                        const struct aps_cast_options *options, uint64_t i,
                        struct aps_encode_stats *stats)
{
    const struct aps_draw draw = aps_draw_init(options);
    uint32_t random = 0;
    uint32_t y = x;
    enum aps_rounding rounding = options->rounding;

    if (aps_cast_draws(rounding))
        random = aps_draw_element(&draw, options->offset + i);
    if (rounding == APS_ROUND_CPD) {
        double product = ldexp((double)aps_float_from_bits(x), exponent);

        y = aps_cpd_cast(f, aps_float_bits((float)product));
        rounding = APS_ROUND_NEAREST;
        exponent = 0;
    }
    uint32_t code = aps_cast_round(f, y, exponent, rounding, random);
    uint32_t magnitude = x & ~APS_FLOAT_SIGN;

    if (magnitude >= APS_FLOAT_INF) {
        stats->nonfinite++;
    } else if (magnitude > 0) {
        uint32_t raw =
            aps_cast_magnitude(f, y & ~APS_FLOAT_SIGN, exponent, rounding,
                               aps_cast_random(rounding, y, random));

        stats->underflow += (code & ~(1u << (f->width - 1))) == 0;
        stats->overflow +=
            (y & ~APS_FLOAT_SIGN) > 0 && raw >= aps_cast_limit(f);
    }
    return code;
}

/* Encodes n values with every rounding, and with statistics. */
static const char *check_roundings(const struct aps_codec *codec, size_t n,
                                   size_t offset, int exponent)
{
    static const char *const names[] = {"nearest", "stochastic", "toward zero",
                                        "cpd", "correlated"};
    static struct array x_array, wire_array, expected_array;
    const struct aps_format *f = &codec->format;
    const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
    const size_t bytes = aps_codec_bytes(codec, n);
    float *x = array_at(&x_array, offset);
    uint8_t *wire = array_at(&wire_array, offset);
    uint8_t *expected = expected_array.bytes;

    for (size_t i = 0; i < n; i++) {
        float value = random_value(f, exponent);

        memcpy((char *)x + i * sizeof value, &value, sizeof value);
    }
    for (enum aps_rounding r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED;
         r++) {
        const struct aps_cast_options options = {
            .rounding = r,
            .layer = random_bits(),
            .stage = random_bits() % 8,
            .rank = random_bits() % 4,
            .ranks = 4 + random_bits() % 4,
            .step = random_bits(),
            .seed = (uint64_t)random_bits() << 32 | random_bits(),
            .offset = 0xfffffff0ull * 4 + offset, /* carries to 64 bits */
        };
        struct aps_encode_stats stats = {1, 2, 3}, counted = {1, 2, 3};
        unsigned flags;

        if (r == APS_ROUND_CPD && (f->kind != APS_FORMAT_IEEE || f->saturate))
            continue;
        memset(expected, 0, bytes);
        for (size_t i = 0; i < n; i++)
            wire_put(
                expected, i, f->width,
                code_of(f, load_bits(x, i), exponent, &options, i, &counted));
        flags = codec->encode(codec, x, n, scaling, &options, wire);
        if (memcmp(wire, expected, bytes) != 0 ||
            !array_intact(&wire_array, offset, bytes))
            return names[r];
        memset(wire, 0xff, bytes);
        if (codec->encode_stats(codec, x, n, scaling, &options, wire, &stats) !=
                flags ||
            memcmp(wire, expected, bytes) != 0 ||
            !array_intact(&wire_array, offset, bytes))
            return "encode_stats";
        if (memcmp(&stats, &counted, sizeof stats) != 0)
            return "statistics";
    }
    return NULL;
}

static void test_format(const struct aps_codec *codec)
{
    static const int exponents[] = {0, 5, -3, 90, -90, 140, -140};
    const char *name = codec->format.name;
    unsigned turn = 0;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t offset = 0; offset < 8; offset += s % 2 ? 3 : 4) {
            int exponent =
                exponents[turn++ % (sizeof exponents / sizeof *exponents)];
            const char *failed = check(codec, sizes[s], offset, exponent);

            if (!failed)
                failed = check_roundings(codec, sizes[s], offset, exponent);
            if (!failed)
                failed = check_bounded(codec, sizes[s], offset, exponent);
            if (failed) {
                ok(false, "%s %s: %s of %zu values, %zu bytes off, 2^%d", name,
                   codec->cpu, failed, sizes[s], offset, exponent);
                return;
            }
        }
    }
    ok(true, "%s %s: equals the cast of each value, packed bit by bit", name,
       codec->cpu);
}

static void test_max_finite(const struct aps_float_variant *variant)
{
    static struct array array;
    bool pass = true, greatest_pass = true;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t offset = 0; offset < 8; offset++) {
            /* from mostly zero to any bit pattern */
            uint32_t mask = 0xffffffffu >> (offset * 4);
            float *x = array_at(&array, offset);
            uint32_t max = 0, greatest = 0;

            for (size_t i = 0; i < sizes[s]; i++) {
                uint32_t bits = random_bits() & (mask | APS_FLOAT_SIGN);
                uint32_t magnitude = bits & ~APS_FLOAT_SIGN;

                if (i % 11 == 5)
                    bits = i % 2 ? 0x7f800000u : 0xffc00000u;
                else if (magnitude < APS_FLOAT_INF && magnitude > max)
                    max = magnitude;
                memcpy((char *)x + 4 * i, &bits, sizeof bits);
                if ((bits & ~APS_FLOAT_SIGN) > greatest)
                    greatest = bits & ~APS_FLOAT_SIGN;
            }
            pass = pass && variant->max_finite(x, sizes[s]) == max;
            greatest_pass =
                greatest_pass && variant->greatest(x, sizes[s]) == greatest;
        }
    }
    ok(pass, "max_finite %s: greatest magnitude that is finite",
       variant->codec.cpu);
    ok(greatest_pass, "greatest %s: greatest magnitude of all",
       variant->codec.cpu);
}

static void test_variants(void)
{
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        const struct aps_float_variant *variant =
            aps_float_variant_find(cpus[c]);

        if (!variant) {
            skip(1, "no %s on this machine", cpus[c]);
            continue;
        }
        struct aps_format format;
        struct aps_codec codec;

        for (int i = 0; format_at(i, &format); i++) {
            aps_float_codec_init(&format, variant, &codec);
            test_format(&codec);
        }
        test_max_finite(variant);
    }
}

static void test_choice(void)
{
    struct aps_format format;
    struct aps_codec codec;
    const float x[] = {1, -3, NAN, -INFINITY, 0x1p-149f};
    const float none[] = {NAN, INFINITY};

    ok(!aps_float_variant_find("z80"), "no variant of an unknown name");
    setenv("APSMPI_CPU", "plain", 1);
    aps_format_parse("e5m2", &format, NULL);
    aps_codec_init(&format, &codec);
    is(codec.cpu, "plain", "APSMPI_CPU forces a variant");
    setenv("APSMPI_CPU", "avx2", 1);
    aps_codec_init(&format, &codec);
    is(codec.cpu, "plain", "... and is read once");
    is(codec.format.name, "e5m2", "the codec knows its format");
    ok(aps_codec_bytes(&codec, SIZE_MAX) == SIZE_MAX,
       "bytes of very many values");
    ok(aps_max_finite(x, 5) == 3 && aps_max_finite(x + 4, 1) == 0x1p-149f &&
           aps_max_finite(none, 2) == 0 && aps_max_finite(NULL, 0) == 0,
       "greatest finite magnitude");
}

int main(void)
{
    test_choice();
    test_variants();
    return done_testing();
}
