/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

/* The reference's parameters, with another max. */
static struct aps_scale logmax_to(double max)
{
    return (struct aps_scale){APS_SCALE_LOGMAX,
                              {[APS_LOGMAX_DEVIATIONS] = 3.09,
                               [APS_LOGMAX_MAX] = max,
                               [APS_LOGMAX_MIN] = 1,
                               [APS_LOGMAX_BETA1] = 0.99,
                               [APS_LOGMAX_BETA2] = 0.999}};
}

/* Numbers that were computed without this code. */
static void test_vector(const char *format, double max, const int *wanted)
{
    static const int logs[] = {-6, -5, -7, -3, 2};
    const struct aps_scale scale = logmax_to(max);
    struct history history;
    bool same = true;

    history_begin(&history, &scale, format, 1);
    for (int i = 0; i < 5; i++) {
        history_update(&history, ldexp(1, logs[i]), 0, false);
        if (i > 0 && history_predict(&history).exponent != wanted[i]) {
            diag("after %d values: %d, not %d", i + 1,
                 history_predict(&history).exponent, wanted[i]);
            same = false;
        }
    }
    ok(same, "logmax: the exponents of maxima 2^-6, 2^-5, 2^-7, 2^-3, 4 in %s",
       format);
    history_end(&history);
}

static void test_first_calls(void)
{
    const struct aps_scale scale = logmax_to(0x1p14);
    const struct aps_scale_moments max = {.max = 0.75};
    struct history history;
    bool over;

    history_begin(&history, &scale, "e4m3", 8);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MAX,
       "logmax: the first call asks for the maximum");
    /* U = 7, and 8 * 0.75 is at most 2^3 */
    ok(history_call(&history, &max, 5, &over).exponent == 7 - 3 && !over,
       "logmax: the first call has the exponent of APS");
    history_update(&history, 0, 0, false);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MAX,
       "logmax: zeros do not count");
    (void)history_call(&history, &max, 5, &over);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE,
       "logmax: after two maxima there is no message before the data");
    history_end(&history);
}

/* Returns how often log-normal maxima overflow. */
static double overflow_rate(double sigma, const char *format)
{
    const struct aps_scale scale = logmax_to(0x1p40);
    struct history history;
    int overflows = 0;

    history_begin(&history, &scale, format, 1);
    for (int i = 0; i < 40000; i++) {
        const struct aps_scale_moments max = {
            .max = exp2(-6 + sigma * history_normal())};
        bool over;

        (void)history_call(&history, &max, max.max, &over);
        overflows += over;
    }
    history_end(&history);
    return overflows / 40000.0;
}

static void test_rates(void)
{
    static const double sigmas[] = {0.25, 1, 2};
    static const char *const formats[] = {"e5m10", "e4m3"};

    for (int i = 0; i < 6; i++) {
        const double sigma = sigmas[i / 2];
        const double rate = overflow_rate(sigma, formats[i % 2]);

        if (!ok(rate < 0.001 && (sigma < 1 || rate > 0.00002),
                "logmax: fewer than one of 1000 maxima overflows, sigma %g, %s",
                sigma, formats[i % 2]))
            diag("%g of them", rate);
    }
}

/* Returns the number of steps after a great maximum until the exponent is at
 * least its old value, less one: of the corrected form, or, with the
 * reference's input in place of the maximum's logarithm, of the reference. */
static int steps_after(double great)
{
    const struct aps_scale scale = logmax_to(0x1p14);
    struct history history;
    int before, steps = 0;

    history_begin(&history, &scale, "e5m10", 1);
    for (int i = 0; i < 500; i++)
        history_update(&history, exp2(-6 + history_normal()), 0, false);
    before = history_predict(&history).exponent;
    history_update(&history, great, 0, true);
    while (history_predict(&history).exponent < before - 1) {
        history_update(&history, exp2(-6 + history_normal()), 0, false);
        steps++;
    }
    history_end(&history);
    return steps;
}

static void test_recovery(void)
{
    ok(steps_after(0x1p4) <= 10 && steps_after(0x1p16) <= 10,
       "logmax: an overflow is over within 10 steps");
}

int main(void)
{
    static const int e5m10[] = {14, 14, 14, 14, 9};
    static const int open[] = {21, 19, 19, 16, 9};
    static const int e4m3[] = {13, 11, 11, 8, 1};
    const struct aps_scale scale = logmax_to(0x1p14);

    is(aps_scale_name(&scale), "logmax", "the name");
    history_check(&scale);
    test_vector("e5m10", 0x1p14, e5m10);
    test_vector("e5m10", 0x1p40, open);
    test_vector("e4m3", 0x1p14, e4m3);
    test_first_calls();
    test_rates();
    test_recovery();
    return done_testing();
}
