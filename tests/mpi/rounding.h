/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effect of a way on values: scale exponents, the rounding of a block that is sent,
 * and the sum of several blocks. The code works on one value at a time, in doubles.
 */
#ifndef APS_TEST_ROUNDING_H
#define APS_TEST_ROUNDING_H

#include <stddef.h>

#include "reduction_spec.h"

/*
 * Returns the scale exponent of a stage of `count` ranks with x[count][n]:
 * Algorithm 1 of the APS paper; 0 for scales that have none.
 */
int stage_exponent(const struct way *way, int count, const float *const x[],
                   size_t n);

/* y[n] gets the values that a receiver decodes from the block of x[n]; y may be x. */
void send_block(const struct way *way, int exponent, size_t n, const float *x,
                float *y);

/* Adds x[n] to sum[n]; with ACCUMULATE_FORMAT the sum is rounded to the format. */
void add_values(const struct way *way, int exponent, size_t n, const float *x,
                float *sum);

/* sum[n] gets the sum of the blocks of x[count][n], in that order. */
void sum_blocks(const struct way *way, int exponent, int count,
                const float *const x[], size_t n, float *sum);

#endif
