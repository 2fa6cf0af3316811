/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/measure.h"

#include <math.h>

void aps_measure_add(struct aps_measure *measure, const double *reference,
                     const float *low, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float exact = (float)reference[i];
        double error, relative;

        if (!isfinite(low[i]))
            measure->nonfinite++;
        if (!isfinite(exact))
            measure->infinite++;
        if (exact == 0 || !isfinite(exact)) {
            measure->skipped++;
            continue;
        }
        if (low[i] == 0)
            measure->underflow++;
        if (!isfinite(low[i]))
            measure->overflow++;
        error = isfinite(low[i]) ? (double)exact - low[i] : INFINITY;
        relative = fabs(error) / fabs((double)exact);
        measure->compared++;
        measure->sum_relative += relative;
        if (relative > measure->max_relative)
            measure->max_relative = relative;
        measure->sum_error2 += error * error;
        measure->sum_reference2 += (double)exact * exact;
    }
}

double aps_measure_mean(const struct aps_measure *measure)
{
    if (measure->compared == 0)
        return 0;
    return measure->sum_relative / (double)measure->compared;
}

double aps_measure_l2(const struct aps_measure *measure)
{
    if (measure->sum_reference2 == 0)
        return 0;
    return sqrt(measure->sum_error2 / measure->sum_reference2);
}

double aps_measure_snr(const struct aps_measure *measure)
{
    return -20 * log10(aps_measure_l2(measure));
}
