/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/format.h"

size_t aps_format_granule(const struct aps_format *format)
{
    size_t a = APS_FORMAT_LINE, b = (size_t)format->block;

    while (b > 0) {
        const size_t rest = a % b;

        a = b;
        b = rest;
    }
    return APS_FORMAT_LINE / a * (size_t)format->block;
}

double aps_format_bits(const struct aps_format *format)
{
    const int block = format->block;
    const int bytes = format->scale_bytes + (block * format->width + 7) / 8;

    return block == 1 ? format->width : 8. * bytes / block;
}
