/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifies and plans a call, once. All results are the same on all ranks:
 * they follow from the arguments and the order of the calls, the agreed policy,
 * the level of MPI_Pcontrol and settled choices.
 */
#ifndef APS_PMPI_CALL_PLAN_H
#define APS_PMPI_CALL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "call/call.h"

/* Local. Returns a new call, with the memory that its buffers are in and the
 * present level and epoch of MPI_Pcontrol. */
struct aps_call aps_call_of(const struct aps_call_arguments *arguments);

/* Local. True if the call sums values that the policy has rules for, or may do so by an
 * operation of the program (probe.h). */
bool aps_call_is_sum(const struct aps_job *job,
                     const struct aps_call_arguments *arguments);

/* Local. Returns the reason for which a call passes that its collective does not
 * take (is_eligible). */
enum aps_reason
aps_call_why_ineligible(const struct aps_call_arguments *arguments);

/*
 * Finds the call's context and its position in the step; the only function that
 * numbers a call. For a blocking call: COLLECTIVE over its communicator if that
 * needs a hidden communicator of its own, otherwise local; first carries out
 * queued calls if the policy names the collective. For other calls: local,
 * never waits. Returns false if the call passes for call->reason, or ends with
 * call->rc after the program's error handler has been called.
 */
bool aps_call_identify(struct aps_call *call);

/* Local. Fills call->layers, which belong to the context until its next call.
 * Returns false if no layer is reduced or measured: the call then passes for
 * call->reason, or ends with call->rc. */
bool aps_call_plan(struct aps_call *call);

/* Local. Returns the reason of a call none of whose layers is reduced. */
enum aps_reason aps_call_why_passed(const struct aps_call *call);

/* Local, in the order in which the calls are carried out. Gives a layer whose
 * rule says `format: auto` its present format. */
void aps_layer_choose(const struct aps_call *call, struct aps_layer *layer);

#endif
