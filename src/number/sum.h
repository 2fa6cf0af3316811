/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of aps_sum, aps_sum_kahan and aps_sum_chunked (aps.h), one for
 * every instruction set. All give identical bits.
 */
#ifndef APS_NUMBER_SUM_H
#define APS_NUMBER_SUM_H

#include "number/format.h"
#include "base/cpu.h"

/* out[i] = sum over t < terms of x[t][i], i < n, in `format`; by Kahan, or in
 * chunks of `chunk` terms (0: one sum), not both. Arguments are not checked;
 * the floating point environment is the default one (base/fpenv.h). */
typedef void (*aps_sum_fn)(const struct aps_format *format, bool kahan,
                           size_t chunk, size_t terms, size_t n,
                           const float *const x[], float *out);

/* Returns the kernel for an instruction set, or NULL if the set is not
 * supported. */
aps_sum_fn aps_sum_kernel(enum aps_cpu cpu);

/* Checks the arguments of the sums, like number/check.h. */
int aps_check_sum(const char *who, const struct aps_format *format,
                  size_t terms, size_t n, const float *const x[],
                  const float *out, struct aps_error *error);
int aps_check_chunk(const char *who, size_t chunk, struct aps_error *error);

#endif
