/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sign/B: B values share a scale in FP32, their mean magnitude, and each is a
 * bit, its sign (Bernstein et al. 2018, arXiv 1802.04434; with this scale:
 * Karimireddy et al. 2019, arXiv 1901.09847).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"

static int sign_parse(const char *name, struct aps_format *format,
                      struct aps_error *error)
{
    const char *s = name + 5;
    struct aps_format result = {.bias = 1};
    int block;

    if (strcmp(name, "sign") == 0)
        return aps_name_error(
            error, name, "how many values share a scale is missing: sign/512");
    if (strncmp(name, "sign/", 5) != 0)
        return 0;
    if (!aps_name_number(&s, &block) || *s)
        return aps_name_error(error, name,
                              "sign/B is written with a number: sign/512");
    if (aps_name_block(error, name, block, &result) < 0)
        return -1;
    aps_format_fixed(&result, 0, 1);
    result.max = 1;
    result.levels = 1;
    result.draws = APS_FORMAT_DRAWS_NEVER;
    result.has_nan = true;
    result.self_scaled = true;
    result.scale_bytes = 4;
    snprintf(result.name, sizeof result.name, "sign/%d", block);
    *format = result;
    return 1;
}

const struct aps_family_ops aps_family_sign = {
    .names = "sign/B (sign/512, ...)",
    .parse = sign_parse,
};
