/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces layers on a communicator: through the plan's compressor if it takes
 * the layer, with the scale's state if the scale keeps one, and directly
 * otherwise.
 */
#ifndef APS_PMPI_COMM_LAYERS_H
#define APS_PMPI_COMM_LAYERS_H

#include "comm/communicator.h"
#include "comm/place.h"

/* COLLECTIVE over the context's communicator, which has resources, and for
 * which the plan is prepared for vectors of that length. Reduces layers of one
 * plan, and updates their carried state. No place may follow another one
 * (aps_place_follows). Returns an MPI error code. */
int aps_context_reduce(struct aps_context *context,
                       struct aps_carried_state *kept,
                       const struct aps_plan *plan, int count,
                       const struct aps_place places[],
                       struct aps_vector vectors[], struct aps_cost *cost);

#endif
