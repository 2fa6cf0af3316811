/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/check.h"

#include <errno.h>
#include <stdint.h>

#include "base/error.h"
#include "number/given.h"

int aps_check_format(const char *who, const char *what,
                     const struct aps_format *format, struct aps_error *error)
{
    if (!format)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             what);
    return 0;
}

int aps_check_count(const char *who, const char *what, size_t count,
                    struct aps_error *error)
{
    if (count > PTRDIFF_MAX / sizeof(float))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s is negative or beyond memory: %td", who,
                             what, (ptrdiff_t)count);
    return 0;
}

int aps_check_array(const char *who, const struct aps_format *format,
                    const void *from, const void *to, size_t n,
                    struct aps_error *error)
{
    if (aps_check_format(who, "format", format, error) < 0 ||
        aps_check_count(who, "n", n, error) < 0)
        return -1;
    if (n > 0 && (!from || !to))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: NULL with %zu elements", who, n);
    return 0;
}

int aps_check_options(const char *who, const struct aps_format *format,
                      const struct aps_cast_options *given,
                      struct aps_cast_options *options, struct aps_error *error)
{
    static const struct aps_cast_options defaults = APS_CAST_OPTIONS_INIT;
    static const struct aps_given_struct kind = {
        .name = "aps_cast_options",
        .init = "APS_CAST_OPTIONS_INIT",
        .first = sizeof defaults,
        .size = sizeof defaults,
        .defaults = &defaults,
    };
    struct aps_cast_options result = defaults;

    if (given && aps_given_read(who, &kind, given, &result, error) < 0)
        return -1;
    switch (result.rounding) {
    case APS_ROUND_CPD:
        if (format->kind != APS_FORMAT_IEEE || format->saturate)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: cpd rounds to formats eEmM, not to '%s'",
                                 who, format->name);
        break;
    case APS_ROUND_NEAREST:
    case APS_ROUND_STOCHASTIC:
    case APS_ROUND_TOWARD_ZERO:
        break;
    default:
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: there is no rounding %d", who,
                             (int)result.rounding);
    }
    *options = result;
    return 0;
}
