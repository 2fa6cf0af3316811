/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a way does to values: scale exponents, the rounding of a block that is
 * sent, the sum of several. One value at a time, in doubles.
 */
#ifndef APS_TEST_ROUNDING_H
#define APS_TEST_ROUNDING_H

#include <stddef.h>

#include "reduction_spec.h"

/*
 * The scale exponent of a stage of `count` ranks that bring x[count][n]:
 * Algorithm 1 of the APS paper; 0 for the scales that have none.
 */
int stage_exponent(const struct way *way, int count, const float *const x[],
                   size_t n);

/* y[n]: what a receiver decodes of the block of x[n]. May be in place. */
void send_block(const struct way *way, int exponent, size_t n, const float *x,
                float *y);

/* sum[n] + x[n], and for ACCUMULATE_FORMAT what is left of it in the format. */
void add_values(const struct way *way, int exponent, size_t n, const float *x,
                float *sum);

/* sum[n] of the blocks of x[count][n], in that order. */
void sum_blocks(const struct way *way, int exponent, int count,
                const float *const x[], size_t n, float *sum);

#endif
