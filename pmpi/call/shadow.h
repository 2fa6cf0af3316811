/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shadow candidates (a policy's `shadow`): on sampled steps each of them
 * reduces the inputs of a layer that MPI reduces for the program, and its error
 * goes to the log. The program gets the same result as without the library.
 */
#ifndef APS_PMPI_CALL_SHADOW_H
#define APS_PMPI_CALL_SHADOW_H

#include "call/call.h"
#include "comm/context.h"
#include "steps/steps.h"

/* COLLECTIVE over the call's communicator, whose policy has candidates. Call
 * this before a blocking call is carried out, with all its inputs. Measures the
 * layers that are due. */
void aps_shadow_call(const struct aps_call *call);

/*
 * Local, but counts as a nonblocking collective call on the call's
 * communicator. Call this before a nonblocking call is started. Copies the
 * layers that may be due, which are then measured in the queue. After an error,
 * in call->rc, the caller ends the call, because queues of other ranks may wait
 * for this rank's queue.
 */
void aps_shadow_start(struct aps_call *call);

#endif
