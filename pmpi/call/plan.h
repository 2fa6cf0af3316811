/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call identified and planned, once. Everything here is the same on all ranks: it
 * follows from the arguments and the order of the calls, the agreed policy, the
 * level of MPI_Pcontrol and settled choices.
 */
#ifndef APS_PMPI_CALL_PLAN_H
#define APS_PMPI_CALL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "call/call.h"

/* Local. Returns a call that comes in: whose memory its buffers are in, and what
 * MPI_Pcontrol has said last. */
struct aps_call aps_call_of(const struct aps_call_arguments *arguments);

/*
 * Finds the call's context and its position in the step; the only place where a call
 * is numbered. A blocking call: COLLECTIVE over its communicator if that needs a
 * hidden communicator of its own, otherwise local; it carries out what is queued
 * first. Others: local, never waits. False: the call passes for call->reason, or ends
 * with call->rc, after the program's error handler has been called.
 */
bool aps_call_identify(struct aps_call *call);

/*
 * Local. Fills call->layers, which belong to the context until its next call. False: no
 * layer is reduced or measured, and the call passes for call->reason; or it ends with
 * call->rc.
 */
bool aps_call_plan(struct aps_call *call);

/* Local. Returns why a call passes none of whose layers is reduced. */
enum aps_reason aps_call_why_passed(const struct aps_call *call);

/* Local. Gives a layer whose rule says `format: auto` the format that it has now: in
 * the order in which the calls are carried out. */
void aps_layer_choose(const struct aps_call *call, struct aps_layer *layer);

/* Local. Returns a number of format i of the layer's rule that no other rule's format
 * has; i is -1: 0. */
static inline int aps_layer_choice(const struct aps_layer *layer, int i)
{
    return i < 0 ? 0 : layer->plan.rule * (APS_SHADOW_MAX + 1) + i + 1;
}

/* Local. Returns the key of the layer's carried state. */
static inline struct aps_place aps_layer_place(const struct aps_layer *layer)
{
    return (struct aps_place){
        .layer = layer->key.layer,
        .count = layer->count,
        .rule = layer->plan.rule,
        .choice = layer->choice,
        .epoch = layer->key.epoch,
        .step = layer->key.step,
        .generation = layer->generation,
        .drops = layer->drops,
        .matrix = layer->plan.matrix,
    };
}

#endif
