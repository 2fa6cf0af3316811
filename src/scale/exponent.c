/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scale exponents of aps.h: the greatest magnitude of an array, and the
 * formulas of scale.h.
 */
#include "config.h"

#include <errno.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "codec/codec.h"
#include "number/check.h"
#include "scale/scale.h"

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
