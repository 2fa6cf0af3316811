/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/bits.h"
#include "number/cast.h"
#include "number/format.h"

uint32_t aps_encode(const struct aps_format *format, float x)
{
    return aps_cast_encode(format, aps_float_bits(x), 0);
}

float aps_decode(const struct aps_format *format, uint32_t code)
{
    return aps_float_from_bits(aps_cast_decode(format, code));
}

float aps_cast(const struct aps_format *format, float x)
{
    return aps_decode(format, aps_encode(format, x));
}
