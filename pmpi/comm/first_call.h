/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line on standard error when the first call of a job is about to be
 * rewritten: which policy, on how many ranks and nodes, in which groups, and
 * what encodes.
 */
#ifndef APS_PMPI_COMM_FIRST_CALL_H
#define APS_PMPI_COMM_FIRST_CALL_H

#include <stdatomic.h>

#include "comm/communicator.h"

/* Has this process rewritten a call? */
extern atomic_bool aps_first_call_seen;

/* See aps_context_begin_call. */
void aps_context_tell_first_call(const struct aps_context *context,
                                 const char *function,
                                 const struct aps_plan_key *key,
                                 const struct aps_plan *plan,
                                 const struct aps_memory *memory);

/*
 * Local. A call of `function` ("MPI_" and so on), or a layer of it, is about to be
 * carried out by a plan that is possible. If it is the first one of this process,
 * and this is rank 0 of the job, a line says so, unless the summary is switched
 * off or goes to a file.
 */
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
