/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values for apsmpi cast in a format in blocks: they form one array, which is
 * rounded when all values are known.
 */
#ifndef APS_VERBS_CAST_BLOCKS_H
#define APS_VERBS_CAST_BLOCKS_H

#include <stddef.h>

#include "number/format.h"

/* {0} has no values. */
struct aps_cast_values {
    char **words; /* as given */
    float *values;
    size_t count, room;
};

/* Returns 0, or -1 if memory is missing. */
int aps_cast_values_add(struct aps_cast_values *all, const char *word,
                        float value);

/* Prints a line for each value: the word, scale:code (for nvfp4
 * scale:scale:code), the value, the error. Returns -1 if memory is missing. */
int aps_cast_values_print(const struct aps_cast_values *all,
                          const struct aps_format *format,
                          const struct aps_cast_options *options);

void aps_cast_values_clear(struct aps_cast_values *all);

#endif
