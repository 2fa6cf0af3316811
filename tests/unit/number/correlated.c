/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Correlated rounding: the bits are those of aps.h, every rank by itself is unbiased,
 * and together their error is less than with independent bits, never more.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "unit/common/formats.h"
#include "number/draw.h"
#include "number/format.h"
#include "tap/tap.h"
#include "unit/number/correlated_error.h"
#include "unit/common/wire.h"

static struct aps_draw draw_of(uint64_t seed, uint32_t stage, uint32_t rank,
                               uint32_t layer, uint32_t step, uint64_t ranks)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;

    options.rounding = APS_ROUND_CORRELATED;
    options.seed = seed;
    options.stage = stage;
    options.rank = rank;
    options.layer = layer;
    options.step = step;
    options.ranks = ranks;
    return aps_draw_init(&options);
}

/* Known answers, computed by another program from the formulas in aps.h. */
static void test_known(void)
{
    static const struct {
        uint64_t seed;
        uint32_t stage, rank, layer, step;
        uint64_t element, ranks;
        uint32_t random;
    } known[] = {
        {0, 0, 0, 0, 0, 0, 0, 0xf1b644d8},
        {0, 0, 0, 0, 0, 0, 1, 0xf1b644d8},
        {0, 0, 0, 0, 0, 0, 4, 0x3c6d9136},
        {0, 0, 0, 0, 0, 1, 4, 0x7e37048c},
        {0, 0, 0, 0, 0, 2, 4, 0x304bb21e},
        {0, 0, 0, 0, 0, 3, 4, 0x98c91904},
        {0, 0, 3, 0, 0, 0, 4, 0x58ada692},
        {0, 0, 3, 0, 0, 1, 4, 0x9a63f53a},
        {0, 0, 3, 0, 0, 2, 4, 0x427ba903},
        {0, 0, 3, 0, 0, 3, 4, 0xf0f79acf},
        {1, 0, 0, 0, 0, 0, 2, 0xf7173877},
        {1, 0, 1, 0, 0, 0, 2, 0x36c8aa77},
        {42, 3, 6, 7, 9, 1000000000001, 7, 0x4781a9ee},
        {0x299f31d0a4093822, 2, 999, 0x13198a2e, 0x03707344, 0x168c234c90fdaa22,
         1000, 0xe81dd110},
        {UINT64_MAX, UINT32_MAX, 0, UINT32_MAX, UINT32_MAX, UINT64_MAX, 3,
         0x10899152},
        {5, 1, 65536, 2, 3, 77, 65537, 0xc935f64e},
        {5, 1, 200000, 2, 3, 78, 262144, 0xebc41864},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct aps_draw draw =
            draw_of(known[i].seed, known[i].stage, known[i].rank,
                    known[i].layer, known[i].step, known[i].ranks);

        ok(aps_draw_element(&draw, known[i].element) == known[i].random,
           "known answer %zu", i);
    }
}

/* The floating-point quotient is the integer one, next to every boundary. */
static void test_quotient(void)
{
    static const uint32_t counts[] = {2,   3,     4,     7,      10,    16,
                                      641, 65535, 65537, 262143, 262144};
    bool pass = true;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct aps_draw draw = {.share = 1.0 / counts[c]};

        for (int i = 0; i < 200000; i++) {
            uint64_t quotient = random_bits();
            uint64_t exact = quotient * counts[c] + random_bits() % 3 - 1;
            uint32_t result;

            if (exact >> 32 >= counts[c])
                continue;
            result = aps_draw_within(&draw, (uint32_t)(exact >> 32),
                                     (uint32_t)exact);
            pass = pass && result == (uint32_t)(exact / counts[c]);
        }
    }
    ok(pass, "the quotient is exact");
}

/* Each part of the 32-bit numbers has one rank's bits, in every element. */
static void test_parts(void)
{
    static const uint32_t counts[] = {2, 3, 5, 8, 16, 100};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const uint32_t n = counts[c];
        bool pass = true;

        for (uint32_t step = 0; step < 50; step++) {
            int in_part[7][100] = {{0}};

            for (uint32_t r = 0; r < n; r++) {
                struct aps_draw draw = draw_of(1, 2, r, 3, step, n);

                for (uint64_t i = 0; i < 7; i++)
                    in_part[i]
                           [(uint64_t)aps_draw_element(&draw, i) * n >> 32]++;
            }
            for (int i = 0; i < 7; i++) {
                for (uint32_t part = 0; part < n; part++)
                    pass = pass && in_part[i][part] == 1;
            }
        }
        ok(pass, "%u ranks draw from %u parts", n, n);
    }
}

