/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of several tiles (kernel/tile.h), which vector units encode in another
 * way than small ones, and in which few values exceed the format or are not
 * finite: every variant against one value at a time.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "float/float.h"
#include "kernel/tile.h"
#include "unit/common/formats.h"
#include "number/cast.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N (2 * APS_TILE + 1000 + 13)
#define GUARD 64

enum kind { IN_RANGE, BEYOND, SPECIAL, KINDS };
static const char *const kinds[] = {"in range", "beyond it", "not finite"};
static const char *const cpus[] = APS_CPU_NAMES;

static float x[N];
static unsigned char wire[N * 4 + GUARD], expected[N * 4 + GUARD];

/* Fills finite values in the range of the format, zeros and subnormals of float; in the
 * second tile some values beyond the range, or after it INF and NaN. */
static void fill(const struct aps_format *f, int exponent, enum kind kind)
{
    const double limit = (double)aps_decode(f, aps_cast_limit(f) - 1);

    for (size_t i = 0; i < N; i++) {
        float value = random_near(f, exponent);

        if (!(fabs(ldexp((double)value, exponent)) <= limit))
            value = i % 3 == 0 ? 0 : copysignf(0x1p-140f, value);
        x[i] = value;
    }
    if (kind == BEYOND) {
        x[APS_TILE + 7] = 0x1.8p127f;
        x[APS_TILE + 1200] = -0x1.fffffep127f;
    }
    if (kind == SPECIAL) {
        x[APS_TILE - 1] = INFINITY;
        x[2 * APS_TILE + 70] = NAN;
        x[N - 1] = -INFINITY;
    }
}

/* Computes the bytes and the statistics, one value at a time. */
static void encode_slowly(const struct aps_format *f, int exponent,
                          size_t bytes, struct aps_encode_stats *stats)
{
    memset(expected, 0xa5, sizeof expected);
    memset(expected, 0, bytes);
    for (size_t i = 0; i < N; i++) {
        const uint32_t bits = aps_float_bits(x[i]);
        const uint32_t magnitude = bits & ~APS_FLOAT_SIGN;
        const uint32_t code = aps_cast_encode(f, bits, exponent);

        wire_put(expected, i, f->width, code);
        if (magnitude >= APS_FLOAT_INF) {
            stats->nonfinite++;
            continue;
        }
        stats->underflow +=
            magnitude > 0 && (code & ~(1u << (f->width - 1))) == 0;
        stats->overflow +=
            magnitude > 0 &&
            aps_cast_magnitude(f, magnitude, exponent, APS_ROUND_NEAREST, 0) >=
                aps_cast_limit(f);
    }
}

/* The greatest magnitude of an array of several parts may be anywhere. */
static void test_magnitude(void)
{
    enum { PART = 1 << 18, LONG = 2 * PART + 77 };
    static const size_t places[] = {0,        1,        PART - 1, PART,
                                    PART + 1, 2 * PART, LONG - 1};
    static float values[LONG];
    bool right = true, finite = true;

    for (size_t i = 0; i < LONG; i++)
        values[i] = (i % 2 ? -1.0f : 1.0f) * (float)(i % 1000);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const float saved = values[places[i]];
        struct aps_magnitude found;

        values[places[i]] = -1000.5f;
        found = aps_magnitude_of(values, LONG);
        right &= found.max == 1000.5f && found.finite;
        found = aps_magnitude_of(values, places[i]);
        right &= found.max == (places[i] < 2 ? 0.0f : 999.0f) && found.finite;
        values[places[i]] = i % 2 ? NAN : -INFINITY;
        found = aps_magnitude_of(values, LONG);
        finite &= found.max == 999 && !found.finite;
        values[places[i]] = saved;
    }
    ok(right, "the greatest magnitude of a long array, wherever it lies");
    ok(finite, "and INF and NaN are noticed, wherever they lie");
}

/* Each element in turn is the greatest, and one after the end is greater; in
 * arrays that begin with a cache line and in others. */
static void test_greatest(const struct aps_float_variant *variant)
{
    static const size_t lengths[] = {16383, 16384, 16385, 16447,
                                     16448, 20000, 32833};
    static float values[32835];
    const uint32_t top = aps_float_bits(3.0f);
    bool right = true;

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (size_t i = 0; i < lengths[k]; i += i % 64 < 20 ? 1 : 13) {
            float *const array = values + k % 2;

            array[i] = -3.0f;
            array[lengths[k]] = 4.0f;
            right &= variant->greatest(array, lengths[k]) == top;
            array[i] = array[lengths[k]] = 0;
        }
    ok(right, "greatest %s: of a long array, wherever it lies",
       variant->codec.cpu);
}

/* Returns the name of the first difference, or NULL. */
static const char *check(const struct aps_codec *codec, int exponent,
                         enum kind kind)
{
    const struct aps_format *f = &codec->format;
    const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
    const struct aps_scaling bounded = {
        .exponent = exponent, .factor = 1, .bounded = true};
    const size_t bytes = aps_codec_bytes(codec, N);
    struct aps_encode_stats wanted = {1, 2, 3}, stats = {1, 2, 3};
    unsigned flags;

    fill(f, exponent, kind);
    encode_slowly(f, exponent, bytes, &wanted);
    memset(wire, 0xa5, sizeof wire);
    flags = codec->encode(codec, x, N, scaling, NULL, wire);
    if (memcmp(wire, expected, sizeof wire) != 0)
        return "encode";
    if (kind != SPECIAL && flags != 0)
        return "flags";
    memset(wire, 0xa5, sizeof wire);
    if (kind == IN_RANGE &&
        (codec->encode(codec, x, N, bounded, NULL, wire) != 0 ||
         memcmp(wire, expected, sizeof wire) != 0))
        return "bounded encode";
    memset(wire, 0xa5, sizeof wire);
    if (codec->encode_stats(codec, x, N, scaling, NULL, wire, &stats) !=
            flags ||
        memcmp(wire, expected, sizeof wire) != 0)
        return "encode_stats";
    return memcmp(&stats, &wanted, sizeof stats) != 0 ? "statistics" : NULL;
}

static void test_format(const struct aps_codec *codec)
{
    static const int exponents[KINDS] = {3, -20, 60};
    const char *name = codec->format.name;

    for (enum kind kind = IN_RANGE; kind < KINDS; kind++) {
        const char *failed = check(codec, exponents[kind], kind);

        if (failed) {
            ok(false, "%s %s: %s of values %s", name, codec->cpu, failed,
               kinds[kind]);
            return;
        }
    }
    ok(true, "%s %s: tiles equal the cast of each value", name, codec->cpu);
}

int main(void)
{
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        const struct aps_float_variant *variant =
            aps_float_variant_find(cpus[c]);
        struct aps_format format;
        struct aps_codec codec;

        if (!variant) {
            skip(1, "no %s on this machine", cpus[c]);
            continue;
        }
        test_greatest(variant);
        for (int i = 0; format_at(i, &format); i++) {
            aps_float_codec_init(&format, variant, &codec);
            test_format(&codec);
        }
    }
    test_magnitude();
    return done_testing();
}
