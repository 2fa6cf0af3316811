/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit/scale/histories.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number/parse.h"
#include "tests/tap/tap.h"
#include "unit/scale/scales.h"

void history_begin(struct history *history, const struct aps_scale *scale,
                   const char *format, int ranks)
{
    history->scale = scale;
    history->ranks = ranks;
    history->bytes = aps_scale_state_bytes(scale);
    history->state = calloc(1, history->bytes);
    if (!history->state || aps_format_parse(format, &history->format, NULL) < 0)
        bail_out("no state of %s", format);
}

void history_end(struct history *history)
{
    free(history->state);
}

struct aps_scale_prediction history_predict(const struct history *history)
{
    return aps_scale_predict(history->scale, history->state, &history->format,
                             history->ranks);
}

static void history_record(struct history *history,
                           const struct aps_scale_record *record)
{
    aps_scale_update(history->scale, history->state, &history->format,
                     history->ranks, record);
}

void history_update(struct history *history, double in_max, double sum_max,
                    bool over)
{
    const struct aps_scale_record record = {
        .in_max = (float)in_max, .sum_max = (float)sum_max, .over = over};

    history_record(history, &record);
}

struct aps_scale_moments history_max(double max)
{
    return (struct aps_scale_moments){.max = max};
}

struct aps_scale_prediction
history_call(struct history *history, const struct aps_scale_moments *moments,
             double sum_max, bool *over)
{
    const double largest = (double)aps_format_max(&history->format);
    struct aps_scale_prediction prediction;

    if (aps_scale_question(history->scale, history->state) != APS_QUESTION_NONE)
        aps_scale_learn(history->scale, history->state, &history->format,
                        history->ranks, moments);
    prediction = history_predict(history);
    *over = ldexp(moments->max, prediction.exponent) > largest ||
            ldexp(sum_max, prediction.sum_exponent) > largest;
    history_update(history, moments->max, sum_max, *over);
    return prediction;
}

double history_normal(void)
{
    const double radius = sqrt(-2 * log((scales_random() + 0.5) * 0x1p-32));

    return radius * cos(2 * M_PI * scales_random() * 0x1p-32);
}

static void history_random_call(struct history *history)
{
    const double max = ldexp(1 + scales_random() * 0x1p-32,
                             (int)(scales_random() % 277) - 149);
    const struct aps_scale_moments moments = {max,
                                              1000,
                                              max * 10,
                                              max * max * 100,
                                              1000,
                                              1000 * (log(max) - 2),
                                              1000 * pow(log(max) - 2, 2) +
                                                  500};
    const double sum_max = fmin(max * 7, (double)FLT_MAX);
    bool over;

    (void)history_call(history, &moments, sum_max, &over);
}

static bool history_is_bounded(const struct history *history)
{
    const struct aps_scale_prediction a = history_predict(history);
    const struct aps_scale_prediction b = history_predict(history);

    return a.exponent == b.exponent && a.sum_exponent == b.sum_exponent &&
           abs(a.exponent) <= 400 && abs(a.sum_exponent) <= 400;
}

/* True if a call changes nothing. */
static bool history_passes(struct history *history,
                           const struct aps_scale_record *record)
{
    void *before = malloc(history->bytes);
    bool same;

    if (!before)
        bail_out("out of memory");
    memcpy(before, history->state, history->bytes);
    history_record(history, record);
    same = memcmp(before, history->state, history->bytes) == 0;
    free(before);
    return same;
}

void history_check(const struct aps_scale *scale)
{
    static const char *const formats[] = {"e5m10", "e4m3", "e3m0",
                                          "e8m7",  "e1m2", "e4m3fn"};
    static const struct aps_scale_record zeros = {.in_max = 0};
    static const struct aps_scale_record inf = {
        .in_max = 1, .sum_max = 2, .nonfinite = true};
    static const struct aps_scale_record both = {
        .in_max = 1, .sum_max = 2, .over = true, .nonfinite = true};
    const char *name = aps_scale_name(scale);
    bool bounded = true, untouched = true;
    struct history a, b;

    history_begin(&a, scale, formats[0], 8);
    history_begin(&b, scale, formats[0], 8);
    for (int i = 0; i < 3000; i++) {
        /* The format changes from call to call. */
        if (aps_format_parse(formats[i / 50 % 6], &a.format, NULL) < 0)
            bail_out("no format");
        untouched &= history_passes(&a, &zeros) && history_passes(&a, &inf) &&
                     history_passes(&a, &both);
        bounded &= history_is_bounded(&a);
        history_random_call(&a);
    }
    ok(untouched, "%s: zeros, INF and NaN leave the state as it is", name);
    ok(bounded, "%s: exponents are within 400, in any format", name);
    memcpy(b.state, a.state, a.bytes);
    b.format = a.format;
    ok(history_predict(&a).exponent == history_predict(&b).exponent,
       "%s: a state is plain memory", name);
    history_end(&a);
    history_end(&b);
}
