/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codecs of block formats and of integers: vectors, and equality of all
 * variants in every function. tests/e2e/t-blocks.sh has an independent reader.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N 9000
#define GUARD 16

static const char *const names[] = {
    "mx-e5m2",   "mx-e4m3fn",   "mx-e3m2fn",      "mx-e2m3fn",  "mx-e2m1fn",
    "mx-int8",   "nvfp4",       "bfp7/64",        "bfp7/576",   "bfp3/64",
    "bfp5/576",  "bfp4/7",      "bfp15/64",       "bfp23/64",   "bfp24/32",
    "bfp3/4096", "bfp1/2",      "flex8",          "flex16",     "qsgd7/512",
    "qsgd1/128", "qsgd127/512", "qsgd127/512-l2", "qsgd3/7-l2", "int8/512",
    "int8/64",   "int4/64",     "int4/512",       "int6/32",    "int16/2",
    "sign/64",   "sign/512",    "sign/7",         "sign/4096",  "bfp2/16",
    "bfp4/16",   "bfp7/16",     "bfp15/16",       "bfp1/32",    "bfp4/32",
    "bfp6/32",   "bfp15/32",    "bfp5/48",        "bfp3/128",   "bfp7/192",
    "bfp15/576", "bfp6/320",
};
static const char *const cpus[] = APS_CPU_NAMES;
static const size_t sizes[] = {0,    1,    15,   16,   17,   31,  32,   33,
                               63,   64,   65,   575,  576,  577, 1023, 1024,
                               1025, 2048, 4095, 4096, 4097, N};
static const struct aps_scaling unscaled = {.exponent = 0, .factor = 1};

static float x[N];
static unsigned char wire[N * 4 + 64], other[N * 4 + 64];

static void init(const char *name, const char *cpu, struct aps_codec *codec)
{
    struct aps_format format;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("%s is no format", name);
    if (aps_codec_init_for(&format, cpu, codec) < 0)
        bail_out("there is no variant %s", cpu);
}

static bool has_cpu(const char *cpu)
{
    struct aps_format format;
    struct aps_codec codec;

    return aps_format_parse("flex8", &format, NULL) == 0 &&
           aps_codec_init_for(&format, cpu, &codec) == 0;
}

/* Fills gradients, and some blocks of zeros, subnormals, INF or NaN. */
static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        uint32_t kind = (uint32_t)(i / 64) % 16;
        uint32_t bits = random_bits();
        int e = kind == 2 ? -140 : kind == 3 ? 120 : (int)(kind * 7) - 40;

        x[i] = ldexpf((float)(int32_t)bits * 0x1p-31f,
                      e + (int)(random_bits() % 8));
        if (kind == 4)
            x[i] = bits & 1 ? 0.f : -0.f;
        if (kind == 5 && i % 64 == 40)
            x[i] = bits & 1 ? INFINITY : NAN;
        if (kind == 6 && i % 64 == 3)
            x[i] = 0x1p9f;
    }
}

/* Fills gradients of similar magnitude, all finite and few of them 0: no block
 * is special, nor is its scale. */
static void fill_alike(void)
{
    for (size_t i = 0; i < N; i++) {
        const float y = (float)(int32_t)random_bits() * 0x1p-31f;
        const float z = (float)(int32_t)random_bits() * 0x1p-31f;

        x[i] = y * z * 0x1p-3f;
    }
}

/* --- vectors ------------------------------------------------------------- */

