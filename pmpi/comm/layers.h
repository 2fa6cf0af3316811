/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers of a communicator, reduced: where a plan's compressor takes them by it,
 * where its scale keeps a state by that, and the others as they are.
 */
#ifndef APS_PMPI_COMM_LAYERS_H
#define APS_PMPI_COMM_LAYERS_H

#include "comm/communicator.h"
#include "comm/place.h"

/*
 * COLLECTIVE over the context's communicator, which has resources, and where
 * the plan is prepared for vectors of that length. All have the plan, and none of
 * the places follows another (aps_place_follows); they go on from what is kept. An
 * MPI error code.
 */
int aps_context_reduce(struct aps_context *context,
                       struct aps_carried_state *kept,
                       const struct aps_plan *plan, int count,
                       const struct aps_place places[],
                       struct aps_vector vectors[], struct aps_cost *cost);

#endif
