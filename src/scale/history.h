/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by scales with a state: the indices of their parameters, and the
 * arithmetic of exponents. All of it is exact or uses +, -, *, / and sqrt of
 * doubles, whose bits are the same on every machine, unlike those of libm's
 * logarithms.
 */
#ifndef APS_SCALE_HISTORY_H
#define APS_SCALE_HISTORY_H

#include <math.h>

#include "scale/scale.h"

/* The parameters of each scale, in the order of grammar/tables.c. */
enum aps_backoff_parameter {
    APS_BACKOFF_START,
    APS_BACKOFF_MAX,
    APS_BACKOFF_MIN,
    APS_BACKOFF_FACTOR,
    APS_BACKOFF_WINDOW,
    APS_BACKOFF_ON_OVERFLOW,
    APS_BACKOFF_SCOPE
};

enum aps_logmax_parameter {
    APS_LOGMAX_DEVIATIONS,
    APS_LOGMAX_MAX,
    APS_LOGMAX_MIN,
    APS_LOGMAX_BETA1,
    APS_LOGMAX_BETA2,
    APS_LOGMAX_ON_OVERFLOW,
    APS_LOGMAX_SCOPE
};

enum aps_underflow_model { APS_UNDERFLOW_NORMAL, APS_UNDERFLOW_LOG_NORMAL };

enum aps_underflow_parameter {
    APS_UNDERFLOW_MODEL,
    APS_UNDERFLOW_GAMMA,
    APS_UNDERFLOW_EVERY,
    APS_UNDERFLOW_MIN,
    APS_UNDERFLOW_ON_OVERFLOW
};

enum aps_unit_from { APS_UNIT_MEASURED, APS_UNIT_TABLE };

enum aps_unit_parameter {
    APS_UNIT_FROM,
    APS_UNIT_STEPS,
    APS_UNIT_ON_OVERFLOW,
    APS_UNIT_DEVIATION /* from the layer table */
};

enum aps_autoflex_parameter {
    APS_AUTOFLEX_WINDOW,
    APS_AUTOFLEX_ALPHA,
    APS_AUTOFLEX_BETA,
    APS_AUTOFLEX_GAMMA,
    APS_AUTOFLEX_ON_OVERFLOW
};

enum aps_delayed_algo { APS_DELAYED_MAX, APS_DELAYED_MOST_RECENT };

enum aps_delayed_parameter {
    APS_DELAYED_HISTORY,
    APS_DELAYED_MARGIN,
    APS_DELAYED_ALGO,
    APS_DELAYED_ON_OVERFLOW
};

enum aps_dfxp_parameter { APS_DFXP_EVERY, APS_DFXP_ON_OVERFLOW };

/* Return floor(log2(x)) and ceil(log2(x)) of a finite x > 0. */
static inline int aps_floor_log2(double x)
{
    int exponent;

    (void)frexp(x, &exponent);
    return exponent - 1;
}

static inline int aps_ceil_log2(double x)
{
    int exponent;
    const double mantissa = frexp(x, &exponent);

    return mantissa > 0.5 ? exponent : exponent - 1;
}

/* Returns floor(log2(x / y)) of x and y > 0. */
static inline int aps_floor_log2_ratio(double x, double y)
{
    int x_exponent, y_exponent;
    const double x_mantissa = frexp(x, &x_exponent);
    const double y_mantissa = frexp(y, &y_exponent);

    return x_exponent - y_exponent - (x_mantissa < y_mantissa);
}

/* Returns K of 2^K, the smallest power of two that is not below the format's
 * largest value; 0 if that value is 0. */
static inline int aps_history_range(const struct aps_format *format)
{
    return format->max > 0 ? aps_ceil_log2((double)format->max) : 0;
}

/* Predicts one exponent for contributions and sums. */
static inline struct aps_scale_prediction aps_history_one(int exponent)
{
    return (struct aps_scale_prediction){exponent, exponent};
}

/* Returns the greatest magnitude that was cast; above 0 if `update` is
 * called. */
static inline double aps_history_max(const struct aps_scale_record *record)
{
    return (double)(record->in_max > record->sum_max ? record->in_max
                                                     : record->sum_max);
}

/* Returns x, but at least min and at most max. */
static inline double aps_history_clip(double x, double min, double max)
{
    return x < min ? min : x > max ? max : x;
}

#endif
