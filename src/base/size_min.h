/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the smaller of two sizes, such as the rest of an array and a piece of
 * it.
 */
#ifndef APS_BASE_SIZE_MIN_H
#define APS_BASE_SIZE_MIN_H

#include <stddef.h>

static inline size_t aps_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