/* Two ranks' parts are all pairs of different ones, equally often: chi-squared
 * of 5 * 4 pairs is 19 +- 6.2; 50 has a probability of 10^-4. */
static void test_pairs(void)
{
    enum { RANKS = 5, DRAWS = 20000 };

    for (uint32_t other = 1; other < RANKS; other++) {
        const double expected = (double)DRAWS / (RANKS * (RANKS - 1));
        int count[RANKS][RANKS] = {{0}};
        double squares = 0;

        for (uint32_t step = 0; step < DRAWS; step++) {
            struct aps_draw a = draw_of(2, 0, 0, 0, step, RANKS);
            struct aps_draw b = draw_of(2, 0, other, 0, step, RANKS);
            uint64_t i = (uint64_t)aps_draw_element(&a, 9) * RANKS >> 32;
            uint64_t j = (uint64_t)aps_draw_element(&b, 9) * RANKS >> 32;

            count[i][j]++;
        }
        for (int i = 0; i < RANKS; i++) {
            for (int j = 0; j < RANKS; j++)
                squares += i == j ? 0
                                  : (count[i][j] - expected) *
                                        (count[i][j] - expected) / expected;
        }
        ok(squares < 50, "pairs of parts of ranks 0 and %u: chi-squared %.1f",
           other, squares);
    }
}

/* Returns how often x is rounded to `value`, of 10^5. */
static int count_of(const struct aps_format *f, struct aps_cast_options options,
                    float x, float value)
{
    static float in[1000], out[1000];
    int count = 0;

    for (int i = 0; i < 1000; i++)
        in[i] = x;
    for (options.step = 0; options.step < 100; options.step++) {
        aps_cast_array(f, in, 1000, &options, out, NULL);
        for (int j = 0; j < 1000; j++)
            count += aps_float_bits(out[j]) == aps_float_bits(value);
    }
    return count;
}

static void test_unbiased(void)
{
    static const struct {
        const char *format;
        float low, high;
    } pairs[] = {
        {"e4m3", 1, 1.125f}, {"e5m2", -0x1p-16f, -0x2p-16f}, {"e3m0", 2, 4}};
    static const uint32_t counts[] = {2, 3, 8};

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (uint32_t rank = 0; rank < counts[c]; rank++) {
            const float low = pairs[rank % 3].low, high = pairs[rank % 3].high;
            const struct aps_format *f =
                aps_format_get(pairs[rank % 3].format, NULL);
            struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
            bool pass = true;

            options.rounding = APS_ROUND_CORRELATED;
            options.seed = 6;
            options.rank = rank;
            options.ranks = counts[c];
            for (int k = 0; k <= 8; k++) {
                double p = k / 8.0;
                float x = (float)((double)low + (double)(high - low) * p);
                int ups = count_of(f, options, x, high);

                pass = pass &&
                       fabs(ups - p * 100000) <= 4 * sqrt(100000 * p * (1 - p));
            }
            ok(pass, "rank %u of %u is unbiased", rank, counts[c]);
        }
    }
}

/* True if a is below b, within four standard deviations. */
static bool below(struct correlated_error a, double b, double deviation)
{
    return a.mean <= b + 4 * hypot(a.deviation, deviation);
}

static void test_errors(void)
{
    for (int v = 0; v < CORRELATED_VALUES; v++) {
        const struct correlated_values *values = &correlated_values[v];
        struct correlated_error before[2] = {{0, 0}, {0, 0}};

        for (int n = 2; n <= 16; n *= 2) {
            struct correlated_error s =
                correlated_error_of(APS_ROUND_STOCHASTIC, n, values);
            struct correlated_error c =
                correlated_error_of(APS_ROUND_CORRELATED, n, values);

            ok(below(c, s.mean, s.deviation),
               "%d ranks, %s: %.3f squared steps, and %.3f if independent", n,
               values->name, c.mean, s.mean);
            if (values->spread == 0 && values->rounded == 0 && !values->opposed)
                ok(below(c, s.mean / n, s.deviation / n),
                   "... an N-th of the independent one");
            if (values->spread <= 0.0625 && values->rounded == 0 &&
                !values->opposed && n > 2)
                ok(c.mean / before[0].mean < 0.75 * s.mean / before[1].mean,
                   "... relative to the sum it falls faster than 1/N");
            before[0] = c;
            before[1] = s;
        }
    }
}

int main(void)
{
    test_known();
    test_quotient();
    test_parts();
    test_pairs();
    test_unbiased();
    test_errors();
    return done_testing();
}
