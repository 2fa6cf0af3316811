/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long an array is that had better not go through the caches: so long that its
 * beginning has left them before anybody reads it. A store to memory that is not in
 * a cache reads it first, and drives out something else; a streaming
 * (non-temporal) store does neither.
 *
 * And how memory is written that another core has read; and how long the lines of
 * caches are.
 */
#ifndef APS_BASE_CACHE_H
#define APS_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a line of every CPU that this library has kernels of its own for. */
#define APS_CACHE_LINE 64

/* Does an array of so many bytes pass the caches? What APSMPI_STREAM says, or by
 * the size of the last-level cache and the number of CPUs that share it. Chosen at
 * the first call, the same for all threads. Never where this build has no
 * streaming stores. */
bool aps_cache_passed(size_t bytes);

/* What APSMPI_STREAM says: the fewest bytes (aps_whole_parse); `off`, which is
 * SIZE_MAX; or `on`, which is 0: as the machine suggests. 0, or -1: it is none of
 * these. */
int aps_cache_passing_parse(const char *text, size_t *bytes);

/* How a rank writes what others read: as what is measured suggests
 * (group/store_selector.h), by ordinary stores, or by streaming ones. */
enum aps_cache_handoff {
    APS_CACHE_HANDOFF_AUTO,
    APS_CACHE_HANDOFF_STORE,
    APS_CACHE_HANDOFF_STREAM
};

/* What APSMPI_HANDOFF says: `auto`, `store` or `stream`. 0, or -1: it is none of
 * these. */
int aps_cache_handoff_parse(const char *text, enum aps_cache_handoff *handoff);

/* What it says in this process, without it `auto`; always ordinary stores where this
 * build has no others. */
enum aps_cache_handoff aps_cache_handoff(void);

#endif
