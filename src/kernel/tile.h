/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads long arrays in tiles, so that a loop can check its values after each
 * tile. If prefetches are worth it, the loop also prefetches: the hardware
 * prefetcher may start again at every page of 4 KiB, and the lines that it reads
 * of one page do not keep a core busy.
 */
#ifndef APS_KERNEL_TILE_H
#define APS_KERNEL_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/kernel.h"

#define APS_TILE ((size_t)4096) /* floats */

/* For sums: summands at a time, which are as many streams as a core follows;
 * and values that wait for more summands in the L2 cache. */
#define APS_SUM_MAX 8
#define APS_SUM_TILE (4 * APS_TILE)

/* Distance of prefetches, in floats. Measured, for arrays in memory and in the
 * L2 cache: half of it is too late for memory, and twice as much evicts unused
 * lines from the L1 cache. */
#define APS_TILE_AHEAD ((size_t)1536)

/* Once for each page, a line at this distance is prefetched: its translation is
 * then in the TLB, and the hardware prefetcher begins there. Measured on
 * Intel's Emerald Rapids, pages of 4 KiB: encode takes 0.88 of the time from
 * memory, and 0.96 from the last-level cache. */
#define APS_TILE_PAGE 4096 /* bytes */
#define APS_TILE_PAGE_AHEAD (2 * APS_TILE_PAGE / sizeof(float))

/*
 * True if prefetches are worth it. Measured: on an AMD EPYC with AVX-512 (Zen
 * 4), whose memory was shared with others, a search takes 1.3 times as long
 * with them, an all-reduce of 4 Mi floats 1.13 times with 2 ranks, and of 25.6
 * Mi 1.2 times with 8 ranks on 2 cores. On an EPYC without AVX-512 (Zen 3), in
 * the same order, 0.82, 0.96 and 0.95 times, and 1 Mi floats 0.87; on Intel's
 * Emerald Rapids decoding takes 0.8 of the time.
 */
APS_INLINE bool aps_tile_asks(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return !__builtin_cpu_is("amd") || !__builtin_cpu_supports("avx512f");
#else
    return true;
#endif
}

/* Prefetches x[n], a multiple of a cache line, in any case. The memory need not
 * exist. */
APS_INLINE void aps_tile_ask(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + i);
#else
    (void)x, (void)n;
#endif
}

/* True if x[n] is the first of its page, in steps of n floats. */
APS_INLINE bool aps_tile_begins_page(const aps_any_float *x, size_t n)
{
    return (uintptr_t)x % APS_TILE_PAGE < n * sizeof *x;
}

/* If prefetches are worth it, prefetches the values that a loop will read after
 * x[n], which it reads now. */
APS_INLINE void aps_tile_ask_ahead(const aps_any_float *x, size_t n)
{
    if (!aps_tile_asks())
        return;
    aps_tile_ask(x + APS_TILE_AHEAD, n);
    if (aps_tile_begins_page(x, n))
        aps_tile_ask(x + APS_TILE_PAGE_AHEAD, 1);
}

/* Prefetches the values that a loop will write, or read and write, like
 * aps_tile_ask_ahead. */
APS_INLINE void aps_tile_ask_to_write(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    if (!aps_tile_asks())
        return;
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + APS_TILE_AHEAD + i, 1);
    if (aps_tile_begins_page(x, n))
        __builtin_prefetch(x + APS_TILE_PAGE_AHEAD, 1);
#else
    (void)x, (void)n;
#endif
}

#endif
