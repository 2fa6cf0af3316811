/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/explain.h"
#include "scale/scale.h"

static bool none_doubt(const struct aps_scale *scale,
                       const struct aps_format *format, char *buffer,
                       size_t size)
{
    (void)scale;
    return aps_scale_warning_constant("without a scale", "", 1, format, buffer,
                                      size);
}

/* Values are neither measured nor multiplied, and ranks agree on no
 * exponent. */
const struct aps_scale_ops aps_scale_ops_none = {.doubt = none_doubt};
