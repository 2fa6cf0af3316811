/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qsgdS/B, intB/BUCKET: a block of values shares a scale in FP32, and each
 * value has a sign and a level, 0 to S, of S equal steps. QSGD (Alistarh et al.
 * 2017, arXiv 1610.02132, section 3.1) draws the level by random bits; intB,
 * whose S is 2^(B-1)-1, rounds it to nearest.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"

/* A code has at most two bytes, so that a block of two values is no longer than
 * in FP32. */
#define BITS_MAX 16
#define LEVELS_MAX ((1 << (BITS_MAX - 1)) - 1)

/* Returns the smallest m with 2^m > levels. */
static int levels_bits(int levels)
{
    int bits = 0;

    while (levels >> bits > 0)
        bits++;
    return bits;
}

/* Returns the levels of an "int" or "qsgd" with this number, or -1. */
static int levels_of(const char *name, bool draws, int number,
                     struct aps_error *error)
{
    if (draws && (number < 1 || number > LEVELS_MAX))
        return aps_name_error(error, name, "qsgd's levels must be 1 to %d",
                              LEVELS_MAX);
    if (!draws && (number < 2 || number > BITS_MAX))
        return aps_name_error(error, name,
                              "int's bits, the sign included, must be 2 to %d",
                              BITS_MAX);
    return draws ? number : (1 << (number - 1)) - 1;
}

static int levels_parse(const char *name, struct aps_format *format,
                        struct aps_error *error)
{
    const bool draws = strncmp(name, "qsgd", 4) == 0;
    const char *example = draws ? "qsgd7/512" : "int8/512";
    const char *s = name + (draws ? 4 : 3);
    struct aps_format result = {.bias = 1};
    int number, levels, block;

    if ((!draws && strncmp(name, "int", 3) != 0) ||
        !aps_name_number(&s, &number))
        return 0;
    levels = levels_of(name, draws, number, error);
    if (levels < 0)
        return -1;
    if (!*s)
        return aps_name_error(
            error, name, "how many values share a scale is missing: %s/512",
            name);
    if (*s++ != '/' || !aps_name_number(&s, &block) ||
        (*s && (!draws || strcmp(s, "-l2") != 0)))
        return aps_name_error(error, name, "%s is written with two numbers: %s",
                              draws ? "qsgdS/B, or qsgdS/B-l2," : "intB/BUCKET",
                              example);
    if (aps_name_block(error, name, block, &result) < 0)
        return -1;
    aps_format_fixed(&result, levels_bits(levels), 1);
    result.max = 1;
    result.levels = levels;
    result.norm2 = *s != '\0';
    result.draws = draws ? APS_FORMAT_DRAWS_ALWAYS : APS_FORMAT_DRAWS_IF_ASKED;
    result.has_nan = true;
    result.self_scaled = true;
    result.scale_bytes = 4;
    snprintf(result.name, sizeof result.name, "%s%d/%d%s",
             draws ? "qsgd" : "int", number, block, s);
    *format = result;
    return 1;
}

const struct aps_family_ops aps_family_levels = {
    .names = "qsgdS/B, qsgdS/B-l2 (qsgd7/512, ...), intB/BUCKET (int8/512, "
             "...)",
    .parse = levels_parse,
};
