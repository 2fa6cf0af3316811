/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formats of levels and of signs: vectors, special blocks, and random
 * values are right on average. tests/e2e/t-blocks.sh has an independent reader.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "aps.h"
#include "number/bits.h"
#include "tap/tap.h"

#define N 8
#define DRAWS 10000

static const struct aps_format *format_of(const char *name)
{
    const struct aps_format *format = aps_format_get(name, NULL);

    if (!format)
        bail_out("%s is no format", name);
    return format;
}

/* Codes k of value = w * k / S, where w is a power of two or all values are exact. */
static void test_vectors(void)
{
    static const float given[N] = {2, -1, 0.25f, -0.125f, 0, -0.f, 0.3f, -2};
    static const struct {
        const char *name;
        float w;
        uint8_t bytes[N];
        size_t count;
    } table[] = {
        /* 0.25 * 7 / 2 = 0.875 rounds to 1, 0.3 * 3.5 = 1.05 to 1, -0 keeps its sign */
        {"int4/8", 2, {0xc7, 0x81, 0x80, 0xf1}, 4},
        {"int2/8", 2, {0x89, 0xc8}, 2},
        {"int8/8", 2, {127, 0x80 | 64, 16, 0x80 | 8, 0, 0x80, 19, 0xff}, 8},
        {"sign/8", 5.675f / 8, {0x8a}, 1},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t wire[4 + N] = {0};
        float w;

        aps_encode_array(format_of(table[i].name), given, N, NULL, wire, NULL);
        memcpy(&w, wire, sizeof w);
        ok(w == table[i].w &&
               memcmp(wire + 4, table[i].bytes, table[i].count) == 0,
           "%s: the vector", table[i].name);
        if (!(w == table[i].w))
            diag("scale %a", (double)w);
        for (size_t k = 0; k < table[i].count; k++)
            if (wire[4 + k] != table[i].bytes[k])
                diag("byte %zu is %#x", k, wire[4 + k]);
    }
}

static void test_signs(void)
{
    static const float given[4] = {3, -1, 0, -0.f};
    float y[4];

    aps_cast_array(format_of("sign/64"), given, 4, NULL, y, NULL);
    ok(y[0] == 1 && y[1] == -1 && y[2] == 1 && y[3] == 1,
       "sign: the mean magnitude of a short block; zero counts as +");
}

/* If S + 1 is a power of two, the greatest value is exact, at any magnitude;
 * zeros are zeros; INF makes NaN of its block alone. */
static void test_special(void)
{
    static const char *const names[] = {"int2/64", "int4/64", "int8/64",
                                        "int16/64"};
    static const float tops[] = {
        0x1p-149f,      0x1.8p-140f, 0x1p-126f,   0x1.333334p-100f, 1,
        0x1.fffffep63f, 0x1p64f,     0x1.23p100f, 0x1.fffffep127f,  0x1p-64f};
    bool right = true;
    float x[128], y[128];

    for (size_t f = 0; f < sizeof names / sizeof *names; f++)
        for (size_t t = 0; t < sizeof tops / sizeof *tops; t++) {
            for (int i = 0; i < 64; i++)
                x[i] = i == 5 ? -tops[t] : tops[t] * ((float)i / 64);
            aps_cast_array(format_of(names[f]), x, 64, NULL, y, NULL);
            right &= y[5] == -tops[t];
            if (y[5] != -tops[t])
                diag("%s: %a of %a", names[f], (double)y[5], (double)-tops[t]);
            for (int i = 0; i < 64; i++)
                right &= fabsf(y[i]) <= tops[t];
        }
    ok(right, "int: the greatest value of a block comes back");
    memset(x, 0, sizeof x);
    x[3] = -0.f;
    x[70] = -INFINITY;
    right = true;
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        aps_cast_array(format_of(names[f]), x, 128, NULL, y, NULL);
        for (int i = 0; i < 128; i++)
            right &= i < 64 ? aps_float_bits(y[i]) == 0 : isnan(y[i]);
    }
    ok(right, "... zeros are zeros, and INF makes its block NaN");
}

/* --- averages ------------------------------------------------------------- */

/* The mean of the random values is the value, and so is the mean of their sum,
 * which its owner rounds again. The limit is four standard errors. */
static void test_unbiased(const char *name, double step)
{
    static const float x[N] = {1,     -0.75f,   0.3f,    0x1p-6f,
                               -0.5f, 0x1p-10f, 0.9999f, -0.001f};
    const struct aps_format *format = format_of(name);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    double sum[N] = {0};
    bool right = true;

    options.rounding = APS_ROUND_STOCHASTIC;
    options.seed = 16;
    for (int draw = 0; draw < DRAWS; draw++) {
        float y[N];

        options.step = (uint32_t)draw;
        aps_cast_array(format, x, N, &options, y, NULL);
        for (int i = 0; i < N; i++)
            sum[i] += (double)y[i];
    }
    for (int i = 0; i < N; i++) {
        const double part = fabs((double)x[i]) / step;
        const double p = part - floor(part);
        const double sigma = step * sqrt(p * (1 - p) / DRAWS);
        const double off = sum[i] / DRAWS - (double)x[i];

        if (fabs(off) > 4 * sigma + 1e-6) {
            right = false;
            diag("value %d: mean %g, %g sigma", i, sum[i] / DRAWS, off / sigma);
        }
    }
    ok(right, "%s: unbiased, %d draws", name, DRAWS);
}

static double norm2(void)
{
    return sqrt(1 + 0.75 * 0.75 + 0.3 * 0.3 + 0x1p-12 + 0.25 + 0x1p-20 +
                0.9999 * 0.9999 + 1e-6);
}

/* Ranks draw independent values. */
static void test_ranks(void)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    float x[512], y[512], z[512];
    int differ = 0;

    for (int i = 0; i < 512; i++)
        x[i] = i == 0 ? 1 : 0.5f;
    options.rounding = APS_ROUND_STOCHASTIC;
    aps_cast_array(format_of("qsgd1/512"), x, 512, &options, y, NULL);
    options.rank = 1;
    aps_cast_array(format_of("qsgd1/512"), x, 512, &options, z, NULL);
    for (int i = 0; i < 512; i++)
        differ += y[i] != z[i];
    ok(differ > 200 && differ < 312 && y[0] == 1 && z[0] == 1,
       "qsgd: two ranks draw apart: %d of 511 differ", differ);
}

int main(void)
{
    test_vectors();
    test_signs();
    test_special();
    test_unbiased("qsgd1/128", 1);
    test_unbiased("qsgd7/512", 1. / 7);
    test_unbiased("qsgd127/512", 1. / 127);
    test_unbiased("qsgd1/128-l2", norm2());
    test_unbiased("qsgd7/512-l2", norm2() / 7);
    test_ranks();
    return done_testing();
}
