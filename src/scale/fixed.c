/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <stdio.h>

/* The parameter `factor`, as the float that values are multiplied by. */
static double fixed_value(const struct aps_scale *scale)
{
    return (double)(float)scale->parameters[0];
}

static void fixed_describe(const struct aps_scale *scale, char *buffer,
                           size_t size)
{
    snprintf(buffer, size, "%s %g", aps_scale_name(scale), fixed_value(scale));
}

const struct aps_scale_ops aps_scale_ops_fixed = {
    .value = fixed_value,
    .describe = fixed_describe,
};
