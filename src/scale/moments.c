/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>

#include "codec/codec.h"

/* x is finite. */
static void moments_add_value(struct aps_scale_moments *moments, float x)
{
    const double value = (double)x;

    moments->n++;
    moments->sum += value;
    moments->sum_squares += value * value;
    if (fabs(value) > moments->max)
        moments->max = fabs(value);
}

static void moments_add_logarithm(struct aps_scale_moments *moments, float x)
{
    double logarithm;

    if (x == 0)
        return;
    logarithm = log(fabs((double)x));
    moments->nonzero++;
    moments->sum_log += logarithm;
    moments->sum_log_squares += logarithm * logarithm;
}

struct aps_scale_moments aps_scale_moments_of(const float *x, size_t n,
                                              enum aps_scale_question question)
{
    struct aps_scale_moments moments = {0};

    if (question == APS_QUESTION_MAX) {
        moments.max = (double)aps_max_finite(x, n);
        return moments;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        moments_add_value(&moments, x[i]);
        if (question == APS_QUESTION_LOGARITHMS)
            moments_add_logarithm(&moments, x[i]);
    }
    return moments;
}

void aps_scale_moments_add(struct aps_scale_moments *sum,
                           const struct aps_scale_moments *term)
{
    sum->max = term->max > sum->max ? term->max : sum->max;
    sum->n += term->n;
    sum->sum += term->sum;
    sum->sum_squares += term->sum_squares;
    sum->nonzero += term->nonzero;
    sum->sum_log += term->sum_log;
    sum->sum_log_squares += term->sum_log_squares;
}
