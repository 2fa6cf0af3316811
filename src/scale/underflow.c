/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradient scaling by the rate of underflow (IJCAI 2020, Eq. 3 and 4): of a
 * layer's values, a share of gamma may be smaller than the smallest value of
 * the format, lambda_min.
 *
 *     normal:      a = lambda_min / (z sigma),          P(|x| < z) = gamma
 *     log-normal:  a = lambda_min exp(z sigma - mu),    P(x > z) = gamma
 *     S = min(max(a, min), maxfinite / (ranks max |g|))
 *
 * sigma is the standard deviation of the values about their mean, or mu and
 * sigma are of ln|g| over nonzero g. All are over all ranks' values, at the
 * first call, at each multiple of `every`, and at the call after an overflow.
 * Values are multiplied by 2^floor(log2 S).
 *
 * Values without a deviation (all equal) have no a: S is the scale of APS, and
 * the next call asks again. The authors' code uses 1 there, with which small
 * values that are equal all become 0.
 *
 * The paper has one GPU, and no factor of `ranks`. Its text has no min; the
 * authors' code has 1.
 */
#include "config.h"

#include "scale/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/logarithm.h"
#include "base/print.h"
#include "scale/explain.h"
#include "scale/exponent.h"
#include "scale/normal.h"

#define LOG2_E 1.44269504088896340736

struct underflow {
    int64_t left;     /* calls before the next question */
    bool known;       /* whether there is a distribution */
    double max;       /* max |g| */
    double log_ratio; /* log2(a / lambda_min) */
};

static bool underflow_is_normal(const struct aps_scale *scale)
{
    return scale->parameters[APS_UNDERFLOW_MODEL] == APS_UNDERFLOW_NORMAL;
}

static enum aps_scale_question underflow_question(const struct aps_scale *scale,
                                                  const void *state)
{
    const struct underflow *underflow = state;

    if (underflow->left > 0)
        return APS_QUESTION_NONE;
    return underflow_is_normal(scale) ? APS_QUESTION_MOMENTS
                                      : APS_QUESTION_LOGARITHMS;
}

/* Returns the population's standard deviation of n > 0 values; 0 if rounding
 * leaves less. */
static double underflow_deviation(double n, double sum, double sum_squares)
{
    const double mean = sum / n;
    const double variance = sum_squares / n - mean * mean;

    return variance > 0 ? sqrt(variance) : 0;
}

/* Gets log2(a / lambda_min) of a normal distribution. Returns false if there is
 * none. */
static bool underflow_normal(double gamma,
                             const struct aps_scale_moments *moments,
                             double *log_ratio)
{
    const double sigma =
        underflow_deviation(moments->n, moments->sum, moments->sum_squares);

    if (!(sigma > 0))
        return false;
    *log_ratio = -aps_log2(aps_normal_center(gamma)) - aps_log2(sigma);
    return true;
}

static bool underflow_log_normal(double gamma,
                                 const struct aps_scale_moments *moments,
                                 double *log_ratio)
{
    const double mu = moments->sum_log / moments->nonzero;
    const double sigma = underflow_deviation(moments->nonzero, moments->sum_log,
                                             moments->sum_log_squares);

    if (!(sigma > 0))
        return false;
    *log_ratio = (aps_normal_tail(gamma) * sigma - mu) * LOG2_E;
    return true;
}

static void underflow_learn(const struct aps_scale *scale, void *state,
                            const struct aps_format *format, int ranks,
                            const struct aps_scale_moments *moments)
{
    const double gamma = scale->parameters[APS_UNDERFLOW_GAMMA];
    struct underflow *underflow = state;

    (void)format;
    (void)ranks;
    underflow->max = moments->max;
    underflow->known =
        moments->max > 0 &&
        (underflow_is_normal(scale)
             ? underflow_normal(gamma, moments, &underflow->log_ratio)
             : underflow_log_normal(gamma, moments, &underflow->log_ratio));
    underflow->left =
        underflow->known ? (int64_t)scale->parameters[APS_UNDERFLOW_EVERY] : 0;
}

static struct aps_scale_prediction
underflow_predict(const struct aps_scale *scale, const void *state,
                  const struct aps_format *format, int ranks)
{
    const double min = scale->parameters[APS_UNDERFLOW_MIN];
    const struct underflow *underflow = state;
    int exponent, cap;

    if (format->max == 0 || underflow->max == 0)
        return aps_history_one(0);
    cap = aps_floor_log2_ratio((double)format->max, underflow->max * ranks);
    exponent = underflow->known
                   ? (int)floor(aps_log2(aps_format_min_positive(format)) +
                                underflow->log_ratio)
                   : aps_scale_aps(format, aps_scale_max_exponent(
                                               (float)underflow->max, ranks));
    if (min > 0 && exponent < aps_floor_log2(min))
        exponent = aps_floor_log2(min);
    return aps_history_one(exponent < cap ? exponent : cap);
}

static void underflow_update(const struct aps_scale *scale, void *state,
                             const struct aps_format *format, int ranks,
                             const struct aps_scale_record *record)
{
    struct underflow *underflow = state;

    (void)scale;
    (void)format;
    (void)ranks;
    underflow->left =
        record->over || underflow->left == 0 ? 0 : underflow->left - 1;
}

static void underflow_behave(const struct aps_scale *scale,
                             const struct aps_format *format, char *buffer,
                             size_t size)
{
    const double *parameters = scale->parameters;
    char min[APS_SCALE_NUMBER_MAX];

    aps_print(
        buffer, size,
        "At the first call of a layer, every %g calls and after an "
        "overflow the ranks exchange the mean and the standard deviation "
        "of %s. If the distribution is %s, %g %% of the scaled values are "
        "below %g, the smallest value of %s. The scale is at least %s, "
        "but never so great that the sum of the ranks may overflow.",
        parameters[APS_UNDERFLOW_EVERY],
        underflow_is_normal(scale) ? "its values" : "its values' logarithms",
        underflow_is_normal(scale) ? "normal" : "log-normal",
        100 * parameters[APS_UNDERFLOW_GAMMA], aps_format_min_positive(format),
        format->name,
        aps_scale_explain_number(parameters[APS_UNDERFLOW_MIN], min));
}

/* The greatest of several thousand normally distributed values is 4 deviations
 * away, and two ranks add up. */
static bool underflow_doubt(const struct aps_scale *scale,
                            const struct aps_format *format, char *buffer,
                            size_t size)
{
    const double gamma = scale->parameters[APS_UNDERFLOW_GAMMA];
    const double smallest = aps_format_min_positive(format);
    const double largest = (double)format->max;

    if (smallest == 0 || !underflow_is_normal(scale) ||
        largest / smallest >= 2 * 4 / aps_normal_center(gamma))
        return false;
    aps_print(buffer, size,
              "format %s, %g ... %g, is too narrow for scale underflow: its "
              "bound against an overflow of the sum decides, so that it is the "
              "scale of aps, or twice that",
              format->name, smallest, largest);
    return true;
}

const struct aps_scale_ops aps_scale_ops_underflow = {
    .state_bytes = sizeof(struct underflow),
    .question = underflow_question,
    .learn = underflow_learn,
    .predict = underflow_predict,
    .update = underflow_update,
    .on_overflow = APS_UNDERFLOW_ON_OVERFLOW,
    .scope = -1,
    .behave = underflow_behave,
    .doubt = underflow_doubt,
};
