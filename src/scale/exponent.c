/* SPDX-License-Identifier: BSD-3-Clause */
/* The exponents of APS, and the functions of aps.h for them. */
#include "config.h"

#include "scale/exponent.h"

#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "codec/codec.h"
#include "number/check.h"

int aps_scale_max_exponent(float max, int ranks)
{
    int exponent;
    double mantissa;

    if (max == 0)
        return APS_EXPONENT_ZERO;
    /* 24 bits times 31 bits may be rounded to a double's 53, but never across a
     * power of two downwards: a product just above 2^k stays above it unless it
     * rounds to 2^k, for which ranks needs more than 2^29. */
    mantissa = frexp((double)max * ranks, &exponent);
    return mantissa > 0.5 ? exponent : exponent - 1;
}

int aps_scale_aps(const struct aps_format *format, int max_exponent)
{
    if (format->self_scaled || max_exponent == APS_EXPONENT_ZERO)
        return 0;
    return format->upper - max_exponent;
}

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

/* --- aps.h ---------------------------------------------------------------- */

static int exponent_check(const char *who, const float *x, size_t n,
                          const int *exponent, struct aps_error *error)
{
    if (aps_check_count(who, "n", n, error) < 0)
        return -1;
    if ((n > 0 && !x) || !exponent)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             exponent ? "x" : "exponent");
    return 0;
}

int aps_max_exponent(const float *x, size_t n, int ranks, int *exponent,
                     struct aps_error *error)
{
    static const char who[] = "aps_max_exponent";
    fenv_t saved;

    if (exponent_check(who, x, n, exponent, error) < 0)
        return -1;
    if (ranks < 1)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: ranks is %d and must be at least 1", who,
                             ranks);
    aps_fpenv_enter(&saved);
    *exponent = aps_scale_max_exponent(aps_max_finite(x, n), ranks);
    aps_fpenv_leave(&saved);
    return 0;
}

int aps_scale_exponent(const struct aps_format *format, int max_exponent)
{
    return aps_scale_aps(format, max_exponent);
}

int aps_scale_exponent_tight(const struct aps_format *format, const float *x,
                             size_t n, int *exponent, struct aps_error *error)
{
    static const char who[] = "aps_scale_exponent_tight";
    fenv_t saved;

    if (aps_check_format(who, "format", format, error) < 0 ||
        exponent_check(who, x, n, exponent, error) < 0)
        return -1;
    aps_fpenv_enter(&saved);
    *exponent = aps_scale_aps_tight(format, aps_max_finite(x, n));
    aps_fpenv_leave(&saved);
    return 0;
}
