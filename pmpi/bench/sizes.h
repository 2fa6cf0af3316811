/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of floats: on a command line, and in a table of tensors.
 */
#ifndef APS_BENCH_SIZES_H
#define APS_BENCH_SIZES_H

#include <stddef.h>

#define SIZES_TENSORS 4096
#define SIZES_ERROR 256

/* Reads "4096", "64Ki" or "25.6Mi": the nearest whole number of floats. Returns
 * 0, or -1 if the text is not a size. */
int sizes_read(const char *text, size_t *size);

/* Reads the column `count` of a layer table whose names have no commas (without a
 * header the third column); skips empty lines and those that begin with a #. The caller
 * frees *tensors. Returns 0, or -1 with the cause in `error` (SIZES_ERROR bytes). */
int sizes_read_tensors(const char *path, size_t **tensors, int *count,
                       char *error);

#endif
