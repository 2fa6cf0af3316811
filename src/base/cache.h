/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides from which length on an array is written with streaming
 * (non-temporal) stores: its beginning would leave the caches before another
 * rank reads it. An ordinary store to memory that is not in a cache reads it
 * first and evicts something else; a streaming store does neither.
 *
 * Also: how a rank writes memory that another core has read, and the length of
 * cache lines.
 */
#ifndef APS_BASE_CACHE_H
#define APS_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a cache line, on every CPU for which this library has kernels. */
#define APS_CACHE_LINE 64

/*
 * True if an array of so many bytes is to bypass the caches: as APSMPI_STREAM
 * says, or by the size of the last-level cache and the number of CPUs that
 * share it. Chosen at the first call, the same for all threads. Always false if
 * this build has no streaming stores.
 */
bool aps_cache_passed(size_t bytes);

/* Parses APSMPI_STREAM: the fewest bytes (aps_whole_parse); `off`, which is
 * SIZE_MAX; or `on`, which is 0, the machine's choice. Returns 0, or -1 for any
 * other text. */
int aps_cache_passing_parse(const char *text, size_t *bytes);

/* How a rank writes memory that other ranks read: by measurement
 * (group/store_selector.h), by ordinary stores, or by streaming stores. */
enum aps_cache_handoff {
    APS_CACHE_HANDOFF_AUTO,
    APS_CACHE_HANDOFF_STORE,
    APS_CACHE_HANDOFF_STREAM
};

/* Parses APSMPI_HANDOFF: `auto`, `store` or `stream`. Returns 0, or -1 for any
 * other text. */
int aps_cache_handoff_parse(const char *text, enum aps_cache_handoff *handoff);

/* Returns the value of APSMPI_HANDOFF in this process, `auto` if it is unset;
 * always ordinary stores if this build has no others. */
enum aps_cache_handoff aps_cache_handoff(void);

#endif
