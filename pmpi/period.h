/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The period of a sequence of counts: the calls of one training step.
 *
 * Search: the smallest period P whose pattern was seen and then repeated twice
 * (the last 3 P counts are periodic). Networks repeat blocks inside a step, so
 * a period can be found too short; it then breaks soon, and the search goes on
 * over the same history for a longer one. A stated length is searched for as
 * soon as it repeats once.
 */
#ifndef APS_PMPI_PERIOD_H
#define APS_PMPI_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

struct aps_period; /* opaque */

/* The longest period that is searched for. */
#define APS_PERIOD_MAX 8192

/*
 * `stated` calls make a step; 0: find out. A stated period is known from the
 * start: its first round records the counts. NULL with errno ENOMEM.
 */
struct aps_period *aps_period_create(long stated);
void aps_period_destroy(struct aps_period *period); /* NULL: nothing */

/* While no period is followed: take one count; true when it completed one. */
bool aps_period_search(struct aps_period *period, size_t count);

/*
 * While a period is followed: does the count fit at place `cursor` of it? If
 * not, the search has begun anew and is to be given this count.
 */
bool aps_period_follow(struct aps_period *period, long cursor, size_t count);

/* Calls of the period that is (or was last) known; 0: none yet. */
long aps_period_length(const struct aps_period *period);

/* The count at place `i` of it. */
size_t aps_period_count(const struct aps_period *period, long i);

#endif
