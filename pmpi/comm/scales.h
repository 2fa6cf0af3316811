/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales that keep a state, on a communicator: the state of each layer, or of
 * each rule, and how a call goes by it.
 *
 * A state depends on the calls of its key alone, in their order, and on numbers
 * that all ranks know; so it is the same on all ranks. It belongs to one era of
 * the steps: after a desync a layer number may mean another layer.
 */
#ifndef APS_PMPI_COMM_SCALES_H
#define APS_PMPI_COMM_SCALES_H

#include <stddef.h>

#include "comm/communicator.h"

/* Where a call stands: which state is its. */
struct aps_scale_place {
    long layer; /* -1: of no step; then layers are told apart by counts */
    size_t count;
    int rule;
    long epoch;
    long step;
    long era;
};

/* Does a call at `place` go by a state that a call at `before`, of the same
 * scale, changes: may they not be reduced together? The state of a rule changes
 * between two steps alone. */
bool aps_scale_follows(const struct aps_scale *scale,
                       const struct aps_scale_place *before,
                       const struct aps_scale_place *place);

/*
 * COLLECTIVE over the context's communicator, which has resources, and where
 * the plan is prepared. aps_comm_resources_reduce, with what the states say if
 * the plan's scale keeps some: then none of the places follows another. If a
 * rank has no memory for a state, the call is scaled by APS on all ranks. An MPI
 * error code.
 */
int aps_context_reduce(struct aps_context *context, const struct aps_plan *plan,
                       int count, const struct aps_scale_place places[],
                       struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Free all states of a context. NULL: nothing. */
void aps_scales_destroy(struct aps_scales *scales);

#endif
