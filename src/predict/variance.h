/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Share of its variance that a sum keeps if its partial sums are rounded to few
 * mantissa bits: Sakr et al., "Accumulation Bit-Width Scaling for Ultra-Low
 * Precision Training of Deep Networks" (ICLR 2019, arXiv 1901.06588), Theorem 1
 * and Corollary 1.
 */
#ifndef APS_PREDICT_VARIANCE_H
#define APS_PREDICT_VARIANCE_H

#include <stddef.h>

/* Returns the variance retention ratio, from 0 to 1, of a sum of n values with
 * `value_bits` mantissa bits in partial sums with `sum_bits`. */
double aps_variance_retained(int sum_bits, int value_bits, size_t n);

/* Returns the ratio if chunks of `chunk` values are summed first; 0: no
 * chunks. */
double aps_variance_retained_chunked(int sum_bits, int value_bits, size_t n,
                                     size_t chunk);

/* A sum over groups: the values of each group are summed, and then the sums of
 * the groups, which are sent with the mantissa bits of the values. */
struct aps_variance_sum {
    int value_bits; /* mantissa bits of the values */
    size_t group;   /* values of a group */
    size_t groups;  /* 1: no second sum */
    size_t chunk;   /* values of a chunk in both sums; 0: no chunks */
};

/* Returns the ratio of both sums together: the share that the second one keeps
 * of the share that the first one has kept. */
double aps_variance_retained_grouped(int sum_bits,
                                     const struct aps_variance_sum *sum);

/* Returns the least mantissa bits of partial sums whose ratio passes the test;
 * 24 if not even FP32 does. For plain sums these are the widths of the paper's
 * Table 1; for sums in chunks they are those, or one bit more. */
int aps_variance_bits(const struct aps_variance_sum *sum);

#endif
