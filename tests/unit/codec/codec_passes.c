/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass of a codec has the bits of several passes: sums of arrays of codes,
 * encoded or not.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "unit/common/formats.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N ((size_t)20000) /* more than the tiles of many summands */
#define GUARD 64          /* bytes */
#define COUNT 20          /* summands, at most */

static const char *const cpus[] = APS_CPU_NAMES;

static float values[N], expected[N];
static unsigned char wires[COUNT][N * 4], coded[N * 4];
/* Memory for an array that begins after a guard and up to GUARD bytes more. */
static _Alignas(64) unsigned char room[sizeof values + 3 * GUARD];

static bool guards_intact(size_t offset, size_t bytes)
{
    const unsigned char *const begin = room + GUARD + offset;

    for (size_t i = 0; i < GUARD; i++)
        if (begin[-(ptrdiff_t)i - 1] != 0x5a || begin[bytes + i] != 0x5a)
            return false;
    return true;
}

static bool same_magnitude(struct aps_magnitude a, struct aps_magnitude b)
{
    return a.finite == b.finite &&
           aps_float_bits(a.max) == aps_float_bits(b.max);
}

/* --- sums ------------------------------------------------------------------ */

/* Draws summands with their own scales. Codes are any, with INF and NaN, or
 * only those of small values. */
static void draw_summands(const struct aps_codec *codec, int count, size_t n,
                          bool specials, struct aps_summand *summands)
{
    for (int s = 0; s < count; s++) {
        const int exponent = (int)(random_bits() % 40) - 20;
        unsigned char *const wire = wires[s] + random_bits() % 64;
        struct aps_scaling scaling = {.exponent = exponent, .factor = 1};

        for (size_t i = 0; i < n; i++)
            values[i] = specials && random_bits() % 50 == 0
                            ? random_value(&codec->format, exponent)
                            : ldexpf((float)(int32_t)random_bits() * 0x1p-31f,
                                     -exponent);
        summands[s] = (struct aps_summand){
            .wire = wire,
            .scaling = scaling,
            .flags = codec->encode(codec, values, n, scaling, NULL, wire),
        };
    }
}

static bool sums_alike(const struct aps_codec *codec, int count, size_t n,
                       size_t offset, bool specials, bool *sums)
{
    struct aps_summand summands[COUNT];
    struct aps_magnitude magnitude = {-1, false};
    float *const sum = (float *)(void *)(room + GUARD + offset);

    draw_summands(codec, count, n, specials, summands);
    for (int s = 0; s < count; s++)
        (s == 0 ? codec->decode : codec->decode_add)(
            codec, summands[s].wire, n, summands[s].scaling, summands[s].flags,
            expected);
    memset(room, 0x5a, sizeof room);
    *sums =
        codec->sum && codec->sum(codec, summands, count, n, sum, &magnitude);
    if (!*sums)
        return guards_intact(offset, n * sizeof *sum);
    return memcmp(sum, expected, n * sizeof *sum) == 0 &&
           guards_intact(offset, n * sizeof *sum) &&
           same_magnitude(magnitude, aps_magnitude_of(expected, n));
}

/* True if the kernels are those of vectors of 256 bits. */
static bool has_256(const char *cpu)
{
    return strcmp(cpu, "avx2") == 0 || strcmp(cpu, "neon") == 0;
}

/* True if AVX2 has its own loop to encode. */
static bool avx2_encodes(const struct aps_codec *codec, const char *cpu)
{
    const struct aps_format *format = &codec->format;

    return has_256(cpu) && (format->width <= 8 || format->width == 16) &&
           (format->exponent_bits < 8 || strcmp(format->name, "e8m7") == 0);
}

/* True if AVX2 sums in one pass unless a value is special. */
static bool avx2_sums(const struct aps_codec *codec, const char *cpu)
{
    const struct aps_format *format = &codec->format;

    return has_256(cpu) &&
           (format->width == 4 ||
            (format->width == 8 && format->exponent_bits <= 5) ||
            (format->width == 16 && !format->saturate &&
             (format->mantissa_bits == 10 || format->mantissa_bits == 7)));
}

static void test_sums(const struct aps_codec *codec, const char *cpu)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 4096, 16448, N - 64};
    static const int counts[] = {2, 3, 8, 9, COUNT};
    bool alike = true, all = true, any = false;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            bool sums;

            alike &= sums_alike(codec, counts[c], sizes[s],
                                random_bits() % 16 * 4, c % 2, &sums);
            all &= sums;
            any |= sums && sizes[s] > 64 && counts[c] > 8;
        }
    ok(alike, "%s %s: a sum in one pass", codec->format.name, cpu);
    if (strcmp(cpu, "avx512") == 0 && codec->format.width <= 8)
        ok(all, "%s %s: does sum in one pass", codec->format.name, cpu);
    if (avx2_sums(codec, cpu))
        ok(any, "%s %s: does sum in one pass", codec->format.name, cpu);
}

