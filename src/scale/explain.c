/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/print.h"

char *aps_scale_explain_number(double x, char buffer[APS_SCALE_NUMBER_MAX])
{
    int exponent;

    if (frexp(x, &exponent) == 0.5 && (exponent > 5 || exponent < -2))
        snprintf(buffer, APS_SCALE_NUMBER_MAX, "2^%d", exponent - 1);
    else
        aps_print(buffer, APS_SCALE_NUMBER_MAX, "%g", x);
    return buffer;
}

const char *aps_scale_explain_turn(const struct aps_scale *scale)
{
    return aps_scale_scope(scale) == APS_SCOPE_MODEL ? "step" : "call";
}

static const char *behave_overflow(const struct aps_scale *scale,
                                   const struct aps_format *format)
{
    switch (aps_scale_on_overflow(scale)) {
    case APS_OVERFLOW_REDO:
        return "A chunk in which a value overflows is reduced again with aps.";
    case APS_OVERFLOW_INF:
        return format->has_inf ? "A value that overflows arrives as INF."
                               : "A value that overflows arrives as NaN.";
    case APS_OVERFLOW_SATURATE:
        return "A value that overflows arrives as the largest one.";
    case APS_OVERFLOW_ZERO:
        return "A layer in which a value overflows arrives as zeros.";
    }
    return "";
}

static const char *behave_scope(const struct aps_scale *scale, bool layers)
{
    if (aps_scale_scope(scale) == APS_SCOPE_MODEL)
        return "All layers of the rule share the scale.";
    return layers ? "Each layer has a scale of its own."
                  : "The policy looks for no steps: all layers of the same "
                    "size share a scale (with 'steps: auto' beside 'rules', "
                    "each has its own).";
}

char *aps_scale_explain(const struct aps_scale *scale,
                        const struct aps_format *format, bool layers,
                        char *buffer, size_t size)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);
    size_t used;

    buffer[0] = '\0';
    if (!ops->behave)
        return buffer;
    ops->behave(scale, format, buffer, size);
    used = strlen(buffer);
    snprintf(buffer + used, size - used, " %s %s", behave_scope(scale, layers),
             behave_overflow(scale, format));
    return buffer;
}

bool aps_scale_warning_constant(const char *how, const char *unit,
                                double factor, const struct aps_format *format,
                                char *buffer, size_t size)
{
    const double smallest = aps_format_min_positive(format);

    if (smallest < factor)
        return false;
    aps_print(buffer, size,
              "%s, all values below %g%s arrive as zeros in %s, whose smallest "
              "value is %g; use scale: autoflex",
              how, smallest / factor / 2, unit, format->name, smallest);
    return true;
}

bool aps_scale_warning(const struct aps_scale *scale,
                       const struct aps_format *format, char *buffer,
                       size_t size)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    if (ops->doubt && ops->doubt(scale, format, buffer, size))
        return true;
    if (!ops->state_bytes)
        return false;
    if (aps_scale_on_overflow(scale) != APS_OVERFLOW_INF || format->has_inf)
        return false;
    snprintf(buffer, size,
             "format %s has no INF: with on_overflow: inf, what overflows "
             "arrives as NaN",
             format->name);
    return true;
}
