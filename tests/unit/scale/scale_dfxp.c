/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

static const struct aps_scale dfxp = {APS_SCALE_DFXP, {[APS_DFXP_EVERY] = 10}};

static void test_steps(void)
{
    const struct aps_scale_moments one = {.max = 1};
    struct aps_scale_prediction prediction;
    struct history history;
    bool over;

    history_begin(&history, &dfxp, "flex16", 8);
    ok(aps_scale_question(&dfxp, history.state) == APS_QUESTION_MAX,
       "dfxp: the first call asks for the maximum");
    /* U = 14, and 8 is 2^3 */
    prediction = history_call(&history, &one, 8, &over);
    ok(prediction.exponent == 11 && prediction.sum_exponent == 11 && !over,
       "dfxp: its exponent is that of APS");
    ok(aps_scale_question(&dfxp, history.state) == APS_QUESTION_NONE,
       "dfxp: no other call asks");
    for (int i = 1; i < 10; i++)
        prediction = history_call(&history, &one, 8, &over);
    ok(prediction.exponent == 11, "dfxp: ten calls have one exponent");
    prediction = history_call(&history, &one, 8, &over);
    ok(prediction.exponent == 12 && prediction.sum_exponent == 11,
       "dfxp: then the range halves, where nothing would have overflowed");
    for (int i = 0; i < 100; i++)
        prediction = history_call(&history, &one, 8, &over);
    ok(prediction.exponent == 14 && prediction.sum_exponent == 11 && !over,
       "dfxp: until something would");
    history_update(&history, 4, 8, true);
    prediction = history_predict(&history);
    ok(prediction.exponent == 13 && prediction.sum_exponent == 11,
       "dfxp: after an overflow the range doubles at once");
    for (int i = 0; i < 9; i++)
        (void)history_call(&history, &one, 8, &over);
    ok(history_predict(&history).exponent == 13,
       "dfxp: and another ten calls pass");
    (void)history_call(&history, &one, 8, &over);
    ok(history_predict(&history).exponent == 14, "dfxp: before it halves");
    history_end(&history);
}

int main(void)
{
    is(aps_scale_name(&dfxp), "dfxp", "the name");
    history_check(&dfxp);
    test_steps();
    return done_testing();
}
