/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of its variance a sum keeps whose partial sums are rounded to few
 * mantissa bits: Sakr et al., "Accumulation Bit-Width Scaling for Ultra-Low
 * Precision Training of Deep Networks" (ICLR 2019, arXiv 1901.06588), Theorem 1
 * and Corollary 1.
 */
#ifndef APS_PREDICT_VARIANCE_H
#define APS_PREDICT_VARIANCE_H

#include <stddef.h>

/* The variance retention ratio of a sum of n values of `value_bits` mantissa bits
 * in partial sums of `sum_bits`, from 0 to 1. */
double aps_variance_retained(int sum_bits, int value_bits, size_t n);

/* The same where chunks of so many values are summed first; 0: they are not. */
double aps_variance_retained_chunked(int sum_bits, int value_bits, size_t n,
                                     size_t chunk);

/* A sum over groups: that of each group's values, and that of the groups' sums, which
 * go there with as many mantissa bits as the values have. */
struct aps_variance_sum {
    int value_bits; /* mantissa bits of the values */
    size_t group;   /* values of a group */
    size_t groups;  /* 1: no other sum follows */
    size_t chunk;   /* both are sums in chunks of so many; 0: they are not */
};

/* The ratio of both together: what the second sum keeps of what the first one has
 * kept. */
double aps_variance_retained_grouped(int sum_bits,
                                     const struct aps_variance_sum *sum);

/* The paper's test of a sum: exp(n (1 - ratio)) < 50. */
int aps_variance_is_kept(double retained, size_t n);

/* The least mantissa bits of partial sums whose ratio passes it; 24 where not even
 * FP32's do. For plain sums these are the widths of the paper's Table 1; for sums in
 * chunks they are those, or one bit more. */
int aps_variance_bits(const struct aps_variance_sum *sum);

#endif
