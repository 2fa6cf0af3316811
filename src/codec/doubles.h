/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of double beside FP32 values: conversions and sums, any alignment, the same
 * bits for every instruction set. cpu: aps_cpu_chosen(), tests use others.
 */
#ifndef APS_CODEC_DOUBLES_H
#define APS_CODEC_DOUBLES_H

#include <stddef.h>

#include "base/cpu.h"

/* y[n] = x[n], rounded to nearest even; beyond FP32 it is INF. */
void aps_doubles_round(const double *x, size_t n, enum aps_cpu cpu, float *y);

/* y[n] = x[n], exactly. */
void aps_doubles_widen(const float *x, size_t n, enum aps_cpu cpu, double *y);

/* sum[n] += x[n], in FP64. */
void aps_doubles_add(const float *x, size_t n, enum aps_cpu cpu, double *sum);

#endif
