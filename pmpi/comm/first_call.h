/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints one line on standard error when a process is about to rewrite its
 * first call on a communicator of which it is rank 0: the policy, the number of
 * ranks and nodes, the groups, and the instruction set that encodes.
 */
#ifndef APS_PMPI_COMM_FIRST_CALL_H
#define APS_PMPI_COMM_FIRST_CALL_H

#include "comm/communicator.h"

/* Prints the line for aps_context_begin_call. */
void aps_context_tell_first_call(const struct aps_context *context,
                                 const char *function,
                                 const struct aps_plan_key *key,
                                 const struct aps_plan *plan,
                                 const struct aps_memory *memory);

/* Local. Call this before a call of `function` ("MPI_..."), or a layer of it,
 * is carried out by a plan that is possible. Rank 0 of the communicator prints
 * the line for the first such call of its process, unless the summary is
 * switched off or goes to a file. */
static inline void aps_context_begin_call(const struct aps_context *context,
                                          const char *function,
                                          const struct aps_plan_key *key,
                                          const struct aps_plan *plan,
                                          const struct aps_memory *memory)
{
    if (context->rank == 0 &&
        !atomic_load_explicit(&aps_job_leads, memory_order_relaxed))
        aps_context_tell_first_call(context, function, key, plan, memory);
}

#endif
