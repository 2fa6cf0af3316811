/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bfpM/B: B values share an exponent of eight bits, and each has a sign and a
 * magnitude of M bits. hbfpM/B counts the sign among the M bits, like HBFP's
 * authors for convolutional networks.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"

/* A step is 2^(e - M) with e >= -125: a multiple of the smallest float. */
#define MAGNITUDE_BITS_MAX 24

static int bfp_parse(const char *name, struct aps_format *format,
                     struct aps_error *error)
{
    const int sign = name[0] == 'h';
    const char *s = name + sign;
    struct aps_format result = {.bias = 1};
    int bits, block;

    if (strncmp(s, "bfp", 3) != 0 || (s += 3, !aps_name_number(&s, &bits)))
        return 0;
    if (bits - sign < 1 || bits - sign > MAGNITUDE_BITS_MAX)
        return aps_name_error(
            error, name, "%sbfp's bits must be %d to %d, %s the sign",
            sign ? "h" : "", 1 + sign, MAGNITUDE_BITS_MAX + sign,
            sign ? "with" : "beside");
    if (!*s)
        return aps_name_error(error, name,
                              "how many values share an exponent is missing: "
                              "%s/64, with %d to %d bits %s the sign and 2 to "
                              "%d values",
                              name, 1 + sign, MAGNITUDE_BITS_MAX + sign,
                              sign ? "with" : "beside", APS_FORMAT_GRANULE_MAX);
    if (*s++ != '/' || !aps_name_number(&s, &block) || *s)
        return aps_name_error(error, name,
                              "bfpM/B is written with two numbers: bfp7/64");
    if (aps_name_block(error, name, block, &result) < 0)
        return -1;
    aps_format_fixed(&result, bits - sign, 1);
    result.has_nan = true;
    result.self_scaled = true;
    result.scale_bytes = 1;
    snprintf(result.name, sizeof result.name, "bfp%d/%d", bits - sign, block);
    *format = result;
    return 1;
}

const struct aps_family_ops aps_family_bfp = {
    .names = "bfpM/B (bfp7/64, hbfp8/576, ...)",
    .parse = bfp_parse,
};
