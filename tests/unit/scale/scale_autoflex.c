/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

#define CALLS 8
static const double maxima[CALLS] = {1, 1, 1.1, 0.9, 1.2, 5, 5, 5};

static struct aps_scale autoflex_with(enum aps_overflow on_overflow)
{
    return (struct aps_scale){APS_SCALE_AUTOFLEX,
                              {[APS_AUTOFLEX_WINDOW] = 16,
                               [APS_AUTOFLEX_ALPHA] = 2,
                               [APS_AUTOFLEX_BETA] = 3,
                               [APS_AUTOFLEX_GAMMA] = 100,
                               [APS_AUTOFLEX_ON_OVERFLOW] = on_overflow}};
}

/* The paper's Algorithm 2 by hand: the integers of contributions and the
 * exponents with which they are sent. */
static void test_vector(enum aps_overflow on_overflow, const int *integers,
                        const int *exponents)
{
    const struct aps_scale scale = autoflex_with(on_overflow);
    struct history history;
    bool same = true;

    history_begin(&history, &scale, "flex16", 1);
    for (int i = 0; i < CALLS; i++) {
        const struct aps_scale_moments max = {.max = maxima[i]};
        bool over;
        const int f = history_call(&history, &max, 1, &over).exponent;
        const double integer = fmin(nearbyint(ldexp(maxima[i], f)), 32767);

        if (integer != integers[i] || f != exponents[i]) {
            diag("call %d: %g * 2^-%d, not %d * 2^-%d", i, integer, f,
                 integers[i], exponents[i]);
            same = false;
        }
    }
    ok(same, "autoflex: integers and exponents of the paper's algorithm (%s)",
       on_overflow == APS_OVERFLOW_SATURATE ? "saturate" : "redo");
    history_end(&history);
}

static void test_uses(void)
{
    const struct aps_scale scale = autoflex_with(APS_OVERFLOW_REDO);
    const struct aps_scale_moments max = {.max = 0.9};
    struct aps_scale_prediction prediction;
    struct history history;
    bool over;

    history_begin(&history, &scale, "flex16", 8);
    for (int i = 0; i < 5; i++)
        prediction = history_call(&history, &max, 7.2, &over);
    ok(prediction.exponent == 14 && prediction.sum_exponent == 11,
       "autoflex: contributions and sums have exponents of their own");
    history_update(&history, 0.9, 100, true);
    prediction = history_predict(&history);
    ok(prediction.exponent == 14 && prediction.sum_exponent == 7,
       "autoflex: an overflow of sums concerns sums alone");
    history_end(&history);
}

/* With constant maxima the scaled values take half the range, in any format. */
static void test_headroom(const char *format, int ceiling)
{
    const struct aps_scale scale = autoflex_with(APS_OVERFLOW_REDO);
    bool stays = true;

    for (int i = 0; i < 2000; i++) {
        const struct aps_scale_moments max = {
            .max = ldexp(0.51 + 0.48 * scales_random() * 0x1p-32,
                         (int)(scales_random() % 40) - 20)};
        struct history history;
        bool over;
        int f = 0;

        history_begin(&history, &scale, format, 4);
        for (int call = 0; call < 30; call++)
            f = history_call(&history, &max, max.max, &over).exponent;
        stays &= ldexp(max.max, f) <= ldexp(1, ceiling - 1) &&
                 ldexp(max.max, f) >= ldexp(1, ceiling - 3);
        history_end(&history);
    }
    ok(stays, "autoflex: the greatest value takes about half the range of %s",
       format);
}

static void test_first(void)
{
    const struct aps_scale scale = autoflex_with(APS_OVERFLOW_REDO);
    const struct aps_scale_moments max = {.max = 0.75};
    struct aps_scale_prediction prediction;
    struct history history;
    bool over;

    history_begin(&history, &scale, "e4m3", 8);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MAX,
       "autoflex: the first call asks for the maximum");
    prediction = history_call(&history, &max, 5, &over);
    ok(prediction.exponent == 4 && prediction.sum_exponent == 4 && !over,
       "autoflex: its exponent is that of APS");
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE,
       "autoflex: no other call asks");
    history_end(&history);
}

int main(void)
{
    static const int saturated[] = {16384, 8192,  9011, 7373,
                                    9830,  32767, 5120, 5120};
    static const int saturated_exponents[] = {14, 13, 13, 13, 13, 13, 10, 10};
    static const int redone[] = {16384, 8192,  9011,  7373,
                                 9830,  32767, 10240, 10240};
    static const int redone_exponents[] = {14, 13, 13, 13, 13, 13, 11, 11};
    const struct aps_scale scale = autoflex_with(APS_OVERFLOW_REDO);
    const struct aps_scale saturates = autoflex_with(APS_OVERFLOW_SATURATE);

    is(aps_scale_name(&scale), "autoflex", "the name");
    history_check(&scale);
    history_check(&saturates);
    test_vector(APS_OVERFLOW_SATURATE, saturated, saturated_exponents);
    test_vector(APS_OVERFLOW_REDO, redone, redone_exponents);
    test_uses();
    test_first();
    test_headroom("flex16", 15);
    test_headroom("flex8", 7);
    test_headroom("e5m10", 16);
    test_headroom("e4m3", 8);
    test_headroom("e3m0", 3);
    test_headroom("e4m3fn", 9);
    return done_testing();
}
