/* SPDX-License-Identifier: BSD-3-Clause */
/* Magnitudes that overflow, compared with the codec's count. */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "number/parse.h"
#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

#define NEAR 3000 /* floats on each side of a limit */

struct limits {
    struct aps_codec codec;
    enum aps_rounding rounding;
    uint64_t draws; /* number of the next random bits */
    bool same;
};

/* Returns the codec's number of overflows for that value. */
static uint64_t count_of(struct limits *limits, float x, int exponent)
{
    const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_encode_stats stats = {0};
    uint8_t wire[64];

    options.rounding = limits->rounding;
    options.offset = limits->draws++;
    limits->codec.encode_stats(&limits->codec, &x, 1, scaling, &options, wire,
                               &stats);
    return stats.overflow;
}

/* Tests a magnitude for which x * 2^exponent is `value`, or next to it. */
static void check_one(struct limits *limits, float x, int exponent)
{
    const bool overflows = aps_scale_overflows(&limits->codec.format, x,
                                               exponent, limits->rounding);
    const uint64_t counted = count_of(limits, x, exponent);
    const bool same = limits->rounding == APS_ROUND_STOCHASTIC ||
                              limits->rounding == APS_ROUND_CORRELATED
                          ? overflows || counted == 0
                          : overflows == (counted > 0);

    if (!same && limits->same)
        diag("%s: %a * 2^%d: %d, counted %d", limits->codec.format.name,
             (double)x, exponent, overflows, (int)counted);
    limits->same &= same;
}

static void check_near(struct limits *limits, double value, int exponent)
{
    const double x = ldexp(value, -exponent);
    float below, above;

    if (!(x > 0) || x > (double)__FLT_MAX__)
        return;
    below = above = (float)x;
    for (int i = 0; i < NEAR && isfinite(above); i++) {
        check_one(limits, below, exponent);
        check_one(limits, above, exponent);
        below = fmaxf(nextafterf(below, 0), 0x1p-149f);
        above = nextafterf(above, INFINITY);
    }
}

/* The values at which the result may change: the largest one, half a step and a
 * step above it. The format's rounding shows the step. */
static void check_format(const char *name, enum aps_rounding rounding)
{
    static const char *const roundings[] = {
        [APS_ROUND_NEAREST] = "nearest",
        [APS_ROUND_STOCHASTIC] = "stochastic",
        [APS_ROUND_TOWARD_ZERO] = "toward zero",
        [APS_ROUND_CPD] = "as CPD",
        [APS_ROUND_CORRELATED] = "correlated"};
    static const int exponents[] = {0, 1, -1, 20, -20, 100, -110};
    struct limits limits = {.rounding = rounding, .same = true};
    struct aps_format format;
    double largest, step;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("%s is no format", name);
    aps_codec_init(&format, &limits.codec);
    largest = (double)aps_format_max(&format);
    step = largest - (double)aps_cast(&format, nextafterf((float)largest, 0));
    for (double part = 0x1p-26; step <= 0 && part < 1; part *= 2)
        step = largest -
               (double)aps_cast(&format, (float)(largest - part * largest));
    if (step <= 0)
        step = 2; /* e1m0 */
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        check_near(&limits, largest, exponents[i]);
        check_near(&limits, largest + step / 2, exponents[i]);
        check_near(&limits, largest + step, exponents[i]);
    }
    for (int i = 0; i < 20000; i++)
        check_one(&limits, scales_random_float(), exponents[i % 7]);
    ok(limits.same, "%s, %s: what overflows is what the codec counts", name,
       roundings[rounding]);
}

/* Above the largest value random bits decide: some values overflow and some do not. */
static void test_draws(void)
{
    struct limits limits = {.rounding = APS_ROUND_STOCHASTIC};
    struct aps_format format;
    uint64_t counted = 0;

    scales_parse(4, 3, &format);
    aps_codec_init(&format, &limits.codec);
    for (int i = 0; i < 1000; i++)
        counted += count_of(&limits, 248, 0);
    ok(counted > 400 && counted < 600 &&
           aps_scale_overflows(&format, 248, 0, APS_ROUND_STOCHASTIC),
       "stochastic: what may overflow counts as an overflow");
    ok(!aps_scale_overflows(&format, 247, 0, APS_ROUND_NEAREST) &&
           aps_scale_overflows(&format, 248, 0, APS_ROUND_NEAREST) &&
           !aps_scale_overflows(&format, 255, 0, APS_ROUND_TOWARD_ZERO) &&
           aps_scale_overflows(&format, 256, 0, APS_ROUND_TOWARD_ZERO) &&
           !aps_scale_overflows(&format, 240, 0, APS_ROUND_STOCHASTIC) &&
           aps_scale_overflows(&format, 240.001f, 0, APS_ROUND_STOCHASTIC),
       "e4m3: the limits of each rounding");
}

static void test_integers(void)
{
    struct aps_format flex;

    if (aps_format_parse("flex16", &flex, NULL) < 0)
        bail_out("no format flex16");
    ok(!aps_scale_overflows(&flex, 32767.4f, 0, APS_ROUND_NEAREST) &&
           aps_scale_overflows(&flex, 32767.5f, 0, APS_ROUND_NEAREST) &&
           !aps_scale_overflows(&flex, 32767, 0, APS_ROUND_STOCHASTIC) &&
           aps_scale_overflows(&flex, 32767.01f, 0, APS_ROUND_STOCHASTIC) &&
           !aps_scale_overflows(&flex, 1, 14, APS_ROUND_NEAREST) &&
           aps_scale_overflows(&flex, 1, 15, APS_ROUND_NEAREST),
       "flex16: the largest integer is 32767");
}

int main(void)
{
    static const char *const names[] = {
        "e5m10",  "e5m2",   "e4m3",       "e3m2",   "e3m0",     "e8m7", "e8m23",
        "e4m3fn", "e3m2fn", "e2m3fn",     "e2m1fn", "e4m3-sat", "e8m0", "e1m4",
        "e1m0",   "e2m23",  "e4m3fn-sat", "flex16", "flex8"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_format(names[i], APS_ROUND_NEAREST);
        check_format(names[i], APS_ROUND_STOCHASTIC);
        check_format(names[i], APS_ROUND_CORRELATED);
        check_format(names[i], APS_ROUND_TOWARD_ZERO);
        if (!strchr(names[i], 'f') && !strchr(names[i], '-') &&
            names[i][1] != '1')
            check_format(names[i], APS_ROUND_CPD);
    }
    test_draws();
    test_integers();
    return done_testing();
}
