/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic fixed point (Courbariaux et al. 2014): the overflows move a tensor's
 * exponent by one step.
 *
 *     an overflow:                                 the range doubles
 *     none in `every` calls, and none if the
 *     range were half as great:                    it halves
 *
 * separately for contributions and sums. At first the range is APS's. The paper
 * uses rates: it doubles the range every `every` steps, if more than 0.01 % of
 * the values overflowed, and halves it if fewer would at half the range. Here
 * one value suffices, at once: all ranks know only the greatest magnitude, and
 * with on_overflow: redo each further overflow costs time.
 */
#include "config.h"

#include "scale/exponent.h"
#include "scale/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/print.h"

/* State of contributions, or of sums. */
struct counter {
    int32_t range; /* the largest value of the format means 2^range */
    int32_t calls; /* calls since the range changed or was checked */
    float peak;    /* greatest magnitude in these calls */
};

struct dfxp {
    bool begun;
    struct counter in, sum;
};

static enum aps_scale_question dfxp_question(const struct aps_scale *scale,
                                             const void *state)
{
    const struct dfxp *dfxp = state;

    (void)scale;
    return dfxp->begun ? APS_QUESTION_NONE : APS_QUESTION_MAX;
}

static void dfxp_learn(const struct aps_scale *scale, void *state,
                       const struct aps_format *format, int ranks,
                       const struct aps_scale_moments *moments)
{
    struct dfxp *dfxp = state;

    (void)scale;
    dfxp->in.range =
        aps_history_range(format) -
        aps_scale_aps(format,
                      aps_scale_max_exponent((float)moments->max, ranks));
    dfxp->sum.range = dfxp->in.range;
}

static struct aps_scale_prediction dfxp_predict(const struct aps_scale *scale,
                                                const void *state,
                                                const struct aps_format *format,
                                                int ranks)
{
    const struct dfxp *dfxp = state;
    const int range = aps_history_range(format);

    (void)scale;
    (void)ranks;
    return (struct aps_scale_prediction){range - dfxp->in.range,
                                         range - dfxp->sum.range};
}

/* True if the value overflows with this range. */
static bool dfxp_overflows(const struct aps_format *format, float max,
                           int range)
{
    return aps_scale_overflows(format, max, aps_history_range(format) - range,
                               APS_ROUND_NEAREST);
}

static void dfxp_count(const struct aps_scale *scale,
                       const struct aps_format *format, struct counter *counter,
                       float max)
{
    bool change;

    if (max == 0)
        return;
    counter->calls++;
    counter->peak = max > counter->peak ? max : counter->peak;
    change = dfxp_overflows(format, max, counter->range);
    if (change) {
        counter->range++;
    } else if (counter->calls >= scale->parameters[APS_DFXP_EVERY]) {
        counter->range -=
            !dfxp_overflows(format, counter->peak, counter->range - 1);
        change = true;
    }
    if (change) {
        counter->calls = 0;
        counter->peak = 0;
    }
}

static void dfxp_update(const struct aps_scale *scale, void *state,
                        const struct aps_format *format, int ranks,
                        const struct aps_scale_record *record)
{
    struct dfxp *dfxp = state;

    (void)ranks;
    dfxp->begun = true;
    dfxp_count(scale, format, &dfxp->in, record->in_max);
    dfxp_count(scale, format, &dfxp->sum, record->sum_max);
}

static void dfxp_behave(const struct aps_scale *scale,
                        const struct aps_format *format, char *buffer,
                        size_t size)
{
    (void)format;
    aps_print(
        buffer, size,
        "The first call of a layer has the scale of aps. A call in which "
        "a value overflows halves the scale, and %g calls in which twice "
        "the scale would have caused no overflow double it. Contributions "
        "and sums have scales of their own where sums are FP32.",
        scale->parameters[APS_DFXP_EVERY]);
}

const struct aps_scale_ops aps_scale_ops_dfxp = {
    .state_bytes = sizeof(struct dfxp),
    .question = dfxp_question,
    .learn = dfxp_learn,
    .predict = dfxp_predict,
    .update = dfxp_update,
    .on_overflow = APS_DFXP_ON_OVERFLOW,
    .scope = -1,
    .behave = dfxp_behave,
};
