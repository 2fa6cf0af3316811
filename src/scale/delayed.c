/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delayed scaling, like Transformer Engine's for tensors of 8 bits: by the
 * greatest magnitude of the last `history` calls.
 *
 *     f = floor(log2(maxfinite / amax)) - margin
 *
 * where amax is the greatest of them (algo: max) or the last (most_recent),
 * separately for contributions and sums. At first f is APS's.
 */
#include "config.h"

#include "scale/exponent.h"
#include "scale/history.h"

#include <stdint.h>
#include <stdio.h>

#include "base/print.h"

struct delayed {
    int64_t calls;
    int first;      /* max exponent of the first call */
    float maxima[]; /* the last `history` calls: contributions, then sums;
                       call i at i mod `history` */
};

static size_t delayed_history(const struct aps_scale *scale)
{
    return (size_t)scale->parameters[APS_DELAYED_HISTORY];
}

static enum aps_scale_question delayed_question(const struct aps_scale *scale,
                                                const void *state)
{
    const struct delayed *delayed = state;

    (void)scale;
    return delayed->calls == 0 ? APS_QUESTION_MAX : APS_QUESTION_NONE;
}

static void delayed_learn(const struct aps_scale *scale, void *state,
                          const struct aps_format *format, int ranks,
                          const struct aps_scale_moments *moments)
{
    struct delayed *delayed = state;

    (void)scale;
    (void)format;
    delayed->first = aps_scale_max_exponent((float)moments->max, ranks);
}

/* Returns the amax of `maxima`. The state of missing calls is zeros. */
static float delayed_amax(const struct aps_scale *scale, int64_t calls,
                          const float *maxima)
{
    const size_t history = delayed_history(scale);
    float amax = 0;

    if (scale->parameters[APS_DELAYED_ALGO] == APS_DELAYED_MOST_RECENT)
        return maxima[(size_t)(calls - 1) % history];
    for (size_t i = 0; i < history; i++)
        amax = maxima[i] > amax ? maxima[i] : amax;
    return amax;
}

static int delayed_exponent(const struct aps_scale *scale,
                            const struct aps_format *format, int64_t calls,
                            const float *maxima)
{
    const float amax = delayed_amax(scale, calls, maxima);

    return amax > 0 ? aps_scale_aps_tight(format, amax) -
                          (int)scale->parameters[APS_DELAYED_MARGIN]
                    : 0;
}

static struct aps_scale_prediction
delayed_predict(const struct aps_scale *scale, const void *state,
                const struct aps_format *format, int ranks)
{
    const struct delayed *delayed = state;
    const float *sums = delayed->maxima + delayed_history(scale);

    /* Sums that have cancelled give no information about the next ones. */
    if (delayed->calls > 0 && delayed_amax(scale, delayed->calls, sums) == 0)
        sums = delayed->maxima;
    (void)ranks;
    if (delayed->calls == 0)
        return aps_history_one(aps_scale_aps(format, delayed->first));
    return (struct aps_scale_prediction){
        delayed_exponent(scale, format, delayed->calls, delayed->maxima),
        delayed_exponent(scale, format, delayed->calls, sums)};
}

static void delayed_update(const struct aps_scale *scale, void *state,
                           const struct aps_format *format, int ranks,
                           const struct aps_scale_record *record)
{
    struct delayed *delayed = state;
    const size_t at = (size_t)delayed->calls % delayed_history(scale);

    (void)format;
    (void)ranks;
    delayed->maxima[at] = record->in_max;
    delayed->maxima[at + delayed_history(scale)] = record->sum_max;
    delayed->calls++;
}

static void delayed_behave(const struct aps_scale *scale,
                           const struct aps_format *format, char *buffer,
                           size_t size)
{
    const double *parameters = scale->parameters;
    char calls[48] = "call";

    if (parameters[APS_DELAYED_ALGO] == APS_DELAYED_MAX)
        aps_print(calls, sizeof calls, "%g calls",
                  parameters[APS_DELAYED_HISTORY]);
    aps_print(
        buffer, size,
        "The first call of a layer has the scale of aps. From then on the "
        "greatest magnitude of the last %s becomes at most %g. "
        "Contributions and sums have scales of their own where sums are "
        "FP32.",
        calls,
        ldexp((double)format->max, -(int)parameters[APS_DELAYED_MARGIN]));
}

const struct aps_scale_ops aps_scale_ops_delayed = {
    .state_bytes = sizeof(struct delayed),
    .call_bytes = 2 * sizeof(float),
    .question = delayed_question,
    .learn = delayed_learn,
    .predict = delayed_predict,
    .update = delayed_update,
    .on_overflow = APS_DELAYED_ON_OVERFLOW,
    .scope = -1,
    .behave = delayed_behave,
};