/* A scale whose values are not floats of two bytes: the tables hold them unscaled. */
static void test_unscaled(const struct aps_codec *codec, const char *cpu)
{
    struct aps_summand summands[2];
    bool alike = true;

    for (int exponent = 100; exponent <= 150; exponent += 5) {
        const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
        struct aps_magnitude magnitude;

        for (int s = 0; s < 2; s++) {
            for (size_t i = 0; i < 1000; i++)
                values[i] = random_value(&codec->format, exponent);
            summands[s] = (struct aps_summand){
                .wire = wires[s],
                .scaling = scaling,
                .flags =
                    codec->encode(codec, values, 1000, scaling, NULL, wires[s]),
            };
        }
        codec->decode(codec, wires[0], 1000, scaling, summands[0].flags,
                      expected);
        codec->decode_add(codec, wires[1], 1000, scaling, summands[1].flags,
                          expected);
        if (codec->sum &&
            codec->sum(codec, summands, 2, 1000, values, &magnitude))
            alike &= memcmp(values, expected, 1000 * sizeof *values) == 0;
    }
    ok(alike, "%s %s: a sum of values near the least floats",
       codec->format.name, cpu);
}

/* --- sums that are encoded ---------------------------------------------------- */

/* Memory for values that begin after 16 floats, and up to 15 more. */
static _Alignas(64) float places[N + 48];

/* The values that are written with the codes, by streaming or ordinary stores,
 * are those that decode gives for the codes; no other memory changes. */
static bool values_alike(const struct aps_codec *codec,
                         const struct aps_summand *summands, int count,
                         size_t n, struct aps_scaling scaling, bool stream)
{
    float *const x = places + 16 + (stream ? 0 : random_bits() % 16);
    const unsigned char *const bytes = (const void *)places;
    const size_t begin = (size_t)((unsigned char *)x - bytes);
    float max;
    bool intact = true;

    memset(places, 0x5a, sizeof places);
    if (!codec->sum_encode(codec, summands, count, n, scaling, coded, x, stream,
                           &max))
        return false;
    codec->decode(codec, coded, n, scaling, 0, expected);
    for (size_t i = 0; i < sizeof places; i++)
        intact &= (i >= begin && i < begin + n * sizeof *x) || bytes[i] == 0x5a;
    return intact && memcmp(x, expected, n * sizeof *x) == 0;
}

/* Compares with a scaling that is right, and with one that is wrong. */
static bool sums_encode_alike(const struct aps_codec *codec, int count,
                              size_t n, size_t offset, bool specials,
                              bool *encodes)
{
    struct aps_summand summands[COUNT];
    const size_t bytes = aps_codec_bytes(codec, n);
    struct aps_scaling scaling = {.factor = 1};
    struct aps_magnitude magnitude;
    unsigned char *const wire = room + GUARD + offset;
    int exponent;
    float max = -1;
    bool bounded;

    draw_summands(codec, count, n, specials, summands);
    for (int s = 0; s < count; s++)
        (s == 0 ? codec->decode : codec->decode_add)(
            codec, summands[s].wire, n, summands[s].scaling, summands[s].flags,
            expected);
    magnitude = aps_magnitude_of(expected, n);
    frexp(magnitude.max, &exponent);
    scaling.exponent = (int)(random_bits() % 4) - exponent;
    bounded = magnitude.finite &&
              ldexp(magnitude.max, scaling.exponent) <= codec->format.max;
    memset(room, 0x5a, sizeof room);
    *encodes = codec->sum_encode &&
               codec->sum_encode(codec, summands, count, n, scaling, wire, NULL,
                                 false, &max);
    if (!guards_intact(offset, bytes))
        return false;
    if (!*encodes)
        return true;
    scaling.bounded = bounded;
    return magnitude.finite && max == magnitude.max &&
           (!bounded ||
            (codec->encode(codec, expected, n, scaling, NULL, coded) == 0 &&
             memcmp(wire, coded, bytes) == 0 &&
             values_alike(codec, summands, count, n, scaling, false) &&
             values_alike(codec, summands, count, n, scaling, true)));
}

static void test_sums_encode(const struct aps_codec *codec, const char *cpu)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 4096, N - 64};
    static const int counts[] = {2, 3, 8, 9};
    bool alike = true, any = false;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int turn = 0; turn < 4; turn++) {
                bool encodes;

                alike &=
                    sums_encode_alike(codec, counts[c], sizes[s],
                                      random_bits() % 64, turn == 0, &encodes);
                any |= encodes && sizes[s] > 64 && counts[c] > 2;
            }
    ok(alike, "%s %s: a sum encoded in one pass", codec->format.name, cpu);
    if ((strcmp(cpu, "avx512") == 0 && codec->format.width <= 8) ||
        (avx2_sums(codec, cpu) && avx2_encodes(codec, cpu)))
        ok(any, "%s %s: does encode sums", codec->format.name, cpu);
}

int main(void)
{
    struct aps_format format;
    struct aps_codec codec;

    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++)
        for (int i = 0; format_at(i, &format); i++) {
            /* all formats of up to 8 bits and of 16, and some others */
            if (format.width > 8 && format.width != 16 && i % 9 > 0)
                continue;
            if (aps_codec_init_for(&format, cpus[c], &codec) < 0)
                continue; /* not supported by this CPU */
            test_sums(&codec, cpus[c]);
            test_unscaled(&codec, cpus[c]);
            test_sums_encode(&codec, cpus[c]);
        }
    return done_testing();
}
