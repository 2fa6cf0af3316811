/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a layer of a call stands: which state is its, and what its random bits
 * are drawn by. All of it is the same on all ranks.
 */
#ifndef APS_PMPI_COMM_PLACE_H
#define APS_PMPI_COMM_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

struct aps_place {
    long layer; /* -1: of no step; then layers are told apart by counts */
    size_t count;
    int rule;
    int choice; /* of the rule's formats; 0: it has one alone. A scale's state is
                   that of a format */
    long epoch;
    long step;
    long
        generation; /* of the steps: after a desync a number may mean another layer */
    long
        drops; /* MPI_Pcontrol(4) before the call: what compressors have kept of
                   calls with fewer is dropped */
    struct aps_matrix matrix; /* of plans with a compressor */
};

/* Have both one state of a layer? */
static inline bool aps_place_same_layer(const struct aps_place *a,
                                        const struct aps_place *b)
{
    return a->layer == b->layer && a->count == b->count;
}

/* Equal where that is so; for hash tables. */
static inline uint64_t aps_place_layer_key(const struct aps_place *place)
{
    return (uint64_t)place->layer * 31 + place->count * 7;
}

/* Do calls of the plan leave anything behind for later ones? */
static inline bool aps_plan_carries_state(const struct aps_plan *plan)
{
    return aps_plan_is_compressed(plan) ||
           aps_scale_state_bytes(&plan->scale) > 0;
}

/* Does a call at `place` go by what a call at `before` of the same plan leaves
 * behind: may they not be reduced together? */
bool aps_place_follows(const struct aps_plan *plan,
                       const struct aps_place *before,
                       const struct aps_place *place);

/* The same in every run of the program, however its calls fuse. */
uint64_t aps_place_number(const struct aps_place *place);

#endif
