/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that apsmpi cast is given for a format in blocks: they are one array,
 * rounded when all are known.
 */
#ifndef APS_VERBS_CAST_BLOCKS_H
#define APS_VERBS_CAST_BLOCKS_H

#include <stddef.h>

#include "number/format.h"

/* All zeros: none. */
struct aps_cast_values {
    char **words; /* as they were given */
    float *values;
    size_t count, room;
};

/* -1 if memory is out. */
int aps_cast_values_add(struct aps_cast_values *all, const char *word,
                        float value);

/* One line for each: the word, scale:code (of nvfp4 scale:scale:code), the
 * value, the error. -1 if memory is out. */
int aps_cast_values_print(const struct aps_cast_values *all,
                          const struct aps_format *format,
                          const struct aps_cast_options *options);

void aps_cast_values_clear(struct aps_cast_values *all);

#endif
