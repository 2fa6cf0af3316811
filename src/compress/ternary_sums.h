/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's sums of the ranks' values (compress/ternary.h), packed. All functions give
 * the same bits with every instruction set.
 */
#ifndef APS_COMPRESS_TERNARY_SUMS_H
#define APS_COMPRESS_TERNARY_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* Returns the bits of a sum of `ranks` ranks' values, ceil(log2(2 ranks + 1)),
 * and the bytes of n sums. */
unsigned aps_ternary_sum_bits(int ranks);
size_t aps_ternary_sum_bytes(int ranks, size_t n);

/* Packs sum[n], each -ranks ... ranks, for at most APS_TERNARY_RANKS ranks, as
 * sum + ranks, the least significant bit first within a byte. */
void aps_ternary_sum_pack(const int16_t *sum, size_t n, int ranks,
                          uint8_t *wire);

/* y[n] = sum[n] times the scaler, with the bits of aps_ternary_sum_decode. */
void aps_ternary_sum_scale(const int16_t *sum, size_t n, float scaler,
                           float *y);

/* sum[n] += the packed sums of `ranks` ranks; exact as long as a sum has digits
 * of at most APS_TERNARY_RANKS ranks. */
void aps_ternary_sum_add(const uint8_t *wire, size_t n, int ranks,
                         enum aps_cpu cpu, int16_t *sum);

/* y[n] = the packed sums times the scaler: one rounding to FP32 each. */
void aps_ternary_sum_decode(const uint8_t *wire, size_t n, int ranks,
                            float scaler, enum aps_cpu cpu, float *y);

#endif
