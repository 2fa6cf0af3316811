/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include "base/error.h"
#include "base/plural.h"
#include "number/format.h"
#include "number/draw.h"
#include "number/struct_version.h"

static int check_layout(const char *who, const char *what,
                        const struct aps_format *format,
                        struct aps_error *error)
{
    if (!format)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             what);
    if (format->layout != APS_FORMAT_LAYOUT)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s comes from a libaps of another version "
                             "than " PACKAGE_VERSION "; install libaps and "
                             "libaps-cuda of one version",
                             who, what);
    return 0;
}

int aps_check_format(const char *who, const char *what,
                     const struct aps_format *format, struct aps_error *error)
{
    if (check_layout(who, what, format, error) < 0)
        return -1;
    if (format->block != 1)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s '%s' is in blocks of %d values: one value "
                             "has no code",
                             who, what, format->name, format->block);
    if (format->exponent_bits == 0)
        return aps_error_set(
            error, EINVAL, NULL, 0, 0,
            "%s: %s '%s' is of integers, and must be of floats", who, what,
            format->name);
    return 0;
}

int aps_check_operand(const char *who, const char *what,
                      const struct aps_format *format, struct aps_error *error)
{
    if (check_layout(who, what, format, error) < 0)
        return -1;
    if (format->draws == APS_FORMAT_DRAWS_ALWAYS)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s '%s' is always rounded by random bits: "
                             "use a format intB/BUCKET, such as int8/512",
                             who, what, format->name);
    return format->block > 1 ? 0 : aps_check_format(who, what, format, error);
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
                    const char *from_name, const void *from,
                    const char *to_name, const void *to, size_t n,
                    struct aps_error *error)
{
    if (check_layout(who, "format", format, error) < 0 ||
        aps_check_count(who, "n", n, error) < 0)
        return -1;
    if (n > 0 && (!from || !to))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %s is NULL for %zu element%s", who,
                             from ? to_name : from_name, n, aps_plural(n));
    return 0;
}

/* Checks rank and ranks of correlated rounding. */
static int check_ranks(const char *who, const struct aps_cast_options *options,
                       struct aps_error *error)
{
    if (options->ranks > APS_DRAW_RANKS)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: ranks is %" PRIu64
                             "; correlated rounding supports at most %d",
                             who, options->ranks, APS_DRAW_RANKS);
    if (options->ranks > 1 && options->rank >= options->ranks)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: rank is %" PRIu32
                             " and must be less than ranks, %" PRIu64,
                             who, options->rank, options->ranks);
    return 0;
}

int aps_check_rounding(const char *who, const struct aps_format *format,
                       enum aps_rounding rounding, struct aps_error *error)
{
    const bool random =
        rounding == APS_ROUND_STOCHASTIC || rounding == APS_ROUND_CORRELATED;

    if (format->draws == APS_FORMAT_DRAWS_ALWAYS && !random)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: '%s' is rounded by random bits: the rounding "
                             "must be stochastic or correlated",
                             who, format->name);
    if (format->draws == APS_FORMAT_DRAWS_NEVER &&
        rounding != APS_ROUND_NEAREST)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: '%s' keeps signs, which are not rounded: the "
                             "rounding must be nearest",
                             who, format->name);
    return 0;
}

int aps_check_options(const char *who, const struct aps_format *format,
                      const struct aps_cast_options *given,
                      struct aps_cast_options *options, struct aps_error *error)
{
    static const struct aps_cast_options defaults = APS_CAST_OPTIONS_INIT;
    static const struct aps_struct_version kind = {
        .name = "aps_cast_options",
        .init = "APS_CAST_OPTIONS_INIT",
        .first = offsetof(struct aps_cast_options, ranks),
        .size = sizeof defaults,
        .defaults = &defaults,
    };
    struct aps_cast_options result = defaults;

    if (given && aps_struct_version_read(who, &kind, given, &result, error) < 0)
        return -1;
    switch (result.rounding) {
    case APS_ROUND_CPD:
        if (format->kind != APS_FORMAT_IEEE || format->saturate)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: cpd rounds to formats eEmM, not to '%s'",
                                 who, format->name);
        break;
    case APS_ROUND_CORRELATED:
        if (check_ranks(who, &result, error) < 0)
            return -1;
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
    if (result.scale_exponent < -APS_CHECK_EXPONENT ||
        result.scale_exponent > APS_CHECK_EXPONENT)
        return aps_error_set(
            error, EINVAL, NULL, 0, 0,
            "%s: the scale exponent is %" PRId32 " and must be -%d to %d", who,
            result.scale_exponent, APS_CHECK_EXPONENT, APS_CHECK_EXPONENT);
    if (format->self_scaled && result.scale_exponent != 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the scale exponent is %" PRId32
                             " and must be 0: blocks of '%s' scale themselves",
                             who, result.scale_exponent, format->name);
    if (result.offset % (uint64_t)format->block != 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the offset %" PRIu64 " is inside a block of "
                             "'%s': it must be a multiple of %d",
                             who, result.offset, format->name, format->block);
    *options = result;
    return 0;
}
