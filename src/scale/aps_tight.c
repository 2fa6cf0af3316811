/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>

int aps_scale_aps_tight(const struct aps_format *format, float max)
{
    float largest = aps_format_max(format);
    int max_exponent, largest_exponent;
    double max_mantissa, largest_mantissa;

    if (max == 0 || largest == 0)
        return 0;
    max_mantissa = frexp(max, &max_exponent);
    largest_mantissa = frexp(largest, &largest_exponent);
    return largest_exponent - max_exponent - (max_mantissa > largest_mantissa);
}

static int aps_tight_block_exponent(const struct aps_scale *scale,
                                    const struct aps_format *format, float max)
{
    (void)scale;
    return aps_scale_aps_tight(format, max);
}

const struct aps_scale_ops aps_scale_ops_aps_tight = {
    .needs_magnitude = true,
    .per_block = true,
    .block_exponent = aps_tight_block_exponent,
};
