/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator of the program needs so that its calls can be rewritten:
 * a communicator of ours over the same ranks, and the reductions on it. Made
 * the first time a plan asks for it, kept until the program's is freed.
 */
#ifndef APS_PMPI_COMM_RESOURCES_H
#define APS_PMPI_COMM_RESOURCES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "progress/vcomm.h"
#include "reduce/reduction.h"

struct aps_comm_resources; /* opaque */

/*
 * COLLECTIVE over comm, the program's communicator, from which ours is derived.
 * 0 on all ranks or -1 on all ranks: out of memory, or too many communicators
 * live already.
 */
int aps_comm_resources_create(MPI_Comm comm, int test_nodes, bool test_cyclic,
                              struct aps_comm_resources **resources);

/*
 * The same without waiting: aps_comm_resources_begin is local but counts as a
 * nonblocking collective call on comm; the resources are ready when
 * aps_comm_resources_complete, COLLECTIVE, has been called on them. MPI error
 * codes; after one aps_comm_resources_destroy is due.
 */
int aps_comm_resources_begin(MPI_Comm comm, int test_nodes, bool test_cyclic,
                             struct aps_comm_resources **resources);
int aps_comm_resources_complete(struct aps_comm_resources *resources);

/* Local: has one been begun that is not complete? */
bool aps_comm_resources_any_begun(void);

/* Local: safe inside an attribute's delete callback. NULL: nothing. */
void aps_comm_resources_destroy(struct aps_comm_resources *resources);

/* Our communicator over all ranks: as MPI's, and to send messages on. */
MPI_Comm aps_comm_resources_comm(const struct aps_comm_resources *resources);
const struct aps_vcomm *
aps_comm_resources_vcomm(const struct aps_comm_resources *resources);

/* COLLECTIVE. aps_reductions_prepare and aps_reductions_run on them. */
int aps_comm_resources_prepare(struct aps_comm_resources *resources,
                               const struct aps_plan *plan, char *cause,
                               size_t size);
int aps_comm_resources_reduce(struct aps_comm_resources *resources,
                              const struct aps_plan *plan,
                              const struct aps_memory *memory, const float *in,
                              float *out, size_t n, struct aps_cost *cost);

/* Does aps_comm_resources_prepare for `plan` do with waits of progress/wait.h,
 * so that it may be called on a fiber? The same on all ranks. */
bool aps_comm_resources_prepares_deferred(struct aps_comm_resources *resources,
                                          const struct aps_plan *plan);

#endif
