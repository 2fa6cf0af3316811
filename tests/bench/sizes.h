/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many floats: on a command line, and in a table of tensors.
 */
#ifndef APS_BENCH_SIZES_H
#define APS_BENCH_SIZES_H

#include <stddef.h>

#define SIZES_TENSORS 4096
#define SIZES_ERROR 256

/* "4096", "64Ki", "25.6Mi": the nearest whole number of floats. -1: it is
 * none. */
int sizes_read(const char *text, size_t *size);

/* The column `count` of a layer table whose names have no commas (without a header
 * the third one); empty lines and those that begin with a # are passed over. The
 * caller frees *tensors. -1, and why in `error` (SIZES_ERROR bytes). */
int sizes_read_tensors(const char *path, size_t **tensors, int *count,
                       char *error);

#endif
