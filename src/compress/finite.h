/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds values that no compressor can send. */
#ifndef APS_COMPRESS_FINITE_H
#define APS_COMPRESS_FINITE_H

#include <stdbool.h>
#include <stddef.h>

/* True if all of x[n] are finite, neither INF nor NaN. */
bool aps_compress_finite(const float *x, size_t n);

#endif
