/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: run a plan on a communicator. Resources are what a communicator
 * needs for that: internal communicators, groups, shared memory and scratch,
 * made the first time a plan asks for them and kept until the communicator is
 * freed.
 */
#ifndef APS_PMPI_REDUCE_REDUCTION_H
#define APS_PMPI_REDUCE_REDUCTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "reduce/block.h"
#include "policy/policy.h"

struct aps_comm_resources; /* opaque */

/*
 * COLLECTIVE over comm, the program's communicator, from which the resources's
 * own is derived. 0 on all ranks or -1 on all ranks: out of memory, or too many
 * communicators live already.
 */
int aps_comm_resources_create(MPI_Comm comm, int test_nodes, bool test_cyclic,
                              struct aps_comm_resources **resources);

/*
 * The same without waiting: aps_comm_resources_begin is local but counts as a
 * nonblocking collective call on comm; the resources is ready when
 * aps_comm_resources_complete, COLLECTIVE, has been called on it. MPI error
 * codes; after one aps_comm_resources_destroy is due.
 */
int aps_comm_resources_begin(MPI_Comm comm, int test_nodes, bool test_cyclic,
                             struct aps_comm_resources **resources);
int aps_comm_resources_complete(struct aps_comm_resources *resources);

/* Local: has one been begun that is not complete? */
bool aps_comm_resources_any_begun(void);

/* Local: safe inside an attribute's delete callback. NULL: nothing. */
void aps_comm_resources_destroy(struct aps_comm_resources *resources);

/* The resources's internal communicator over all its ranks. */
MPI_Comm aps_comm_resources_comm(const struct aps_comm_resources *resources);

/*
 * COLLECTIVE. Get ready for `plan`: cheap when it was done before. 0 on all
 * ranks or -1 on all ranks, and again -1 whenever the same is asked for; then
 * `cause` says why, on rank 0 always and on the ranks that found out.
 */
int aps_comm_resources_prepare(struct aps_comm_resources *resources,
                               const struct aps_plan *plan, char *cause,
                               size_t size);

/* Does aps_comm_resources_prepare for `plan` do with waits of pmpi/wait.h, so
 * that it may be called on a fiber? The same on all ranks. */
bool aps_comm_resources_prepares_deferred(struct aps_comm_resources *resources,
                                          const struct aps_plan *plan);

/*
 * COLLECTIVE. Reduce in[n] to out[n] (which may be the same) by a plan that is
 * prepared. The same bits arrive on every rank. An MPI error code.
 */
int aps_comm_resources_reduce(struct aps_comm_resources *resources,
                              const struct aps_plan *plan,
                              const struct aps_memory *memory, const float *in,
                              float *out, size_t n, struct aps_cost *cost);

#endif
