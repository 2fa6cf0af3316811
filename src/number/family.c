/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/family.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/print.h"

#define OPS(family, ops) [APS_FAMILY_##family] = &aps_family_##ops,
const struct aps_family_ops *const aps_families[APS_FAMILY_KINDS] = {
    APS_FAMILIES(OPS)};

bool aps_name_number(const char **s, int *number)
{
    const char *p = *s;
    int value = 0;

    if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value <= 99999)
            value = 10 * value + (*p - '0');
    }
    *s = p;
    *number = value;
    return true;
}

int aps_name_error(struct aps_error *error, const char *name,
                   const char *reason, ...)
{
    char text[480];
    va_list values;

    va_start(values, reason);
    aps_vprint(text, sizeof text, reason, values);
    va_end(values);
    return aps_error_set(error, EINVAL, NULL, 0, 0, "format '%s': %s", name,
                         text);
}

int aps_name_block(struct aps_error *error, const char *name, int block,
                   struct aps_format *format)
{
    struct aps_format result = *format;

    if (block < 2 || block > APS_FORMAT_GRANULE_MAX)
        return aps_name_error(error, name,
                              "a block must have 2 to %d values, not %d",
                              APS_FORMAT_GRANULE_MAX, block);
    result.block = block;
    if (aps_format_granule(&result) > APS_FORMAT_GRANULE_MAX)
        return aps_name_error(
            error, name,
            "blocks of %d values end at a multiple of 64 values only every "
            "%zu: it must be at most %d (take a multiple of 64, or of 32)",
            block, aps_format_granule(&result), APS_FORMAT_GRANULE_MAX);
    *format = result;
    return 0;
}

void aps_format_fixed(struct aps_format *format, int bits, int bias)
{
    format->exponent_bits = 0;
    format->mantissa_bits = bits;
    format->width = 1 + bits;
    format->bias = bias;
    format->kind = APS_FORMAT_FINITE;
    format->saturate = true;
    format->max = (float)ldexp((double)((1 << bits) - 1), 1 - bias - bits);
}
