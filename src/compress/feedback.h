/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error feedback of a rounding: its residual, and the sum with earlier
 * residuals. One FP32 operation for each element, any alignment, the same bits
 * for every instruction set; cpu: aps_cpu_chosen(), tests use others.
 */
#ifndef APS_COMPRESS_FEEDBACK_H
#define APS_COMPRESS_FEEDBACK_H

#include <stddef.h>

#include "base/cpu.h"

/* left[n] = x[n] - sent[n], and 0 if `sent` is INF or NaN: a value beyond the
 * format has no residual. left may be x, or overlap neither array. */
void aps_feedback_left(const float *x, const float *sent, size_t n,
                       enum aps_cpu cpu, float *left);

/* sum[n] += kept[n], which do not overlap. A NaN becomes the positive canonical
 * one. */
void aps_feedback_add(const float *kept, size_t n, enum aps_cpu cpu,
                      float *sum);

#endif
