/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

static struct aps_scale unit_of(int steps)
{
    return (struct aps_scale){
        APS_SCALE_UNIT,
        {[APS_UNIT_FROM] = APS_UNIT_MEASURED, [APS_UNIT_STEPS] = steps}};
}

static struct aps_scale_moments moments_of(double rms)
{
    return (struct aps_scale_moments){
        .max = 8 * rms, .n = 100, .sum_squares = 100 * rms * rms};
}

/* Returns the exponent after the first call. */
static int second_exponent(double rms)
{
    const struct aps_scale scale = unit_of(1);
    const struct aps_scale_moments moments = moments_of(rms);
    struct history history;
    bool over;
    int exponent;

    history_begin(&history, &scale, "e5m2", 4);
    (void)history_call(&history, &moments, moments.max, &over);
    exponent = history_predict(&history).exponent;
    history_end(&history);
    return exponent;
}

static void test_nearest(void)
{
    bool nearest = true;

    for (int i = 0; i < 20000; i++) {
        const double rms = exp2((scales_random() * 0x1p-32 - 0.5) * 200);
        const double got = -log2(rms) - second_exponent(rms);

        nearest &= got <= 0.5 + 1e-9 && got >= -0.5 - 1e-9;
    }
    ok(nearest, "unit: the power of two nearest to 1 / rms");
    ok(second_exponent(1) == 0 && second_exponent(0.5) == 1 &&
           second_exponent(1.4) == 0 && second_exponent(1.42) == -1 &&
           second_exponent(0x1p-20) == 20,
       "unit: 2^k for an rms of 2^-k");
}

static void test_calls(void)
{
    const struct aps_scale scale = unit_of(2);
    const struct aps_scale_moments one = moments_of(0.25);
    const struct aps_scale_moments two = moments_of(0x1p-6);
    const struct aps_scale_moments zeros = {.n = 100};
    const struct aps_scale_record nonfinite = {
        .in_max = 1, .sum_max = 1, .nonfinite = true};
    struct history history;
    bool over;

    history_begin(&history, &scale, "e5m2", 4);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "unit: the first call asks for the moments");
    /* U = 15, and 4 * 2 is 2^3 */
    ok(history_call(&history, &one, 2, &over).exponent == 12,
       "unit: its exponent is that of APS");
    (void)history_call(&history, &zeros, 0, &over);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "unit: zeros do not count");
    aps_scale_learn(&scale, history.state, &history.format, 4, &two);
    aps_scale_update(&scale, history.state, &history.format, 4, &nonfinite);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MOMENTS,
       "unit: nor do INF and NaN");
    (void)history_call(&history, &one, 2, &over);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE &&
           history_predict(&history).exponent == 2,
       "unit: after two calls the exponent is that of the rms");
    history_update(&history, 1e30, 1e30, true);
    (void)history_call(&history, &two, 1, &over);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE &&
           history_predict(&history).exponent == 2,
       "unit: whatever comes later, overflows too");
    history_end(&history);
}

static void test_pooled(void)
{
    const struct aps_scale scale = unit_of(2);
    /* The first call has 0.9 of the squares. */
    const struct aps_scale_moments many = {
        .max = 100, .n = 900, .sum_squares = 900 * 64};
    const struct aps_scale_moments few = {
        .max = 1, .n = 100, .sum_squares = 100 * 0x1p-20};
    struct history history;
    bool over;

    history_begin(&history, &scale, "e5m2", 1);
    (void)history_call(&history, &many, 1, &over);
    (void)history_call(&history, &few, 1, &over);
    ok(history_predict(&history).exponent == -3,
       "unit: the rms is that of all values of the first calls");
    history_end(&history);
}

static void test_table(void)
{
    struct aps_scale scale = unit_of(1);
    struct history history;

    ok(aps_scale_table(&scale) < 0, "unit: measured, it needs no table");
    scale.parameters[APS_UNIT_FROM] = APS_UNIT_TABLE;
    ok(aps_scale_table(&scale) == APS_UNIT_DEVIATION,
       "unit: the layer table's value is a parameter");
    scale.parameters[APS_UNIT_DEVIATION] = 0x1.8p-10;
    history_begin(&history, &scale, "e5m2", 1);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE &&
           history_predict(&history).exponent == 9,
       "unit: with a table there is no message at all");
    history_check(&scale);
    history_end(&history);
}

int main(void)
{
    const struct aps_scale scale = unit_of(1);

    is(aps_scale_name(&scale), "unit", "the name");
    history_check(&scale);
    test_nearest();
    test_calls();
    test_pooled();
    test_table();
    return done_testing();
}
