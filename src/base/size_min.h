/* SPDX-License-Identifier: BSD-3-Clause */
/* The smaller of two sizes: what is left of an array, and a piece of it. */
#ifndef APS_BASE_SIZE_MIN_H
#define APS_BASE_SIZE_MIN_H

#include <stddef.h>

static inline size_t aps_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
