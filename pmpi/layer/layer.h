/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One layer of a call, from its plan to its result.
 */
#ifndef APS_PMPI_LAYER_LAYER_H
#define APS_PMPI_LAYER_LAYER_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/memory.h"
#include "layer/layer_key.h"
#include "policy/policy.h"

struct aps_layer {
    struct aps_plan_key key;
    struct aps_plan
        plan;    /* resolved once; aps_layer_choose may change it later */
    long number; /* among layers like it, for samples and random bits */
    long
        turn; /* the step; or, if the call is a step of its own, a number that grows
                    from call to call, and is below all steps */
    long generation; /* generation of the steps */
    long drops;      /* number of MPI_Pcontrol(4) before the call */
    int choice;      /* the chosen format of the rule (aps_layer_choice) */
    bool sampled;
    enum aps_way {
        APS_WAY_MPI,   /* MPI carries it out, with its neighbours of this way */
        APS_WAY_REDUCE /* the library carries it out by `plan` */
    } way;
    size_t offset; /* first element in the call of an all-reduce */
    const void *in;
    void *out;                       /* receives all elements of this rank */
    const struct aps_memory *memory; /* memory that `in` and `out` are in */
    size_t count; /* elements of the whole vector, the same on all ranks */
    size_t
        own;   /* elements that end on this rank alone (a share), or start there
                     (a block); all-reduce: `count` */
    bool good; /* this rank can do its part (collective.h: agree) */
    int exponent; /* agreed scale exponent of the blocks of an all-gather or a
                     broadcast */
    int rc;       /* MPI error code of that agreement */
    unsigned long long fp32_bytes; /* bytes to send for the layer in FP32 */
};

/* Local. Returns a number that identifies format i of the layer's rule among
 * the formats of all rules; 0 if i is -1. */
static inline int aps_layer_choice(const struct aps_layer *layer, int i)
{
    return i < 0 ? 0 : layer->plan.rule * (APS_SHADOW_MAX + 1) + i + 1;
}

/* Local. Returns the key of the layer's carried state. */
static inline struct aps_layer_key
aps_layer_key_of(const struct aps_layer *layer)
{
    return (struct aps_layer_key){
        .layer = layer->key.layer,
        .count = layer->count,
        .element = layer->key.element,
        .rule = layer->plan.rule,
        .choice = layer->choice,
        .epoch = layer->key.epoch,
        .step = layer->turn,
        .number = layer->number,
        .generation = layer->generation,
        .drops = layer->drops,
        .matrix = layer->plan.matrix,
    };
}

#endif
