/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flexN: integers of N bits in two's complement; the scale's exponent makes
 * them numbers (Koester et al.: Flexpoint, arXiv 1711.02213).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"
#include "number/integer.h"

static int integer_parse(const char *name, struct aps_format *format,
                         struct aps_error *error)
{
    struct aps_format result = {.block = 1, .marks = true};
    const char *s = name + 4;
    int bits;

    if (strncmp(name, "flex", 4) != 0 || !aps_name_number(&s, &bits))
        return 0;
    if (*s && strcmp(name, "flex16+5") != 0)
        return 0;
    if (bits != 8 && bits != 16)
        return aps_name_error(error, name,
                              "the formats of integers are flex8 and flex16");
    aps_format_fixed(&result, bits - 1, 2 - bits);
    result.upper = bits - 2;
    snprintf(result.name, sizeof result.name, "flex%d", bits);
    *format = result;
    return 1;
}

static uint32_t integer_encode(const struct aps_format *format, uint32_t bits)
{
    return aps_integer_complete(
        format, bits,
        aps_integer_magnitude(bits & ~APS_FLOAT_SIGN, 0, APS_ROUND_NEAREST, 0));
}

static uint32_t integer_decode(const struct aps_format *format, uint32_t code)
{
    return aps_float_bits((float)aps_integer_value(format, code));
}

const struct aps_family_ops aps_family_integer = {
    .names = "flex8, flex16",
    .parse = integer_parse,
    .encode = integer_encode,
    .decode = integer_decode,
};
