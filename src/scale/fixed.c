/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/explain.h"
#include "scale/scale.h"

#include <stdio.h>

#include "base/print.h"

/* Returns the parameter `factor`, as the float that multiplies values. */
static double fixed_value(const struct aps_scale *scale)
{
    return (double)(float)scale->parameters[0];
}

static void fixed_describe(const struct aps_scale *scale, char *buffer,
                           size_t size)
{
    aps_print(buffer, size, "%s %g", aps_scale_name(scale), fixed_value(scale));
}

static bool fixed_doubt(const struct aps_scale *scale,
                        const struct aps_format *format, char *buffer,
                        size_t size)
{
    char name[32], how[48];

    fixed_describe(scale, name, sizeof name);
    snprintf(how, sizeof how, "with scale %s", name);
    return aps_scale_warning_constant(how, "", fixed_value(scale), format,
                                      buffer, size);
}

const struct aps_scale_ops aps_scale_ops_fixed = {
    .value = fixed_value,
    .describe = fixed_describe,
    .doubt = fixed_doubt,
};
