/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long arrays are read: in tiles, after each of which a loop asks what it has
 * seen; and ahead, since the machine's own prefetch starts anew at every page of
 * 4 KiB, and what it reads of one page is too little for a core to be busy with.
 */
#ifndef APS_CODEC_TILE_H
#define APS_CODEC_TILE_H

#include <stddef.h>

#include "codec/kernel.h"

#define APS_TILE ((size_t)4096) /* floats */

/* By so many floats. Measured, for arrays in memory and in the L2 cache: half of
 * it is too late for memory, twice as much drives out of the L1 cache what is not
 * used yet. */
#define APS_TILE_AHEAD ((size_t)1536)

/* Ask for what a loop will read after x[n], which it reads now: n floats, a
 * multiple of a cache line. They need not be there. */
APS_INLINE void aps_tile_ask_ahead(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + APS_TILE_AHEAD + i);
#else
    (void)x, (void)n;
#endif
}

/* The same for what a loop will write, or read and write. */
APS_INLINE void aps_tile_ask_to_write(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + APS_TILE_AHEAD + i, 1);
#else
    (void)x, (void)n;
#endif
}

#endif
