/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales that keep a state, on a communicator: the state of each layer, or of
 * each rule, and how a call goes by it.
 *
 * A state depends on the calls of its key alone, in their order, and on numbers
 * that all ranks know; so it is the same on all ranks. It belongs to one era of
 * the steps: after a desync a layer number may mean another layer.
 *
 * After an MPI error on one rank alone that rank does not know what the others have
 * learned of the call. It says so in the records of its next call with that state:
 * all of that call is then reduced again, scaled by APS, and the state begins anew
 * on all ranks.
 */
#ifndef APS_PMPI_COMM_SCALES_H
#define APS_PMPI_COMM_SCALES_H

#include <stddef.h>

#include "comm/communicator.h"
#include "comm/place.h"

/*
 * COLLECTIVE over the context's communicator, which has resources, and where
 * the plan, whose scale keeps a state, is prepared. aps_comm_resources_reduce,
 * with what the states that are kept say; none of the places follows another. If a
 * rank has no memory for a state, the call is scaled by APS on all ranks. An MPI
 * error code.
 */
int aps_scales_run(struct aps_context *context, struct aps_kept *kept,
                   const struct aps_plan *plan, int count,
                   const struct aps_place places[], struct aps_vector vectors[],
                   struct aps_cost *cost);

/* Local. Free all states. NULL: nothing. */
void aps_scales_destroy(struct aps_scales *scales);

#endif
