/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces layers: through the plan's compressor if it takes the layer, with the
 * scale's state if the scale keeps one, and directly otherwise.
 */
#ifndef APS_PMPI_LAYER_LAYERS_H
#define APS_PMPI_LAYER_LAYERS_H

#include "layer/layer_key.h"
#include "layer/site.h"

/* COLLECTIVE over the site's ranks, for which the plan is prepared for vectors
 * of that length. Reduces layers of one plan, and updates their carried state.
 * No key may depend on another one of them (aps_layer_key_depends). Returns an
 * MPI error code; after MPI_ERR_NO_MEM this rank has sent nothing for a layer. */
int aps_layers_reduce(const struct aps_layer_site *site,
                      const struct aps_plan *plan, int count,
                      const struct aps_layer_key keys[],
                      struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Frees the state, which is then empty. */
void aps_carried_state_clear(struct aps_carried_state *kept);

#endif
