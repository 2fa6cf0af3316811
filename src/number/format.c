/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/format.h"

#include <stdint.h>

#include "number/bits.h"

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

const char *aps_format_name(const struct aps_format *format)
{
    return format->name;
}

int aps_format_exponent_bits(const struct aps_format *format)
{
    return format->exponent_bits;
}

int aps_format_mantissa_bits(const struct aps_format *format)
{
    return format->mantissa_bits;
}

int aps_format_width(const struct aps_format *format)
{
    return format->width;
}

int aps_format_bias(const struct aps_format *format)
{
    return format->bias;
}

int aps_format_block(const struct aps_format *format)
{
    return format->block;
}

bool aps_format_has_inf(const struct aps_format *format)
{
    return format->has_inf;
}

bool aps_format_has_nan(const struct aps_format *format)
{
    return format->has_nan;
}

bool aps_format_saturates(const struct aps_format *format)
{
    return format->saturate;
}

float aps_format_max(const struct aps_format *format)
{
    return format->max;
}

double aps_format_min_normal(const struct aps_format *format)
{
    return aps_double_pow2(1 - format->bias);
}

double aps_format_min_positive(const struct aps_format *format)
{
    if (aps_format_max(format) == 0)
        return 0;
    if (format->levels > 0)
        return 1. / format->levels;
    return aps_double_pow2(1 - format->bias - format->mantissa_bits);
}

/* ceil(n * width / 8), or SIZE_MAX: eight values are `width` bytes. */
static size_t code_bytes(size_t width, size_t n)
{
    size_t bytes;

    if (__builtin_mul_overflow(n / 8, width, &bytes) ||
        __builtin_add_overflow(bytes, (n % 8 * width + 7) / 8, &bytes))
        return SIZE_MAX;
    return bytes;
}

size_t aps_packed_bytes(const struct aps_format *format, size_t n)
{
    size_t width = (size_t)format->width, block = (size_t)format->block;
    size_t scale = (size_t)format->scale_bytes, rest = n % block, bytes;

    if (block == 1)
        return code_bytes(width, n);
    if (n == 0)
        return 0;
    if (__builtin_mul_overflow(n / block, scale + code_bytes(width, block),
                               &bytes) ||
        __builtin_add_overflow(
            bytes, rest > 0 ? scale + code_bytes(width, rest) : 0, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)format->piece_bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}