static void test_vectors(void)
{
    static const float given[8] = {1,        -0.75f,  0.3f, 0x1p-6f,
                                   -0x1p-7f, 0x1p-8f, 0,    1.97f};
    static const struct {
        const char *name;
        float unit; /* unit of the values */
        int scale;
        float values[8];
    } table[] = {
        {"mx-e4m3fn", 0x1p-8f, 119, {256, -192, 80, 4, -2, 1, 0, 448}},
        {"mx-e5m2",
         0x1p-15f,
         112,
         {32768, -24576, 10240, 512, -256, 128, 0, 57344}},
        {"mx-e3m2fn", 0x1p-4f, 123, {16, -12, 5, .25f, -.125f, .0625f, 0, 28}},
        {"mx-e2m3fn", 0x1p-2f, 125, {4, -3, 1.25f, 0, -0.f, 0, 0, 7.5f}},
        {"mx-e2m1fn", 0x1p-2f, 125, {4, -3, 1, 0, -0.f, 0, 0, 6}},
        {"mx-int8", 0x1p-6f, 127, {64, -48, 19, 1, 0, 0, 0, 126}},
        {"bfp7/64", 0x1p-6f, 127, {64, -48, 19, 1, -0.f, 0, 0, 126}},
        {"bfp3/64", 0x1p-2f, 127, {4, -3, 1, 0, -0.f, 0, 0, 7}},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
            struct aps_codec codec;
            float y[8], wanted[8];
            unsigned flags;

            if (!has_cpu(cpus[c]))
                continue;
            init(table[i].name, cpus[c], &codec);
            flags = codec.encode(&codec, given, 8, unscaled, NULL, wire);
            codec.decode(&codec, wire, 8, unscaled, flags, y);
            for (int j = 0; j < 8; j++)
                wanted[j] = table[i].values[j] * table[i].unit;
            ok(flags == 0 && wire[0] == table[i].scale &&
                   memcmp(y, wanted, sizeof y) == 0,
               "%s, %s: the vector", table[i].name, cpus[c]);
        }
    }
}

/* The marker of integers: both ends of the range are NaN. */
static void test_marker(void)
{
    static const float given[6] = {NAN, -INFINITY, 40000, -3, 32767, -32767};
    struct aps_codec codec;
    float y[6];
    unsigned flags;

    init("flex16", "plain", &codec);
    flags = codec.encode(&codec, given, 6, unscaled, NULL, wire);
    codec.decode(&codec, wire, 6, unscaled, flags, y);
    ok(flags == APS_BLOCK_NAN && isnan(y[0]) && isnan(y[1]) && isnan(y[2]) &&
           y[3] == -3 && isnan(y[4]) && y[5] == -32767,
       "flex16: what is not finite asks for the marker, and comes out as NaN");
    memcpy(y, given, sizeof y);
    codec.round(&codec, 6, unscaled, y);
    ok(isnan(y[0]) && isnan(y[1]) && y[2] == 32767 && y[5] == -32767,
       "... and stays NaN when a sum is rounded");
}

/* --- variants ------------------------------------------------------------ */

static bool same(const struct aps_encode_stats *a,
                 const struct aps_encode_stats *b)
{
    return a->underflow == b->underflow && a->overflow == b->overflow &&
           a->nonfinite == b->nonfinite;
}

/* All functions of a variant give the bits of `plain`, and change nothing else. */
static bool alike(const struct aps_codec *plain, const struct aps_codec *codec,
                  size_t n, const struct aps_cast_options *options)
{
    static float y[N + GUARD], z[N + GUARD], sum[N], rounded[N];
    const size_t bytes = aps_codec_bytes(codec, n);
    struct aps_encode_stats a = {0}, b = {0};
    unsigned flags[3];
    bool right = true;

    memset(wire, 0xa5, sizeof wire);
    memset(other, 0xa5, sizeof other);
    flags[0] = plain->encode(plain, x, n, unscaled, options, wire);
    flags[1] = codec->encode(codec, x, n, unscaled, options, other + 3);
    right &= memcmp(wire, other + 3, bytes) == 0 && flags[0] == flags[1];
    for (size_t i = 0; i < GUARD; i++)
        right &= other[3 + bytes + i] == 0xa5 && wire[bytes + i] == 0xa5;
    plain->encode_stats(plain, x, n, unscaled, options, wire, &a);
    flags[2] =
        codec->encode_stats(codec, x, n, unscaled, options, other + 3, &b);
    right &= memcmp(wire, other + 3, bytes) == 0 && flags[2] == flags[0];
    right &= same(&a, &b);
    memset(y, 0x5a, sizeof y);
    memset(z, 0x5a, sizeof z);
    plain->decode(plain, wire, n, unscaled, flags[0], y);
    codec->decode(codec, other + 3, n, unscaled, flags[0], z);
    right &= memcmp(y, z, sizeof y) == 0;
    for (size_t i = 0; i < n; i++)
        z[i] = sum[i] = (float)i - 100;
    codec->decode_add(codec, other + 3, n, unscaled, flags[0], z);
    for (size_t i = 0; i < n; i++) {
        float added = sum[i] + y[i];

        right &= isnan(added) ? aps_float_bits(z[i]) == APS_FLOAT_NAN
                              : memcmp(&added, &z[i], sizeof added) == 0;
    }
    if (!options) {
        memcpy(rounded, x, n * sizeof *x);
        codec->round(codec, n, unscaled, rounded);
        for (size_t i = 0; i < n && codec->format.block > 1; i++)
            right &= memcmp(&rounded[i], &y[i], sizeof *y) == 0;
    }
    return right;
}

