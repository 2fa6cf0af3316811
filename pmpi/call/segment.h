/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One layer of a call: planned, reduced, sampled, logged.
 */
#ifndef APS_PMPI_CALL_SEGMENT_H
#define APS_PMPI_CALL_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "call/call.h"
#include "comm/context.h"
#include "steps/steps.h"

struct aps_segment {
    const float *in;
    float *out;
    const struct aps_memory *memory; /* of both; known when it is reduced */
    size_t count;
    struct aps_plan_key place;
    struct aps_plan plan;
    bool
        chosen; /* the rule says auto: plan.reduce is what trials have chosen */
};

/* Segment i of the call, with its plan; starts at element `offset`. */
void aps_segment_plan(const struct aps_context *context,
                      const struct aps_call *call,
                      const struct aps_step_position *position, long i,
                      size_t offset, struct aps_segment *segment);

/*
 * COLLECTIVE. Can the plan run here? What it needs is made on first use; if it
 * cannot be made, on any rank, the layer passes through on all.
 */
bool aps_segment_is_possible(struct aps_context *context,
                             const struct aps_call *call,
                             const struct aps_plan *plan);

/* Is it the layer's turn to be measured? */
bool aps_segment_is_sampled(const struct aps_context *context,
                            const struct aps_segment *segment);

/* COLLECTIVE. Carry out the plan, sampled where it is its turn. With `reduce:
 * auto` the plan says afterwards what did it. An MPI error code. */
int aps_segment_reduce(struct aps_context *context, const struct aps_call *call,
                       struct aps_segment *segment);

#endif
