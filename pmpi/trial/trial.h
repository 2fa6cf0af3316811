/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials: several plans reduce the inputs of a layer, one after the other, in
 * addition to the program's own call, and the error of each result against FP32
 * is measured. A policy's `shadow` and `format: {auto: ...}` ask for them.
 *
 * Read next: trial_ops.h, in which these two differ.
 */
#ifndef APS_PMPI_TRIAL_TRIAL_H
#define APS_PMPI_TRIAL_TRIAL_H

#include <stdbool.h>

#include "comm/communicator.h"
#include "layer/layer.h"

/* Local. Makes the context's state of trials if the plan of a layer is the
 * first that needs it. Call this before the other functions, with the plan that
 * the policy gives the layer. Returns false if memory is missing. */
bool aps_trials_make(struct aps_context *context,
                     const struct aps_layer *layer);

/* Local, the same on all ranks, in the order in which calls are carried out.
 * True if the layer is due to be measured; the next sample may then move. */
bool aps_trial_is_due(struct aps_context *context,
                      const struct aps_layer *layer);

/* COLLECTIVE over the context's communicator, which has resources, just before
 * a call of `function` is carried out, with all its inputs. Measures a layer
 * that is due. Rank 0 writes a row of the log for each plan. After an MPI error
 * context->failed is set. */
void aps_trial_run(struct aps_context *context, const char *function,
                   const struct aps_layer *layer);

/* Local. True if a layer that MPI gets in a nonblocking call may be due, as far
 * as its number shows. */
bool aps_trial_may_be_due(struct aps_context *context,
                          const struct aps_layer *layer);

/* Local. Call this before a nonblocking call of `function` is started, for a
 * layer that may be due. Copies its inputs, which are measured in the context's
 * queue. Returns an MPI error code; after an error the caller ends the call,
 * because queues of other ranks may wait for this rank's queue. */
int aps_trial_push(struct aps_context *context, const char *function,
                   const struct aps_layer *layer);

#endif
