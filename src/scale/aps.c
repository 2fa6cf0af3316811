/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>

int aps_scale_max_exponent(float max, int ranks)
{
    int exponent;
    double mantissa;

    if (max == 0)
        return APS_EXPONENT_ZERO;
    /* 24 bits times 31 bits may round in a double's 53, but never across a
     * power of two downwards: a product just above 2^k stays above it unless
     * it rounds to 2^k, for which ranks needs more than 2^29. */
    mantissa = frexp((double)max * ranks, &exponent);
    return mantissa > 0.5 ? exponent : exponent - 1;
}

int aps_scale_aps(const struct aps_format *format, int max_exponent)
{
    if (format->self_scaled || max_exponent == APS_EXPONENT_ZERO)
        return 0;
    return format->upper - max_exponent;
}

static int aps_stage_exponent(const struct aps_scale *scale,
                              const struct aps_format *format, int max_exponent)
{
    (void)scale;
    return aps_scale_aps(format, max_exponent);
}

const struct aps_scale_ops aps_scale_ops_aps = {
    .agreed = true,
    .stage_exponent = aps_stage_exponent,
};
