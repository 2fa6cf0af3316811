/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What compressors keep of each layer of a communicator from call to call: what
 * they have left out (error feedback), and what they go on from.
 *
 * A layer has a memory on all ranks or on none. What was left out is each rank's own,
 * also what an owner's rounding of sums has left out. PowerSGD's Q is the same on all
 * ranks. A memory belongs to one generation of the steps: after a desync a layer
 * number may mean another layer. The program drops all memories by MPI_Pcontrol(4).
 */
#ifndef APS_PMPI_COMM_COMPRESSIONS_H
#define APS_PMPI_COMM_COMPRESSIONS_H

#include <stddef.h>

#include "comm/communicator.h"
#include "comm/place.h"

/*
 * COLLECTIVE over the context's communicator, which has resources, and where
 * the plan is prepared. Reduces layers that the plan's compressor takes; none of
 * the places follows another; they go on from what is kept. Returns an MPI error
 * code.
 */
int aps_compressions_run(struct aps_context *context,
                         struct aps_carried_state *kept,
                         const struct aps_plan *plan, int count,
                         const struct aps_place places[],
                         struct aps_vector vectors[], struct aps_cost *cost);

/* Local. Free all memories. NULL: nothing. */
void aps_compressions_destroy(struct aps_compressions *compressions);

#endif
