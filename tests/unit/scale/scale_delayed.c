/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdlib.h>

#include "scale/history.h"
#include "tests/tap/tap.h"
#include "unit/scale/histories.h"
#include "unit/scale/scales.h"

#define CALLS 3000

static struct aps_scale delayed_of(int history, int margin,
                                   enum aps_delayed_algo algo)
{
    return (struct aps_scale){APS_SCALE_DELAYED,
                              {[APS_DELAYED_HISTORY] = history,
                               [APS_DELAYED_MARGIN] = margin,
                               [APS_DELAYED_ALGO] = algo}};
}

/* The definition: the greatest of the last `window` calls before call i. */
static double amax_before(const double *maxima, int i, int window)
{
    double amax = 0;

    for (int k = i - window < 0 ? 0 : i - window; k < i; k++)
        amax = fmax(amax, maxima[k]);
    return amax;
}

static void test_window(int window, int margin, enum aps_delayed_algo algo)
{
    const struct aps_scale scale = delayed_of(window, margin, algo);
    const int looks_back = algo == APS_DELAYED_MAX ? window : 1;
    static double maxima[CALLS], sums[CALLS];
    struct history history;
    bool same = true;

    history_begin(&history, &scale, "e4m3", 8);
    for (int i = 0; i < CALLS; i++) {
        struct aps_scale_prediction prediction;
        bool over;

        maxima[i] = (double)(float)exp2(history_normal() * 4);
        sums[i] = (double)(float)(maxima[i] * exp2(history_normal()));
        prediction = history_call(&history,
                                  &(struct aps_scale_moments){.max = maxima[i]},
                                  sums[i], &over);
        if (i == 0)
            continue;
        same &= prediction.exponent ==
                floor(log2(240 / amax_before(maxima, i, looks_back))) - margin;
        same &= prediction.sum_exponent ==
                floor(log2(240 / amax_before(sums, i, looks_back))) - margin;
    }
    ok(same, "delayed: %s of %d calls, margin %d",
       algo == APS_DELAYED_MAX ? "the greatest" : "the last", window, margin);
    history_end(&history);
}

static void test_first(void)
{
    const struct aps_scale scale = delayed_of(1024, 0, APS_DELAYED_MAX);
    const struct aps_scale_moments max = {.max = 0.75};
    struct history history;
    bool over;

    history_begin(&history, &scale, "e4m3", 8);
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_MAX,
       "delayed: the first call asks for the maximum");
    ok(history_call(&history, &max, 5, &over).exponent == 4 && !over,
       "delayed: its exponent is that of APS");
    ok(aps_scale_question(&scale, history.state) == APS_QUESTION_NONE,
       "delayed: no other call asks");
    history_end(&history);
}

/* Sums that have cancelled to 0, all of them or the last ones. */
static void test_cancelled(void)
{
    const struct aps_scale scale = delayed_of(3, 0, APS_DELAYED_MAX);
    const struct aps_scale recent = delayed_of(3, 0, APS_DELAYED_MOST_RECENT);
    const struct aps_scale *const scales[] = {&scale, &recent};

    for (int i = 0; i < 2; i++) {
        struct aps_scale_prediction prediction;
        struct history history;

        history_begin(&history, scales[i], "e4m3", 8);
        history_update(&history, 0x1p-10, 0, false);
        prediction = history_predict(&history);
        ok(prediction.exponent == 17 && prediction.sum_exponent == 17,
           "delayed: where all sums are 0 their scale is that of "
           "contributions");
        history_update(&history, 0x1p-10, 0x1p-8, false);
        history_update(&history, 0x1p-10, 0, false);
        prediction = history_predict(&history);
        ok(prediction.exponent == 17 &&
               prediction.sum_exponent == (i == 0 ? 15 : 17),
           "delayed: ... and where some are not, that of the greatest of %s",
           i == 0 ? "the last calls" : "the last call's contributions");
        history_end(&history);
    }
}

int main(void)
{
    const struct aps_scale scale = delayed_of(1024, 0, APS_DELAYED_MAX);
    const struct aps_scale recent = delayed_of(3, 2, APS_DELAYED_MOST_RECENT);

    is(aps_scale_name(&scale), "delayed", "the name");
    history_check(&scale);
    history_check(&recent);
    test_window(1024, 0, APS_DELAYED_MAX);
    test_window(7, 1, APS_DELAYED_MAX);
    test_window(1, 0, APS_DELAYED_MAX);
    test_window(16, 3, APS_DELAYED_MOST_RECENT);
    test_first();
    test_cancelled();
    return done_testing();
}
