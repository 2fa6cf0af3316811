/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "number/parse.h"
#include "scale/exponent.h"
#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

static const int ranks[] = {
    1,   2,       3,       7,       8,       255,         256,
    257, 1000000, 1 << 24, 1 << 30, INT_MAX, INT_MAX - 1, (1 << 29) + 1};

#define RANKS (sizeof ranks / sizeof *ranks)

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
        bad += mismatches(scales_random_float());
    ok(bad == 0, "max exponent: FLT_MAX and random values");
    bad = 0;
    for (int n = 1; n <= 4096; n++) {
        float x = scales_random_float();

        bad += aps_scale_max_exponent(x, n) != oracle(x, n);
        x = 1 / (float)n;
        bad += aps_scale_max_exponent(x, n) != oracle(x, n);
    }
    ok(bad == 0, "max exponent: every number of ranks to 4096");
}

static void test_aps(void)
{
    struct aps_format format;
    bool right = true, fits = true;

    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            const int upper = (1 << (e - 1)) - 1;

            scales_parse(e, m, &format);
            right &= aps_scale_aps(&format, APS_EXPONENT_ZERO) == 0;
            for (int x = -149; x <= 160; x++)
                right &= aps_scale_aps(&format, x) == upper - x;
            /* The purpose of the scale: the scaled sum stays within 2^U. */
            for (int i = 0; i < 200; i++) {
                float max = scales_random_float();
                int n = ranks[scales_random() % 9];
                int f = aps_scale_aps(&format, aps_scale_max_exponent(max, n));

                fits &= ldexp((double)max, f) * n <= ldexp(1, upper) &&
                        ldexp((double)max, f) * n > ldexp(1, upper - 1);
            }
        }
    }
    for (int x = -149; x <= 160; x++) {
        struct aps_format flex16, flex8, bfp;

        if (aps_format_parse("flex16", &flex16, NULL) < 0 ||
            aps_format_parse("flex8", &flex8, NULL) < 0 ||
            aps_format_parse("bfp7/64", &bfp, NULL) < 0)
            bail_out("flex16, flex8 or bfp7/64 is not a format");
        right &= aps_scale_aps(&flex16, x) == 14 - x &&
                 aps_scale_aps(&flex8, x) == 6 - x &&
                 aps_scale_aps(&bfp, x) == 0;
    }
    ok(right, "aps: U - x in all 192 formats, 0 for a layer of zeros");
    ok(fits, "aps: ranks * max * 2^f lies in (2^(U-1), 2^U]");
}

/* The scale of a plan gives the formula's numbers. */
static void test_ops(void)
{
    const struct aps_scale aps = {.kind = APS_SCALE_APS};
    const struct aps_scale_ops *ops = aps_scale_ops_of(&aps);
    const struct aps_magnitude great = {0x1p30f, true};
    const struct aps_scaling scaling = aps_scale_scaling(&aps, -12);
    struct aps_format format;
    char text[32];
    bool same = true;

    scales_parse(5, 2, &format);
    is(aps_scale_name(&aps), "aps", "the name");
    ok(ops->agreed && !ops->per_block,
       "aps: a stage agrees on one exponent, and blocks are not measured");
    same &= aps_scale_stage_exponent(&aps, &format, APS_EXPONENT_ZERO) == 0;
    for (int x = -149; x <= 160; x++)
        same &= aps_scale_stage_exponent(&aps, &format, x) == 15 - x;
    ok(same, "aps: the stage's exponent is U - x");
    ok(aps_scale_block_exponent(&aps, &format, great, -12) == -12,
       "aps: blocks have the stage's exponent");
    ok(scaling.exponent == -12 && scaling.factor == 1 &&
           aps_scale_value(&aps, -12) == 0x1p-12,
       "aps: values are multiplied by 2^exponent");
    is(aps_scale_describe(&aps, text, sizeof text), "aps", "aps: the text");
}

int main(void)
{
    test_max_exponent();
    test_aps();
    test_ops();
    return done_testing();
}
