/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversions between doubles and FP32 values, and FP64 sums of FP32 values: any
 * alignment, the same bits for every instruction set. cpu: aps_cpu_chosen(), tests use
 * others.
 */
#ifndef APS_CODEC_DOUBLES_H
#define APS_CODEC_DOUBLES_H

#include <stddef.h>

#include "base/cpu.h"

/* y[n] = x[n], rounded to nearest even; beyond FP32 it is INF. */
void aps_doubles_round(const double *x, size_t n, enum aps_cpu cpu, float *y);

/* y[n] = x[n], exactly. */
void aps_doubles_widen(const float *x, size_t n, enum aps_cpu cpu, double *y);

/* sum[n] += x[n], in FP64. A NaN becomes the positive canonical one. */
void aps_doubles_add(const float *x, size_t n, enum aps_cpu cpu, double *sum);

#endif
