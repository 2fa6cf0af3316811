/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy of apsmpi-bench.
 *
 * A program cannot tell the library how to reduce a call: the policy does, by
 * the number of elements. So every format and reduction has its own number of
 * extra elements, 1, 2 ..., and a rule for exactly n + extra elements.
 */
#ifndef APS_PMPI_BENCH_POLICY_H
#define APS_PMPI_BENCH_POLICY_H

#include "bench/choice.h"

/* Returns the number of extra elements that select format f and reduction r; and the
 * one whose rule leaves the call to MPI. Without extra elements no rule matches. */
int aps_bench_policy_extra(const struct aps_bench_choice *choice, int f, int r);
int aps_bench_policy_bypassed(const struct aps_bench_choice *choice);

/*
 * Local. Writes the policy of the chosen calls to a file without a name and sets
 * APSMPI_POLICY to it, for a library that has not been initialised yet. A value that
 * the variable already has stays. Every rank has a file of its own, with the same
 * text. Returns 0, or -1 with the cause in `error` (APS_BENCH_ERROR bytes).
 */
int aps_bench_policy_publish(const struct aps_bench_choice *choice,
                             char *error);

#endif
