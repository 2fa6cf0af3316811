/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that tests iterate over: all eEmM, the OCP ones, some with -sat. */
#ifndef APS_TESTS_UNIT_COMMON_FORMATS_H
#define APS_TESTS_UNIT_COMMON_FORMATS_H

#include <stdio.h>

#include "number/format.h"
#include "number/parse.h"
#include "tap/tap.h"

#define FORMATS_IEEE (8 * 24)

/* Returns format i; false after the last. The first FORMATS_IEEE are eEmM. */
static inline bool format_at(int i, struct aps_format *format)
{
    static const char *const others[] = {
        "e4m3fn",   "e3m2fn",   "e2m3fn",   "e2m1fn",    "e4m3fn-sat",
        "e5m2-sat", "e3m0-sat", "e8m7-sat", "e8m23-sat", "e1m3-sat",
    };
    int other = i - FORMATS_IEEE;
    char name[32];

    if (other >= (int)(sizeof others / sizeof *others))
        return false;
    if (other >= 0)
        snprintf(name, sizeof name, "%s", others[other]);
    else
        snprintf(name, sizeof name, "e%dm%d", 1 + i / 24, i % 24);
    if (aps_format_parse(name, format, NULL) < 0)
        bail_out("%s does not parse", name);
    return true;
}

#endif
