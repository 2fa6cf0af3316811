/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mx-...: the formats of the OCP Microscaling Formats (MX) Specification 1.0:
 * 32 elements share a power of two.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/family.h"

#define BLOCK 32

/* Columns: the name after a "t" or a "T". */
#define MX_FORMATS                                                             \
    "he MX formats are mx-e5m2, mx-e4m3fn, mx-e3m2fn, mx-e2m3fn, mx-e2m1fn "   \
    "and mx-int8"

/* Floats, and integers with six fractional bits. */
static const char *const elements[] = {"e5m2",   "e4m3fn", "e3m2fn",
                                       "e2m3fn", "e2m1fn", "int8"};

static void mx_element(const char *name, struct aps_format *format)
{
    if (strcmp(name, "int8") == 0)
        aps_format_fixed(format, 7, 0);
    else
        (void)aps_family_float.parse(name, format, NULL);
}

static int mx_parse(const char *name, struct aps_format *format,
                    struct aps_error *error)
{
    struct aps_format result = {.bias = 0};

    if (strncmp(name, "mx-", 3) != 0)
        return 0;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (strcmp(name + 3, elements[i]) != 0)
            continue;
        mx_element(elements[i], &result);
        result.upper = 0;
        result.saturate = true;
        result.has_inf = false;
        result.has_nan = true;
        result.marks = false;
        result.self_scaled = true;
        result.block = BLOCK;
        result.scale_bytes = 1;
        snprintf(result.name, sizeof result.name, "mx-%s", elements[i]);
        *format = result;
        return 1;
    }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const size_t length = strlen(elements[i]) - 2;

        if (strncmp(name + 3, elements[i], length) == 0 &&
            name[3 + length] == '\0' && strcmp(elements[i] + length, "fn") == 0)
            return aps_name_error(
                error, name, "did you mean 'mx-%s'? T" MX_FORMATS, elements[i]);
    }
    return aps_name_error(error, name, "%s", "t" MX_FORMATS);
}

const struct aps_family_ops aps_family_mx = {
    .names = "mx-e5m2, mx-e4m3fn, mx-e3m2fn, mx-e2m3fn, mx-e2m1fn, mx-int8",
    .parse = mx_parse,
};
