/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of a number in a hash table of 2^bits places, 0 < bits < 64:
 * multiplicative hashing by the golden ratio (Knuth, TAOCP 3, 6.4). Numbers that
 * follow each other, as counts and handles do, lie far apart.
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
