/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One layer of a call: planned, carried out, sampled, logged. The calls that are
 * no all-reduces have one layer each.
 */
#ifndef APS_PMPI_CALL_SEGMENT_H
#define APS_PMPI_CALL_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "call/call.h"
#include "comm/context.h"
#include "comm/layers.h"
#include "steps/steps.h"

struct aps_segment {
    const float *in;
    float *out;                      /* all that this rank receives */
    const struct aps_memory *memory; /* of both; known when it is carried out */
    size_t count; /* elements of the whole vector, the same on all ranks */
    size_t own;   /* of them, those that end on this rank alone (a share), or
                     start there (a block); all-reduce: `count` */
    bool good;    /* this rank can do its part (kind.h: agree) */
    int exponent; /* of an all-gather's or a broadcast's blocks, as agreed on */
    int rc;       /* of that agreement, an MPI error code */
    long number;  /* among those like it, for samples */
    long generation; /* of the steps */
    long drops;      /* MPI_Pcontrol(4) before the call */
    struct aps_plan_key key;
    struct aps_plan plan;
    unsigned long long fp32_bytes; /* sent for it, had they been FP32; known
                                      when it has been carried out */
    int choice;                    /* of a plan's formats: aps_segment_choice */
    bool
        chosen; /* the rule says auto: plan.reduce is what trials have chosen */
    bool told; /* MPI carried it out: the program's handler knows of an error */
};

/* Local. Layer i of the call, with its plan; begins at element `offset`. */
void aps_segment_plan(const struct aps_context *context,
                      const struct aps_call *call,
                      const struct aps_step_position *position, long i,
                      size_t offset, struct aps_segment *segment);

/* Local. The format that a layer with plan.auto_format has now; where the call's
 * plan is made elsewhere than its layers are carried out, to be called there. */
void aps_segment_choose(const struct aps_context *context,
                        const struct aps_call *call,
                        struct aps_segment *segment);

/* Local. A number of format i of its rule, which no other rule's has; -1: 0. */
static inline int aps_segment_choice(const struct aps_segment *segment, int i)
{
    return i < 0 ? 0 : segment->plan.rule * (APS_SHADOW_MAX + 1) + i + 1;
}

/* COLLECTIVE over the context's communicator. Can the plan be carried out here
 * (kind.h)? The same on all ranks, at every call. */
bool aps_segment_is_possible(struct aps_context *context,
                             const struct aps_call *call,
                             const struct aps_plan *plan);

/* Local. The memory backend of the call's buffers. */
const struct aps_memory *aps_segment_memory(struct aps_context *context,
                                            const struct aps_call *call);

/* COLLECTIVE over the context's communicator. Can all ranks take part in it
 * (kind.h: agree)? */
bool aps_segment_agree(struct aps_context *context, const struct aps_call *call,
                       struct aps_segment *segment);

/* What the layers of a call have sent. */
struct aps_sent {
    size_t rewritten; /* elements of layers that were rewritten, and ... */
    size_t passed;    /* ... of layers that went to MPI beside them */
    unsigned long long fp32_bytes; /* of the former */
};

/* Local. The layer has been carried out by aps_segment_run, with its plan as that
 * has left it. */
void aps_sent_add(struct aps_sent *sent, const struct aps_segment *segment);

/* Local. The call is over: count the layers that passed in it. MPI's algorithm is
 * not known; each of their elements counts as an FP32 element of the rewritten
 * layers does. */
void aps_sent_count(const struct aps_sent *sent, struct aps_counters *counters);

/* Local. Which state is its, if its scale keeps one. */
static inline struct aps_place
aps_segment_place(const struct aps_segment *segment)
{
    return (struct aps_place){
        .layer = segment->key.layer,
        .count = segment->count,
        .rule = segment->plan.rule,
        .choice = segment->choice,
        .epoch = segment->key.epoch,
        .step = segment->key.step,
        .generation = segment->generation,
        .drops = segment->drops,
        .matrix = segment->plan.matrix,
    };
}

/* Local. Is it the layer's turn to be sampled? The same on all ranks. */
bool aps_segment_is_sampled(const struct aps_context *context,
                            const struct aps_segment *segment);

/* COLLECTIVE over the context's communicator. Carry out the plan, sampled where
 * it is its turn. With `reduce: auto` the plan says afterwards what did it. An
 * MPI error code, of which the program's error handler knows if it is `told`: others
 * wait until the last layer, since a handler need not return. */
int aps_segment_run(struct aps_context *context, const struct aps_call *call,
                    struct aps_segment *segment);

#endif
