/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of floats: on a command line, and in a table of tensors.
 */
#ifndef APS_PMPI_BENCH_SIZES_H
#define APS_PMPI_BENCH_SIZES_H

#include <stddef.h>

#define APS_BENCH_TENSORS 4096
#define APS_BENCH_ERROR 512 /* size of a buffer for the cause of an error */

/* Reads "4096", "64Ki" or "25.6Mi": the nearest whole number of floats. Returns
 * 0, or -1 if the text is not a size. */
int aps_bench_read_size(const char *text, size_t *size);

/* Reads the column `count` of a layer table whose names have no commas (without a
 * header the third column); skips empty lines and those that begin with a #. The caller
 * frees *tensors. Returns 0, or -1 with the cause in `error` (APS_BENCH_ERROR
 * bytes). */
int aps_bench_read_tensors(const char *path, size_t **tensors, int *count,
                           char *error);

#endif
