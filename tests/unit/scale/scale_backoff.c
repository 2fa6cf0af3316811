/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

/* The reference's parameters, and its clean and overflowing calls. */
static const struct aps_scale backoff = {
    APS_SCALE_BACKOFF,
    {[APS_BACKOFF_START] = 0x1p14,
     [APS_BACKOFF_MAX] = 0x1p14,
     [APS_BACKOFF_MIN] = 1,
     [APS_BACKOFF_FACTOR] = 2,
     [APS_BACKOFF_WINDOW] = 2000,
     [APS_BACKOFF_SCOPE] = APS_SCOPE_MODEL}};

static int exponent_of(struct history *history)
{
    const struct aps_scale_prediction prediction = history_predict(history);

    if (prediction.exponent != prediction.sum_exponent)
        bail_out("contributions and sums differ");
    return prediction.exponent;
}

static void test_saw_tooth(void)
{
    static const struct {
        int step, exponent;
    } changes[] = {{0, 13},    {1, 12},    {5, 11},   {2005, 12},
                   {2500, 11}, {4500, 12}, {6500, 13}};
    struct history history;
    int exponent = 14;
    size_t change = 0;
    bool same;

    history_begin(&history, &backoff, "e5m2", 8);
    same = exponent_of(&history) == 14;
    for (int step = 0; step < 8000; step++) {
        const bool over = step == 0 || step == 1 || step == 5 || step == 2500;

        history_update(&history, 1, 2, over);
        if (change < 7 && changes[change].step == step)
            exponent = changes[change++].exponent;
        if (exponent_of(&history) != exponent && same) {
            diag("step %d: 2^%d, not 2^%d", step, exponent_of(&history),
                 exponent);
            same = false;
        }
    }
    ok(same && change == 7,
       "backoff: halves after an overflow, doubles after 2000 clean steps");
    history_end(&history);
}

static void test_bounds(void)
{
    struct aps_scale scale = backoff;
    struct history history;
    bool inside = true;

    scale.parameters[APS_BACKOFF_START] = 0x1.8p7;
    scale.parameters[APS_BACKOFF_MAX] = 0x1p9;
    scale.parameters[APS_BACKOFF_MIN] = 0x1p-3;
    scale.parameters[APS_BACKOFF_FACTOR] = 8;
    scale.parameters[APS_BACKOFF_WINDOW] = 3;
    history_begin(&history, &scale, "e4m3", 2);
    ok(exponent_of(&history) == 7, "backoff: the power of two is rounded down");
    for (int i = 0; i < 10; i++) {
        history_update(&history, 1, 1, true);
        inside &= exponent_of(&history) >= -3;
    }
    ok(inside && exponent_of(&history) == -3, "backoff: not below min");
    for (int i = 0; i < 3; i++)
        history_update(&history, 1, 1, false);
    ok(exponent_of(&history) == 0, "backoff: a factor of 8, after 3 steps");
    for (int i = 0; i < 30; i++)
        history_update(&history, 1, 1, false);
    ok(exponent_of(&history) == 9, "backoff: not above max");
    history_end(&history);
}

int main(void)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(&backoff);

    is(aps_scale_name(&backoff), "backoff", "the name");
    ok(!ops->agreed && !ops->per_block,
       "backoff: no message before the data, nothing measured by blocks");
    ok(aps_scale_on_overflow(&backoff) == APS_OVERFLOW_REDO &&
           aps_scale_scope(&backoff) == APS_SCOPE_MODEL,
       "backoff: what to do with an overflow, and whose the state is");
    history_check(&backoff);
    test_saw_tooth();
    test_bounds();
    return done_testing();
}
