/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shadow candidates (a policy's `shadow`): on sampled steps each of them
 * reduces the inputs of a layer that MPI reduces for the program, and its error
 * goes to the log. The program gets the same result as without the library.
 */
#ifndef APS_PMPI_TRIAL_SHADOW_H
#define APS_PMPI_TRIAL_SHADOW_H

#include <stdbool.h>

#include "comm/communicator.h"
#include "layer/layer.h"

/* Local, the same on all ranks, in the order in which calls are carried out.
 * True if a layer with candidates is due to be measured. */
bool aps_shadow_is_due(struct aps_context *context,
                       const struct aps_layer *layer);

/* COLLECTIVE over the context's communicator, which has resources, just before
 * a call of `function` is carried out. Measures a layer that is due. */
void aps_shadow_run(struct aps_context *context, const char *function,
                    const struct aps_layer *layer);

/* Local. True if a layer of a nonblocking call may be due, as far as its number
 * shows. */
bool aps_shadow_may_be_due(struct aps_context *context,
                           const struct aps_layer *layer);

/*
 * Local. Call this before a nonblocking call of `function` is started, for its
 * layers that may be due. Copies the layer, which is then measured in the
 * context's queue. Returns an MPI error code; after an error the caller ends
 * the call, because queues of other ranks may wait for this rank's queue.
 */
int aps_shadow_push(struct aps_context *context, const char *function,
                    const struct aps_layer *layer);

#endif
