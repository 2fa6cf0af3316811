/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which large arrays are read. The machine's own prefetch starts
 * anew at every page of 4 KiB, and what it reads of one page is too little for a
 * core to be busy with: so that loops go through four pages, a tile, by turns,
 * and ask for the same place of the next tile.
 */
#ifndef APS_CODEC_TILE_H
#define APS_CODEC_TILE_H

#include <stddef.h>

#include "codec/kernel.h"

#define APS_TILE_PAGE ((size_t)1024) /* floats */
#define APS_TILE_PAGES ((size_t)4)
#define APS_TILE (APS_TILE_PAGE * APS_TILE_PAGES)

/* Ask for n floats that are about to be read, a multiple of a cache line. They
 * need not be there. A few lines at a time: a whole page of them at once is
 * slower than none. */
APS_INLINE void aps_tile_ask(const aps_any_float *x, size_t n)
{
#if defined(__GNUC__)
    for (size_t i = 0; i < n; i += 64 / sizeof *x)
        __builtin_prefetch(x + i);
#else
    (void)x, (void)n;
#endif
}

#endif
