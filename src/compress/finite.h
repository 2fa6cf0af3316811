/* SPDX-License-Identifier: BSD-3-Clause */
/* Is there anything that no compressor can send? */
#ifndef APS_COMPRESS_FINITE_H
#define APS_COMPRESS_FINITE_H

#include <stdbool.h>
#include <stddef.h>

/* Are all of x[n] finite: neither INF nor NaN? */
bool aps_compress_finite(const float *x, size_t n);

#endif
