/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels behind aps_sum and aps_sum_kahan (aps.h), once for every
 * instruction set. All give identical bits.
 */
#ifndef APS_NUMBER_SUM_H
#define APS_NUMBER_SUM_H

#include "number/format.h"
#include "base/cpu.h"

/*
 * out[i] = sum over t < terms of x[t][i], i < n, in `format`. Arguments are not
 * checked; the floating point environment is the default one (base/fpenv.h).
 */
typedef void (*aps_sum_fn)(const struct aps_format *format, bool kahan,
                           size_t terms, size_t n, const float *const x[],
                           float *out);

/* The kernel for an instruction set; NULL if it is not supported. */
aps_sum_fn aps_sum_kernel(enum aps_cpu cpu);

#endif
