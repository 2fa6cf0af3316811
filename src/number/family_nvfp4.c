/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvfp4: 16 values e2m1fn share a scale e4m3fn, and all blocks of a piece share
 * a scale in FP32, which precedes the first block.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"

#define BLOCK 16

static int nvfp4_parse(const char *name, struct aps_format *format,
                       struct aps_error *error)
{
    struct aps_format result;

    if (strcmp(name, "nvfp4") != 0 ||
        aps_family_float.parse("e2m1fn", &result, error) != 1)
        return 0;
    result.upper = 0;
    result.has_nan = true;
    result.marks = false;
    result.self_scaled = true;
    result.block = BLOCK;
    result.scale_bytes = 1;
    result.piece_bytes = 4;
    snprintf(result.name, sizeof result.name, "nvfp4");
    *format = result;
    return 1;
}

const struct aps_family_ops aps_family_nvfp4 = {
    .names = "nvfp4",
    .parse = nvfp4_parse,
};
