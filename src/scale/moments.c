/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/moments.h"

#include <math.h>

void aps_scale_moments_add(struct aps_scale_moments *moments, const float *x,
                           size_t n, bool logarithms)
{
    struct aps_scale_moments sum = {0};

    for (size_t i = 0; i < n; i++) {
        const double value = x[i], magnitude = fabs(value);
        double logarithm;

        if (!isfinite(value))
            continue;
        sum.n++;
        sum.sum += value;
        sum.sum_squares += value * value;
        if (magnitude > sum.max)
            sum.max = magnitude;
        if (!logarithms || magnitude == 0)
            continue;
        logarithm = log(magnitude);
        sum.nonzero++;
        sum.sum_log += logarithm;
        sum.sum_log_squares += logarithm * logarithm;
    }
    aps_scale_moments_merge(moments, &sum);
}

void aps_scale_moments_merge(struct aps_scale_moments *moments,
                             const struct aps_scale_moments *other)
{
    if (other->max > moments->max)
        moments->max = other->max;
    moments->n += other->n;
    moments->sum += other->sum;
    moments->sum_squares += other->sum_squares;
    moments->nonzero += other->nonzero;
    moments->sum_log += other->sum_log;
    moments->sum_log_squares += other->sum_log_squares;
}
