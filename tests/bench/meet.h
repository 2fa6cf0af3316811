/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a bench meet, by MPI's own names (PMPI): no library in
 * between takes part.
 */
#ifndef APS_BENCH_MEET_H
#define APS_BENCH_MEET_H

#include <stdbool.h>

/*
 * COLLECTIVE. A barrier whose waits give the core away where ranks outnumber
 * the cores. MPICH's would spin on, and take the cores from the ranks that are
 * measured, in turns of a scheduler's tick.
 */
void meet(void);

/* Do so many ranks on this node share cores? */
bool meet_shares_cores(int ranks);

/* COLLECTIVE. Nobody goes on when one rank cannot: the job ends with status 2,
 * and each such rank says why. */
void meet_all_good(const char *program, bool good, const char *cause);

#endif
