/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements of an array: gathered, subtracted from the error memory,
 * and summed over the ranks. Indices are ascending, in arrays of at most 2^32 -
 * 1 elements.
 *
 * The arithmetic assumes the default floating point environment (base/fpenv.h).
 */
#ifndef APS_COMPRESS_SPARSE_H
#define APS_COMPRESS_SPARSE_H

#include <stddef.h>
#include <stdint.h>

/* values[i] = x[indices[i]], i < k. */
void aps_sparse_gather(const float *x, const uint32_t *indices, size_t k,
                       float *values);

/* Turns delta into the error memory: delta[indices[i]] = values[i] - sent[i],
 * where values[k] is the result of aps_sparse_gather and sent[k] the values
 * that other ranks decode. sent NULL: they decode `values`, and 0 remains. All
 * other elements stay. */
void aps_sparse_take(float *delta, const uint32_t *indices, size_t k,
                     const float *values, const float *sent);

/* One rank's selected elements. */
struct aps_sparse {
    const uint32_t *indices; /* [count], ascending, below n */
    const float *values;     /* [count] */
    size_t count;
};

/* sum[n] = 0, then sum[indices[i]] += values[i], one FP32 addition each, for
 * rank 0, rank 1, ... `at` has an element for each rank. A piece of the sum
 * that fits the cache is finished before the next is begun. */
void aps_sparse_sum(const struct aps_sparse *ranks, size_t count, size_t n,
                    size_t *at, float *sum);

#endif
