/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a communicator of the program needs to reduce: a virtual communicator of
 * its world and the reductions that are prepared on it. Made when the first plan
 * rewrites a call, without a communicator of ours.
 *
 * The tags of a virtual communicator are a block that its rank 0 hands out. Its
 * ranks agree on one that rank 0 offers and that none of them still uses. When
 * the program frees the communicator, its resources are kept for a while: the
 * next communicator of the same ranks in the same order takes them over, with
 * all that is prepared, if all its ranks have kept them.
 */
#ifndef APS_PMPI_COMM_RESOURCES_H
#define APS_PMPI_COMM_RESOURCES_H

#include <mpi.h>

#include "job/world.h"
#include "reduce/reduction.h"

/* The ranks of a communicator of the program, all of one world. */
struct aps_members {
    int rank;
    int size;
    const int *ranks; /* [size]: in the world */
};

/*
 * Local, but counts as a nonblocking collective call on comm. Its virtual
 * communicator is ready when aps_comm_resources_complete has been called. An MPI
 * error code; *resources only on success.
 */
int aps_comm_resources_begin(struct aps_world *world, MPI_Comm comm,
                             const struct aps_members *members,
                             struct aps_comm_resources **resources);

/*
 * COLLECTIVE over the communicator. *resources may become others, and NULL on
 * failure: MPI_ERR_OTHER on all ranks where rank 0 has no tags left, or MPI's own
 * error code.
 */
int aps_comm_resources_complete(struct aps_comm_resources **resources);

/* Both. */
int aps_comm_resources_create(struct aps_world *world, MPI_Comm comm,
                              const struct aps_members *members,
                              struct aps_comm_resources **resources);

/*
 * Local; safe inside an attribute's delete callback. They are no longer used; a
 * reduction that failed on them (`failed`) may have left messages behind, so that
 * nobody must use their tags again. NULL: nothing.
 */
void aps_comm_resources_release(struct aps_comm_resources *resources,
                                bool failed);

/* Local: free what is kept. The world is about to go. */
void aps_comm_resources_forget(struct aps_world *world);

/* COLLECTIVE. aps_reductions_prepare and aps_reductions_run on them. */
int aps_comm_resources_prepare(struct aps_comm_resources *resources,
                               const struct aps_plan *plan, size_t n,
                               char *cause, size_t size);
int aps_comm_resources_reduce(struct aps_comm_resources *resources,
                              const struct aps_plan *plan, int count,
                              const struct aps_vector vectors[],
                              struct aps_cost *cost);

const struct aps_vcomm *
aps_comm_resources_vcomm(const struct aps_comm_resources *resources);

#endif
