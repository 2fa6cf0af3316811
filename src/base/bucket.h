/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the bucket of a number in a hash table of 2^bits buckets, 0 < bits <
 * 64: multiplicative hashing by the golden ratio (Knuth, TAOCP 3, 6.4).
 * Consecutive numbers, such as counts and handles, get distant buckets.
 */
#ifndef APS_BASE_BUCKET_H
#define APS_BASE_BUCKET_H

#include <stddef.h>
#include <stdint.h>

static inline size_t aps_bucket(uint64_t number, int bits)
{
    return (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
}

#endif
