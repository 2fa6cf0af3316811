/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that compressors keep for each layer of a communicator from call to
 * call: error memory (error feedback), and the state that they continue from
 * (warm start).
 *
 * A layer has such state on all ranks or on none. Each rank has its own error
 * memory, which includes the error of an owner's rounding of sums. PowerSGD's Q
 * is the same on all ranks. The state belongs to one generation of the steps:
 * after a desync a layer number may mean another layer. The program drops the
 * state of all layers by MPI_Pcontrol(4).
 */
#ifndef APS_PMPI_LAYER_COMPRESSIONS_H
#define APS_PMPI_LAYER_COMPRESSIONS_H

#include <stddef.h>

#include "layer/layer_key.h"
#include "layer/site.h"

/* COLLECTIVE over the site's ranks, for which the plan is prepared. Reduces layers
 * that the plan's compressor takes, and updates their state. No key may depend on
 * another one of them (aps_layer_key_depends). Returns an MPI error code. */
int aps_compressions_run(const struct aps_layer_site *site,
                         const struct aps_plan *plan, int count,
                         const struct aps_layer_key keys[],
                         struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Frees the state of all layers. NULL is allowed. */
void aps_compressions_destroy(struct aps_compressions *compressions);

#endif
