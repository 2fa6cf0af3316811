/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "number/parse.h"
#include "scale/exponent.h"
#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

#define VALUES 4096

static struct aps_scale underflow_of(enum aps_underflow_model model, double min)
{
    return (struct aps_scale){APS_SCALE_UNDERFLOW,
                              {[APS_UNDERFLOW_MODEL] = model,
                               [APS_UNDERFLOW_GAMMA] = 1e-3,
                               [APS_UNDERFLOW_EVERY] = 100,
                               [APS_UNDERFLOW_MIN] = min}};
}

/* Returns the moments of n values of mean 0. */
static struct aps_scale_moments normal_moments(double sigma, double max)
{
    return (struct aps_scale_moments){
        .max = max, .n = 1000, .sum_squares = 1000 * sigma * sigma};
}

static struct aps_scale_moments log_normal_moments(double mu, double sigma,
                                                   double max)
{
    return (struct aps_scale_moments){.max = max,
                                      .n = 1000,
                                      .nonzero = 900,
                                      .sum_log = 900 * mu,
                                      .sum_log_squares =
                                          900 * (mu * mu + sigma * sigma)};
}

static int first_exponent(const struct aps_scale *scale, const char *format,
                          int ranks, const struct aps_scale_moments *moments)
{
    struct history history;
    bool over;
    int exponent;

    history_begin(&history, scale, format, ranks);
    exponent = history_call(&history, moments, moments->max, &over).exponent;
    history_end(&history);
    return exponent;
}

/* Numbers that were computed without this code. */
static void test_vectors(void)
{
    const struct aps_scale normal = underflow_of(APS_UNDERFLOW_NORMAL, 1);
    const struct aps_scale logs = underflow_of(APS_UNDERFLOW_LOG_NORMAL, 1);
    const struct aps_scale_moments moments = normal_moments(1e-5, 1e-3);
    const struct aps_scale_moments log_moments =
        log_normal_moments(log(1e-6), 2, 1e-3);
    const struct {
        const char *format;
        int normal, log_normal;
    } cases[] = {
        {"e5m10", 2, 4}, {"e5m2", 10, 12}, {"e4m3", 14, 14}, {"e3m0", 9, 9}};

    for (int i = 0; i < 4; i++) {
        ok(first_exponent(&normal, cases[i].format, 8, &moments) ==
               cases[i].normal,
           "underflow: a normal distribution in %s", cases[i].format);
        ok(first_exponent(&logs, cases[i].format, 8, &log_moments) ==
               cases[i].log_normal,
           "underflow: a log-normal distribution in %s", cases[i].format);
    }
}

/* The purpose of the scale: the share of values of that distribution that are
 * below the smallest one after scaling. The scale is a power of two, at most S,
 * so the share is up to twice gamma. */
static void test_share(void)
{
    struct aps_scale scale = underflow_of(APS_UNDERFLOW_NORMAL, 0);
    struct aps_scale_moments moments;
    struct aps_format format;
    static float x[VALUES * 64];
    int below = 0, exponent;

    scale.parameters[APS_UNDERFLOW_GAMMA] = 0.01;
    for (int i = 0; i < VALUES * 64; i++)
        x[i] = (float)(1e-5 * history_normal());
    moments = aps_scale_moments_of(x, VALUES * 64, APS_QUESTION_MOMENTS);
    exponent = first_exponent(&scale, "e5m10", 1, &moments);
    scales_parse(5, 10, &format);
    for (int i = 0; i < VALUES * 64; i++)
        below += fabs(ldexp((double)x[i], exponent)) <
                 aps_format_min_positive(&format);
    if (!ok(below > 0.0099 * VALUES * 64 && below < 0.0205 * VALUES * 64,
            "underflow: gamma is the share of values below the smallest one"))
        diag("%g", below / (VALUES * 64.0));
}

static void test_minimum(void)
{
    const struct aps_scale_moments great = normal_moments(1, 4);
    const struct aps_scale one = underflow_of(APS_UNDERFLOW_NORMAL, 1);
    const struct aps_scale none = underflow_of(APS_UNDERFLOW_NORMAL, 0);

    ok(first_exponent(&one, "e5m10", 8, &great) == 0,
       "underflow: min 1 scales down only to avoid an overflow");
    /* 2^-24 / 0.00125331 is 4.7558e-5 */
    ok(first_exponent(&none, "e5m10", 8, &great) == -15,
       "underflow: min 0 is the paper to the letter");
}

/* If the cap limits the exponent, it is that of APS, or one more: the cap ends
 * at the largest value, APS at the power of two below. */
