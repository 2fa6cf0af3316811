/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What scales with a state share: where their parameters stand, and the
 * arithmetic of exponents. All of it is exact or made of +, -, *, / and sqrt of
 * doubles, whose bits are the same on every machine; those of libm's logarithms
 * are not.
 */
#ifndef APS_SCALE_HISTORY_H
#define APS_SCALE_HISTORY_H

#include <math.h>

#include "scale/scale.h"

/* The parameters of each scale, in the order of policy/tables.c. */
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

/* floor(log2(x)) and ceil(log2(x)) of a finite x > 0. */
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

/* The same exponent for what ranks cast first and for sums. */
static inline struct aps_scale_prediction aps_history_one(int exponent)
{
    return (struct aps_scale_prediction){exponent, exponent};
}

/* The greatest magnitude that was cast; above 0 where `update` is called. */
static inline double aps_history_max(const struct aps_scale_record *record)
{
    return (double)(record->in_max > record->sum_max ? record->in_max
                                                     : record->sum_max);
}

/* x, but at least min and at most max. */
static inline double aps_history_clip(double x, double min, double max)
{
    return x < min ? min : x > max ? max : x;
}

#endif
