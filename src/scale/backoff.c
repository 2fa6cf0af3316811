/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backoff: the loss scaling of mixed precision training (OpenSeq2Seq's
 * BackoffScaler), applied to messages. The scale S starts at `start`; an
 * overflow divides it by `factor`, and `window` steps without one multiply it.
 *
 *     over:                        S = S / factor,  last = it
 *     (it - last) mod window == 0: S = S * factor
 *     it = it + 1
 *
 * with S kept within min ... max, it = 0 and last = -1 at first. Values are
 * multiplied by 2^floor(log2 S).
 */
#include "config.h"

#include "scale/explain.h"
#include "scale/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"

struct backoff {
    double scale;  /* S; 0: `start` */
    int64_t steps; /* it */
    int64_t after; /* last + 1 */
};

/* Returns the current S. */
static double backoff_scale(const struct aps_scale *scale, const void *state)
{
    const struct backoff *backoff = state;

    return backoff->scale > 0 ? backoff->scale
                              : scale->parameters[APS_BACKOFF_START];
}

static struct aps_scale_prediction
backoff_predict(const struct aps_scale *scale, const void *state,
                const struct aps_format *format, int ranks)
{
    (void)format;
    (void)ranks;
    return aps_history_one(aps_floor_log2(backoff_scale(scale, state)));
}

static void backoff_update(const struct aps_scale *scale, void *state,
                           const struct aps_format *format, int ranks,
                           const struct aps_scale_record *record)
{
    const double *parameters = scale->parameters;
    const double factor = parameters[APS_BACKOFF_FACTOR];
    const int64_t window = (int64_t)parameters[APS_BACKOFF_WINDOW];
    struct backoff *backoff = state;
    double next = backoff_scale(scale, state);

    (void)format;
    (void)ranks;
    if (record->over) {
        next /= factor;
        backoff->after = backoff->steps + 1;
    } else if ((backoff->steps - backoff->after + 1) % window == 0) {
        next *= factor;
    }
    backoff->scale = aps_history_clip(next, parameters[APS_BACKOFF_MIN],
                                      parameters[APS_BACKOFF_MAX]);
    backoff->steps++;
}

static bool backoff_is_power(double x)
{
    int exponent;

    return frexp(x, &exponent) == 0.5;
}

/* Writes the rounding of the scale, if any of its values is not a power of
 * two. */
static void backoff_round(const double *parameters, char *buffer, size_t size)
{
    const double start = parameters[APS_BACKOFF_START];
    char power[APS_SCALE_NUMBER_MAX];

    if (backoff_is_power(start) &&
        backoff_is_power(parameters[APS_BACKOFF_FACTOR]) &&
        backoff_is_power(parameters[APS_BACKOFF_MIN]) &&
        backoff_is_power(parameters[APS_BACKOFF_MAX]))
        return;
    snprintf(buffer, size,
             " Values are multiplied by the power of two at or below the "
             "scale: by %s at first.",
             aps_scale_explain_number(ldexp(1, aps_floor_log2(start)), power));
}

static void backoff_behave(const struct aps_scale *scale,
                           const struct aps_format *format, char *buffer,
                           size_t size)
{
    const double *parameters = scale->parameters;
    const char *call = aps_scale_explain_turn(scale);
    char start[APS_SCALE_NUMBER_MAX], min[APS_SCALE_NUMBER_MAX];
    char max[APS_SCALE_NUMBER_MAX];

    (void)format;
    aps_print(buffer, size,
              "The scale starts at %s. A %s in which a value overflows divides "
              "it by %g, and %g %ss without an overflow multiply it by %g, "
              "within %s ... %s.",
              aps_scale_explain_number(parameters[APS_BACKOFF_START], start),
              call, parameters[APS_BACKOFF_FACTOR],
              parameters[APS_BACKOFF_WINDOW], call,
              parameters[APS_BACKOFF_FACTOR],
              aps_scale_explain_number(parameters[APS_BACKOFF_MIN], min),
              aps_scale_explain_number(parameters[APS_BACKOFF_MAX], max));
    backoff_round(parameters, buffer + strlen(buffer), size - strlen(buffer));
}

/* Warns if values from a thousandth of the scale's inverse on overflow, because
 * gradients can be as great. */
static bool backoff_doubt(const struct aps_scale *scale,
                          const struct aps_format *format, char *buffer,
                          size_t size)
{
    const double start = scale->parameters[APS_BACKOFF_START];
    const double largest = (double)format->max;
    char text[APS_SCALE_NUMBER_MAX];

    if (largest * 1000 >= start)
        return false;
    aps_print(buffer, size,
              "scale backoff starts at %s, with which values from %.2g on "
              "overflow in %s: the largest value is %g; set max to less",
              aps_scale_explain_number(start, text), largest / start,
              format->name, largest);
    return true;
}

const struct aps_scale_ops aps_scale_ops_backoff = {
    .state_bytes = sizeof(struct backoff),
    .predict = backoff_predict,
    .least = APS_BACKOFF_MIN,
    .update = backoff_update,
    .on_overflow = APS_BACKOFF_ON_OVERFLOW,
    .scope = APS_BACKOFF_SCOPE,
    .behave = backoff_behave,
    .doubt = backoff_doubt,
};
