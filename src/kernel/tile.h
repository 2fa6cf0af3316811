/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long arrays are read: in tiles, after each of which a loop asks what it has
 * seen; and ahead, where that is worth it, since a machine's own prefetch may start
 * anew at every page of 4 KiB, and what it reads of one page is too little for a core
 * to be busy with.
 */
#ifndef APS_KERNEL_TILE_H
#define APS_KERNEL_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/kernel.h"

#define APS_TILE ((size_t)4096) /* floats */

/* Of a sum: summands at a time, which are as many streams as a core follows; and values
 * that wait for more summands in the L2 cache. */
#define APS_SUM_MAX 8
#define APS_SUM_TILE (4 * APS_TILE)

/* By so many floats. Measured, for arrays in memory and in the L2 cache: half of
 * it is too late for memory, twice as much drives out of the L1 cache what is not
 * used yet. */
#define APS_TILE_AHEAD ((size_t)1536)

/* Once a page, a line so much further on is asked for: the page is then in the tables
 * that translate addresses, and the machine's own prefetch begins there. Measured on
 * Intel's Emerald Rapids, pages of 4 KiB: encode takes 0.88 of the time from memory,
 * and 0.96 from the last-level cache. */
#define APS_TILE_PAGE 4096 /* bytes */
#define APS_TILE_PAGE_AHEAD (2 * APS_TILE_PAGE / sizeof(float))

/* Is asking worth it? Measured: on an EPYC of AMD with AVX-512 (Zen 4), whose memory
 * others use, too, a search takes 1.3 times as long with it, an all-reduce of 4 Mi
 * floats 1.13 times with 2 ranks, and of 25.6 Mi 1.2 times with 8 ranks on 2 cores. On
 * one without (Zen 3), in the same order, 0.82, 0.96 and 0.95 times, and 1 Mi floats
 * 0.87; on Intel's Emerald Rapids decoding takes 0.8 of the time. */
APS_INLINE bool aps_tile_asks(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return !__builtin_cpu_is("amd") || !__builtin_cpu_supports("avx512f");
#else
    return true;
#endif
}

/* Ask for x[n], a multiple of a cache line, worth it or not. They need not be
 * there. */
APS_INLINE void aps_tile_ask(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + i);
#else
    (void)x, (void)n;
#endif
}

/* Is x[n] the first of its page, of steps of so many floats? */
APS_INLINE bool aps_tile_begins_page(const aps_any_float *x, size_t n)
{
    return (uintptr_t)x % APS_TILE_PAGE < n * sizeof *x;
}

/* If it is, ask for what a loop will read after x[n], which it reads now. */
APS_INLINE void aps_tile_ask_ahead(const aps_any_float *x, size_t n)
{
    if (!aps_tile_asks())
        return;
    aps_tile_ask(x + APS_TILE_AHEAD, n);
    if (aps_tile_begins_page(x, n))
        aps_tile_ask(x + APS_TILE_PAGE_AHEAD, 1);
}

/* The same for what a loop will write, or read and write. */
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
