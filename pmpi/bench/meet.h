/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers for the ranks of a bench, by MPI's own names (PMPI): no library
 * intercepts them.
 */
#ifndef APS_PMPI_BENCH_MEET_H
#define APS_PMPI_BENCH_MEET_H

#include <stdbool.h>

/*
 * COLLECTIVE. A barrier whose waits yield the core if ranks outnumber the
 * cores. MPICH's barrier would spin, and take the cores from the ranks that are
 * measured, for a scheduler's tick each.
 */
void aps_meet(void);

/* True if `ranks` ranks on this node share cores. */
bool aps_meet_shares_cores(int ranks);

/* COLLECTIVE. If a rank cannot go on, the job ends with status 2, and the first such
 * rank prints why. */
void aps_meet_all_good(const char *program, bool good, const char *cause);

#endif
