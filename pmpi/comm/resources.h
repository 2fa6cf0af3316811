/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The resources of a communicator of the program: a virtual communicator on the
 * hidden communicator, and the reductions that are prepared on it. They are
 * made when a plan first rewrites a call. MPI makes no new communicator for
 * them.
 *
 * The messages of a virtual communicator use one block of tags. Its rank 0
 * offers some blocks, and its ranks agree on a block that none of them still
 * uses. After the program has freed the communicator, each rank keeps the
 * resources for a while. A later communicator of the same ranks in the same
 * order takes them over with all prepared reductions, if all its ranks have
 * kept them.
 */
#ifndef APS_PMPI_COMM_RESOURCES_H
#define APS_PMPI_COMM_RESOURCES_H

#include <mpi.h>

#include "world/hidden_comm.h"
#include "reduce/reduction.h"

/* The ranks of a communicator of the program; all belong to one hidden
 * communicator. */
struct aps_members {
    int rank;
    int size;
    const int *ranks; /* [size]: ranks in the hidden communicator */
};

/* Local, but counts as a nonblocking collective call on comm. Begins to make
 * the resources of comm; aps_comm_resources_complete makes them usable. Returns
 * an MPI error code; *resources is set only on success. */
int aps_comm_resources_begin(struct aps_hidden_comm *world, MPI_Comm comm,
                             const struct aps_members *members,
                             struct aps_comm_resources **resources);

/*
 * COLLECTIVE over the communicator. Completes the resources, or replaces
 * *resources by resources that the ranks have kept. *resources is NULL on all
 * ranks if none of the blocks of tags that rank 0 offers is free on all of
 * them. Returns an MPI error code; after an error *resources is NULL on this
 * rank.
 */
int aps_comm_resources_complete(struct aps_comm_resources **resources);

/* Local; may be called inside an attribute's delete callback. Ends the
 * communicator's use of the resources. `failed`: a reduction failed, and may
 * have left messages behind; the tags are then never used again. NULL is
 * allowed. */
void aps_comm_resources_release(struct aps_comm_resources *resources,
                                bool failed);

/* Returns the reductions, which the resources own. */
struct aps_reductions *
aps_comm_resources_reductions(struct aps_comm_resources *resources);

const struct aps_vcomm *
aps_comm_resources_vcomm(const struct aps_comm_resources *resources);

#endif
