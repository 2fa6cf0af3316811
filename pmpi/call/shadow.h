/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Candidates (a policy's `shadow`): on sampled steps each of them reduces the
 * inputs of a layer that MPI reduces for the program, and its error goes to the
 * log. The program gets what it would have got without the library.
 */
#ifndef APS_PMPI_CALL_SHADOW_H
#define APS_PMPI_CALL_SHADOW_H

#include "call/call.h"
#include "comm/context.h"
#include "steps/steps.h"

/* COLLECTIVE over the call's communicator. A blocking call is about to be carried
 * out, with all its inputs: measure its layers whose turn it is. */
void aps_shadow_call(struct aps_context *context, const struct aps_call *call,
                     const struct aps_step_position *position);

/*
 * Local, but counts as a nonblocking collective call on the call's communicator. A
 * nonblocking call is about to be started: its layers whose turn it may be are
 * copied, and measured in the queue, beside the call. An MPI error code, of which
 * the program's error handler knows: then the call ends with it, since the other
 * ranks' queues may wait for this one's.
 */
int aps_shadow_start(struct aps_context *context, const struct aps_call *call,
                     const struct aps_step_position *position);

#endif
