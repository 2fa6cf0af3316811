/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales that keep a state, on a communicator: the state of each layer or of
 * each rule, and the calls that use and update it.
 *
 * A state depends only on the calls of its key, in their order, and on numbers
 * that are equal on all ranks; therefore it is the same on all ranks. It
 * belongs to one generation of the steps: after a desync a layer number may
 * mean another layer.
 *
 * After an error the states of ranks may differ; then no call uses them any
 * more.
 */
#ifndef APS_PMPI_LAYER_SCALES_H
#define APS_PMPI_LAYER_SCALES_H

#include <stddef.h>

#include "layer/layer_key.h"
#include "layer/site.h"

/*
 * COLLECTIVE over the site's ranks, for which the plan is prepared; its scale
 * keeps a state. Reduces the vectors, like aps_reductions_run, with the exponents
 * that the states predict. No key may depend on another one of them
 * (aps_layer_key_depends). Returns an MPI error code.
 */
int aps_scales_run(const struct aps_layer_site *site,
                   const struct aps_plan *plan, int count,
                   const struct aps_layer_key keys[],
                   struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Frees all states. NULL is allowed. */
void aps_scales_destroy(struct aps_scales *scales);

#endif
