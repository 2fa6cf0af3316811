/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "number/bits.h"
#include "number/family.h"

/* True if the format is in blocks, so that a value has no code of its own. */
static bool value_is_shared(const struct aps_format *format)
{
    if (format->block == 1)
        return false;
    errno = EINVAL;
    return true;
}

uint32_t aps_encode(const struct aps_format *format, float x)
{
    if (value_is_shared(format))
        return UINT32_MAX;
    return aps_families[format->family]->encode(format, aps_float_bits(x));
}

float aps_decode(const struct aps_format *format, uint32_t code)
{
    if (value_is_shared(format))
        return NAN;
    return aps_float_from_bits(
        aps_families[format->family]->decode(format, code));
}

float aps_cast(const struct aps_format *format, float x)
{
    return aps_decode(format, aps_encode(format, x));
}