static void test_variants(const char *values)
{
    struct aps_cast_options options[] = {
        {.size = sizeof options[0], .rounding = APS_ROUND_NEAREST},
        {.rounding = APS_ROUND_STOCHASTIC, .seed = 5, .offset = 576 * 4096},
        {.rounding = APS_ROUND_TOWARD_ZERO},
    };

    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
            struct aps_codec plain, codec;
            bool right = true;

            if (!has_cpu(cpus[c])) {
                skip(1, "this CPU has no %s", cpus[c]);
                continue;
            }
            init(names[f], "plain", &plain);
            init(names[f], cpus[c], &codec);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                right &= alike(&plain, &codec, sizes[s], NULL);
                for (size_t o = 0; o < 3; o++)
                    right &= alike(&plain, &codec, sizes[s], &options[o]);
            }
            ok(right, "%s, %s: every verb, size and rounding as plain, %s",
               names[f], cpus[c], values);
        }
    }
}

/* --- statistics ---------------------------------------------------------- */

/* Compares with the definition. */
static void test_stats(void)
{
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        struct aps_encode_stats stats = {0};
        struct aps_codec codec;
        uint64_t underflow = 0, nonfinite = 0;
        static float y[N];

        init(names[f], "plain", &codec);
        codec.encode_stats(&codec, x, N, unscaled, NULL, wire, &stats);
        codec.decode(&codec, wire, N, unscaled, 0, y);
        for (size_t i = 0; i < N; i++) {
            nonfinite += !isfinite(x[i]);
            underflow += isfinite(x[i]) && x[i] != 0 && y[i] == 0;
        }
        ok(stats.underflow == underflow && stats.nonfinite == nonfinite,
           "%s: %llu values underflow, %llu are not finite", names[f],
           (unsigned long long)underflow, (unsigned long long)nonfinite);
    }
}

static void test_overflow(void)
{
    static const struct {
        const char *name;
        float max; /* maximum of the block */
        uint64_t overflow;
    } table[] = {
        {"mx-e4m3fn", 1.75f, 0}, {"mx-e4m3fn", 1.8125f, 0},
        {"mx-e4m3fn", 1.82f, 1}, {"mx-e5m2", 1.99f, 1},
        {"mx-e2m1fn", 1.76f, 1}, {"mx-e2m1fn", 1.74f, 0},
        {"mx-int8", 1.995f, 1},  {"mx-int8", 1.984375f, 0},
        {"bfp3/64", 1.99f, 1},   {"bfp3/64", 1.75f, 0},
        {"flex8", 127.6f, 1},    {"flex8", -128.5f, 0},
        {"flex8", -128.6f, 1},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct aps_encode_stats stats = {0};
        const float block[3] = {0.5f, table[i].max, -0.25f};
        struct aps_codec codec;

        init(table[i].name, "plain", &codec);
        codec.encode_stats(&codec, block, 3, unscaled, NULL, wire, &stats);
        ok(stats.overflow == table[i].overflow, "%s: a maximum of %g%s",
           table[i].name, (double)table[i].max,
           table[i].overflow ? " is clipped" : "");
    }
}

int main(void)
{
    fill();
    test_vectors();
    test_marker();
    test_variants("special blocks");
    test_stats();
    test_overflow();
    fill_alike();
    test_variants("ordinary ones");
    return done_testing();
}
