/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LogMax, or LogNormal: assumes that maxima are log-normally distributed
 * (OpenSeq2Seq's LogMaxScaler). x is the log2 of a call's greatest magnitude.
 * Its moving averages have weights that sum to 1 - beta^i after i values:
 *
 *     mu    = mean of x, by beta1
 *     sigma = standard deviation of x, by beta2
 *     S     = 2^(log2(maxfinite) - mu - deviations sigma), within min ... max
 *
 * Values are multiplied by 2^floor(log2 S). Deviations of 3.09 let one maximum
 * in a thousand overflow. Until two maxima are known the exponent is APS's.
 *
 * Corrected here: after a value that is not finite the reference uses 2^16
 * where x = 16 is meant, and its averages include the logarithm of 0.
 */
#include "config.h"

#include "scale/history.h"

#include <stdint.h>
#include <stdio.h>

#include "base/logarithm.h"
#include "base/print.h"
#include "scale/explain.h"
#include "scale/exponent.h"

#define LEAST 2 /* maxima that give a standard deviation */

struct logmax {
    int64_t count; /* maxima so far */
    int first;     /* MAX of aps_scale_max_exponent of the first call, until
                      then */
    double mean;   /* by beta1 */
    double slow_mean, square;     /* by beta2 */
    double missing, slow_missing; /* beta^count: the missing weights */
};

static enum aps_scale_question logmax_question(const struct aps_scale *scale,
                                               const void *state)
{
    const struct logmax *logmax = state;

    (void)scale;
    return logmax->count < LEAST ? APS_QUESTION_MAX : APS_QUESTION_NONE;
}

static void logmax_learn(const struct aps_scale *scale, void *state,
                         const struct aps_format *format, int ranks,
                         const struct aps_scale_moments *moments)
{
    struct logmax *logmax = state;

    (void)scale;
    (void)format;
    logmax->first = aps_scale_max_exponent((float)moments->max, ranks);
}

static struct aps_scale_prediction
logmax_predict(const struct aps_scale *scale, const void *state,
               const struct aps_format *format, int ranks)
{
    const double *parameters = scale->parameters;
    const struct logmax *logmax = state;
    double mean, slow_mean, variance, log_scale;

    (void)ranks;
    if (logmax->count < LEAST)
        return aps_history_one(aps_scale_aps(format, logmax->first));
    if (format->max == 0)
        return aps_history_one(0);
    mean = logmax->mean / (1 - logmax->missing);
    slow_mean = logmax->slow_mean / (1 - logmax->slow_missing);
    variance =
        logmax->square / (1 - logmax->slow_missing) - slow_mean * slow_mean;
    log_scale =
        aps_log2((double)format->max) - mean -
        parameters[APS_LOGMAX_DEVIATIONS] * sqrt(variance > 0 ? variance : 0);
    return aps_history_one((int)floor(
        aps_history_clip(log_scale, aps_log2(parameters[APS_LOGMAX_MIN]),
                         aps_log2(parameters[APS_LOGMAX_MAX]))));
}

static void logmax_average(double *average, double beta, double value)
{
    *average = beta * *average + (1 - beta) * value;
}

static void logmax_update(const struct aps_scale *scale, void *state,
                          const struct aps_format *format, int ranks,
                          const struct aps_scale_record *record)
{
    const double fast = scale->parameters[APS_LOGMAX_BETA1];
    const double slow = scale->parameters[APS_LOGMAX_BETA2];
    const double x = aps_log2(aps_history_max(record));
    struct logmax *logmax = state;

    (void)format;
    (void)ranks;
    if (logmax->count == 0)
        logmax->missing = logmax->slow_missing = 1;
    logmax_average(&logmax->mean, fast, x);
    logmax_average(&logmax->slow_mean, slow, x);
    logmax_average(&logmax->square, slow, x * x);
    logmax->missing *= fast;
    logmax->slow_missing *= slow;
    logmax->count++;
}

static void logmax_behave(const struct aps_scale *scale,
                          const struct aps_format *format, char *buffer,
                          size_t size)
{
    const double *parameters = scale->parameters;
    const char *call = aps_scale_explain_turn(scale);
    char min[APS_SCALE_NUMBER_MAX], max[APS_SCALE_NUMBER_MAX];

    aps_print(buffer, size,
              "The first %d %ss have the scale of aps. From then on %g, the "
              "largest value of %s, stands for the mean of the logarithms of "
              "the %ss' greatest magnitudes plus %g standard deviations, and "
              "the scale stays within %s ... %s.",
              LEAST, call, (double)format->max, format->name, call,
              parameters[APS_LOGMAX_DEVIATIONS],
              aps_scale_explain_number(parameters[APS_LOGMAX_MIN], min),
              aps_scale_explain_number(parameters[APS_LOGMAX_MAX], max));
}

const struct aps_scale_ops aps_scale_ops_logmax = {
    .state_bytes = sizeof(struct logmax),
    .question = logmax_question,
    .learn = logmax_learn,
    .predict = logmax_predict,
    .least = APS_LOGMAX_MIN,
    .update = logmax_update,
    .on_overflow = APS_LOGMAX_ON_OVERFLOW,
    .scope = APS_LOGMAX_SCOPE,
    .behave = logmax_behave,
};