static void check_cap(const char *name, double ratio)
{
    struct aps_scale scale = underflow_of(APS_UNDERFLOW_NORMAL, 0);
    struct aps_format format;
    bool same = true, more = false, equal = false;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("no format %s", name);
    for (int i = 0; i < 2000; i++) {
        const int ranks = 1 + (int)(scales_random() % 64);
        const double max = (double)(float)ldexp(
            1 + scales_random() * 0x1p-32, (int)(scales_random() % 60) - 30);
        const struct aps_scale_moments moments =
            normal_moments(ranks * max / ratio, max);
        const int difference =
            first_exponent(&scale, name, ranks, &moments) -
            aps_scale_aps(&format, aps_scale_max_exponent((float)max, ranks));

        same &= difference == 0 || difference == 1;
        equal |= difference == 0;
        more |= difference == 1;
    }
    ok(same, "underflow: %s has the exponent of APS, or one more", name);
    /* e3m0 ends at a power of two. */
    ok(equal && more == (format.max > ldexpf(1, format.upper)),
       "underflow: both occur in %s, where it does not end at 2^U", name);
}

static void test_schedule(void)
{
    const struct aps_scale scale = underflow_of(APS_UNDERFLOW_NORMAL, 1);
    struct aps_scale_moments moments = normal_moments(1e-5, 1e-3);
    const struct aps_scale_moments zeros = {.n = 1000};
    const struct aps_scale_moments same = {
        .max = 3, .n = 10, .sum = 30, .sum_squares = 90};
    /* APS: 15 - ceil(log2(8 * 3)) */
    const int aps = 10;
    struct history history;
    bool over, kept = true;
    int asked = 0;

    history_begin(&history, &scale, "e5m2", 8);
    ok(history_call(&history, &zeros, 0, &over).exponent == 0 &&
           aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "underflow: after zeros the next call tries again");
    ok(history_call(&history, &same, 0, &over).exponent == aps &&
           aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "underflow: so it does after values without a deviation, whose scale is "
       "that of aps");
    for (int i = 0; i < 250; i++) {
        asked +=
            aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS;
        kept &= history_call(&history, &moments, 0, &over).exponent == 10;
    }
    ok(asked == 3 && kept, "underflow: asked at calls 0, 100 and 200");
    history_update(&history, 1e10, 0, true);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "underflow: and after an overflow");
    (void)history_call(&history, &moments, 0, &over);
    moments = normal_moments(1, 100);
    ok(history_call(&history, &moments, 100, &over).exponent == 10,
       "underflow: the exponent stays until the next time");
    history_end(&history);
}

/* Equal values, small or large: none becomes 0 or overflows. */
static void test_alike(enum aps_underflow_model model, const char *name,
                       double x)
{
    const struct aps_scale scale = underflow_of(model, 1);
    const struct aps_scale_moments moments = {.max = x,
                                              .n = 16,
                                              .sum = 16 * x,
                                              .sum_squares = 16 * x * x,
                                              .nonzero = 16,
                                              .sum_log = 16 * log(x),
                                              .sum_log_squares =
                                                  16 * log(x) * log(x)};
    struct aps_format format;
    double scaled;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("no format %s", name);
    scaled = ldexp(x, first_exponent(&scale, name, 8, &moments));
    ok(scaled >= aps_format_min_positive(&format) &&
           8 * scaled <= (double)format.max,
       "underflow: 16 values of %g arrive as others than 0 in %s", x, name);
}

int main(void)
{
    const struct aps_scale normal = underflow_of(APS_UNDERFLOW_NORMAL, 1);
    const struct aps_scale logs = underflow_of(APS_UNDERFLOW_LOG_NORMAL, 1);

    is(aps_scale_name(&normal), "underflow", "the name");
    ok(aps_scale_scope(&normal) == APS_SCOPE_LAYER,
       "underflow: a layer's distribution");
    ok(aps_scale_question(&logs, &(char[256]){0}) == APS_QUESTION_LOGARITHMS,
       "underflow: logarithms are asked for where the model needs them");
    history_check(&normal);
    history_check(&logs);
    test_vectors();
    test_share();
    test_minimum();
    check_cap("e3m2", 1);
    check_cap("e3m0", 1);
    check_cap("e4m3", 155);
    test_schedule();
    test_alike(APS_UNDERFLOW_NORMAL, "e4m3", 0x1p-30);
    test_alike(APS_UNDERFLOW_NORMAL, "flex8", 0x1p-30);
    test_alike(APS_UNDERFLOW_NORMAL, "e4m3", 0x1p20);
    test_alike(APS_UNDERFLOW_LOG_NORMAL, "e4m3", 0x1p-30);
    return done_testing();
}
