/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints one line on standard error when the first call of a job is about to be
 * rewritten: the policy, the number of ranks and nodes, the groups, and the
 * instruction set that encodes.
 */
#ifndef APS_PMPI_COMM_FIRST_CALL_H
#define APS_PMPI_COMM_FIRST_CALL_H

#include <stdatomic.h>

#include "comm/communicator.h"

/* True once this process has rewritten a call. */
extern atomic_bool aps_first_call_seen;

/* Prints the line for aps_context_begin_call. */
void aps_context_tell_first_call(const struct aps_context *context,
                                 const char *function,
                                 const struct aps_plan_key *key,
                                 const struct aps_plan *plan,
                                 const struct aps_memory *memory);

/* Local. Call this before a call of `function` ("MPI_..."), or a layer of it,
 * is carried out by a plan that is possible. For the first such call of the
 * process, rank 0 of the job prints the line, unless the summary is switched
 * off or goes to a file. */
static inline void aps_context_begin_call(const struct aps_context *context,
                                          const char *function,
                                          const struct aps_plan_key *key,
                                          const struct aps_plan *plan,
                                          const struct aps_memory *memory)
{
    if (!atomic_load_explicit(&aps_first_call_seen, memory_order_relaxed))
        aps_context_tell_first_call(context, function, key, plan, memory);
}

#endif
