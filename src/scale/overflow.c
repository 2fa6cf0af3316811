/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>

/* What lies above the largest finite value, less than a step, is rounded down
 * to it, or is beyond it. */
bool aps_scale_overflows(const struct aps_format *format, float max,
                         int exponent, enum aps_rounding rounding)
{
    /* Exact in double: |exponent| <= 400, and 24 bits. */
    const double x = ldexp((double)max, exponent);
    const double largest = (double)format->max;
    double step = ldexp(aps_format_min_normal(format), -format->mantissa_bits);
    double tie;
    int binade;

    if (largest > 0) {
        (void)frexp(largest, &binade);
        step = fmax(step, ldexp(1, binade - 1 - format->mantissa_bits));
    }
    tie = largest + step / 2;
    switch (rounding) {
    case APS_ROUND_NEAREST:
    case APS_ROUND_CPD:
        return x > tie || (x == tie && fmod(largest / step, 2) != 0);
    case APS_ROUND_TOWARD_ZERO:
        return x >= largest + step;
    default: /* by a random draw */
        return x > largest;
    }
}
