/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/tap/tap.h"

static const int ranks[] = {
    1,   2,       3,       7,       8,       255,         256,
    257, 1000000, 1 << 24, 1 << 30, INT_MAX, INT_MAX - 1, (1 << 29) + 1};

#define RANKS (sizeof ranks / sizeof *ranks)

static uint64_t random_state = 0x9E3779B97F4A7C15;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

/* A positive finite float, all exponents alike. */
static float random_float(void)
{
    uint32_t bits;
    float x;

    do {
        bits = next_random() & 0x7fffffff;
    } while (bits == 0 || bits >= 0x7f800000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ceil(log2(n x)) in integers: x = m 2^e, the smallest k with 2^k >= m n. */
static int oracle(float x, int n)
{
    uint32_t bits;
    uint64_t product;
    int e, k = 0;

    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 23);
    product = bits & 0x7fffff;
    if (e > 0)
        product += 0x800000;
    else
        e = 1;
    product *= (uint64_t)n;
    while ((UINT64_C(1) << k) < product)
        k++;
    return k + e - 150;
}

static long mismatches(float x)
{
    long bad = 0;

    for (size_t i = 0; i < RANKS; i++) {
        int got = aps_scale_max_exponent(x, ranks[i]);

        if (got != oracle(x, ranks[i])) {
            diag("%a * %d: got %d, expected %d", (double)x, ranks[i], got,
                 oracle(x, ranks[i]));
            bad++;
        }
    }
    return bad;
}

static void test_max_exponent(void)
{
    static const struct {
        float max;
        int ranks;
        int exponent;
    } cases[] = {
        {0, 1, APS_EXPONENT_ZERO},
        {0, 1000, APS_EXPONENT_ZERO},
        {1, 1, 0},
        {1, 2, 1},
        {1, 3, 2},
        {1, 8, 3},
        {1, 9, 4},
        {0x1.000002p0f, 1, 1},
        {0x1.fffffep-1f, 1, 0},
        {0x1.fffffep-1f, 2, 1},
        {0.75f, 4, 2},
        {1.5f, 1, 1},
        {1.f / 3, 3, 1}, /* rounded up: 3 x is just above 1 */
        {0x1p-149f, 1, -149},
        {0x3p-149f, 1, -147},
        {FLT_MIN, 1, -126},
        {FLT_MAX, 1, 128},
        {FLT_MAX, 2, 129},
        {FLT_MAX, 1000000, 148},
    };
    long bad = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int got = aps_scale_max_exponent(cases[i].max, cases[i].ranks);

        ok(got == cases[i].exponent, "max exponent of %a by %d ranks: %d",
           (double)cases[i].max, cases[i].ranks, got);
    }
    for (int e = -149; e <= 127; e++) {
        float x = ldexpf(1, e);

        bad += mismatches(x) + mismatches(nextafterf(x, INFINITY));
        if (e > -149)
            bad += mismatches(nextafterf(x, 0));
    }
    ok(bad == 0, "max exponent: powers of two and their neighbours");
    bad = mismatches(FLT_MAX);
    for (int i = 0; i < 200000; i++)
        bad += mismatches(random_float());
    ok(bad == 0, "max exponent: FLT_MAX and random values");
    bad = 0;
    for (int n = 1; n <= 4096; n++) {
        float x = random_float();

        bad += aps_scale_max_exponent(x, n) != oracle(x, n);
        x = 1 / (float)n;
        bad += aps_scale_max_exponent(x, n) != oracle(x, n);
    }
    ok(bad == 0, "max exponent: every number of ranks to 4096");
}

static void parse(int exponent_bits, int mantissa_bits,
                  struct aps_format *format)
{
    char name[16];

    snprintf(name, sizeof name, "e%dm%d", exponent_bits, mantissa_bits);
    if (aps_format_parse(name, format, NULL) < 0)
        bail_out("%s is no format", name);
}

static void test_aps(void)
{
    struct aps_format format;
    bool right = true, fits = true;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            const int upper = (1 << (e - 1)) - 1;

            parse(e, m, &format);
            right &= aps_scale_aps(&format, APS_EXPONENT_ZERO) == 0;
            for (int x = -149; x <= 160; x++)
                right &= aps_scale_aps(&format, x) == upper - x;
            /* What it is for: the scaled sum stays within 2^U. */
            for (int i = 0; i < 200; i++) {
                float max = random_float();
                int n = ranks[next_random() % 9];
                int f = aps_scale_aps(&format, aps_scale_max_exponent(max, n));

                fits &= ldexp((double)max, f) * n <= ldexp(1, upper) &&
                        ldexp((double)max, f) * n > ldexp(1, upper - 1);
            }
        }
    }
    ok(right, "aps: U - x in all 192 formats, 0 for a layer of zeros");
    ok(fits, "aps: ranks * max * 2^f lies in (2^(U-1), 2^U]");
}

static bool is_tight(const struct aps_format *format, float max)
{
    const double largest = (double)aps_format_max(format);
    const int f = aps_scale_aps_tight(format, max);

    if (largest == 0)
        return f == 0;
    if (ldexp((double)max, f) <= largest && largest < ldexp((double)max, f + 1))
        return true;
    diag("%s, max %a: f = %d", format->name, (double)max, f);
    return false;
}

static void test_aps_tight(void)
{
    struct aps_format format;
    bool tight = true;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            float largest;

            parse(e, m, &format);
            largest = aps_format_max(&format);
            tight &= aps_scale_aps_tight(&format, 0) == 0;
            tight &= is_tight(&format, FLT_MAX);
            tight &= is_tight(&format, FLT_MIN);
            tight &= is_tight(&format, 0x1p-149f);
            for (int k = -149; k <= 127; k++)
                tight &= is_tight(&format, ldexpf(1, k)) &&
                         is_tight(&format, ldexpf(0x1.8p0f, k));
            if (largest > 0) {
                tight &= aps_scale_aps_tight(&format, largest) == 0;
                tight &= is_tight(&format, nextafterf(largest, 0));
                if (largest < FLT_MAX)
                    tight &= is_tight(&format, nextafterf(largest, INFINITY));
            }
            for (int i = 0; i < 2000; i++)
                tight &= is_tight(&format, random_float());
        }
    }
    ok(tight, "tight: max 2^f <= maxfinite < max 2^(f+1) in all 192 formats");
    parse(1, 0, &format);
    ok(aps_scale_aps_tight(&format, 1) == 0, "tight: e1m0 has nothing but 0");
    parse(4, 3, &format);
    ok(aps_scale_aps_tight(&format, 1) == 7 &&
           aps_scale_aps_tight(&format, 240) == 0 &&
           aps_scale_aps_tight(&format, 241) == -1 &&
           aps_scale_aps_tight(&format, 1.875f) == 7 &&
           aps_scale_aps_tight(&format, 1.876f) == 6,
       "tight: e4m3 ends at 240");
}

int main(void)
{
    test_max_exponent();
    test_aps();
    test_aps_tight();
    return done_testing();
}
