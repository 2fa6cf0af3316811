/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sample layer table of the source tree.
 */
#ifndef APS_TESTS_UNIT_COMMON_SAMPLE_TABLE_H
#define APS_TESTS_UNIT_COMMON_SAMPLE_TABLE_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/tap/tap.h"

/* Opens config/layers/resnet50-layers.csv, which the caller closes. Ends the
 * test if the file cannot be read. */
static inline FILE *open_resnet50(void)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/config/layers/resnet50-layers.csv",
             top ? top : ".");
    file = fopen(path, "r");
    if (!file)
        bail_out("cannot open %s", path);
    return file;
}

#endif
