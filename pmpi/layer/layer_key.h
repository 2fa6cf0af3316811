/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key of a layer of a call: identifies the layer's state, and determines its
 * random bits. All fields are the same on all ranks.
 */
#ifndef APS_PMPI_LAYER_LAYER_KEY_H
#define APS_PMPI_LAYER_LAYER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

struct aps_layer_key {
    long layer; /* -1: no step known; then the count identifies the layer */
    size_t count;
    enum aps_element element;
    int rule;
    int choice; /* number of the chosen format among those of all rules; 0: the
                   rule has only one. A scale's state belongs to one format */
    long epoch;
    long step;   /* turn of the layer's call (struct aps_layer) */
    long number; /* number of the call (struct aps_layer), for random bits */
    long
        generation; /* generation of the steps: after a desync a number may mean
                       another layer */
    long drops; /* number of MPI_Pcontrol(4) before the call; compressors drop
                  the state of calls with a smaller number */
    struct aps_matrix matrix; /* shape, for plans with a compressor */
};

/* True if both use the same state of a layer. */
static inline bool aps_layer_key_same(const struct aps_layer_key *a,
                                      const struct aps_layer_key *b)
{
    return a->layer == b->layer && a->count == b->count &&
           a->element == b->element;
}

/* Returns a hash that is equal for keys of the same layer. */
static inline uint64_t aps_layer_key_hash(const struct aps_layer_key *key)
{
    return (uint64_t)key->layer * 31 + key->count * 7;
}

/* True if calls of the plan leave state to later calls. */
static inline bool aps_plan_carries_state(const struct aps_plan *plan)
{
    return aps_plan_is_compressed(plan) ||
           aps_scale_state_bytes(&plan->scale) > 0;
}

/* True if a call with key `key` depends on state that a call with key
 * `before` and the same plan updates. Such calls must not share a batch. */
bool aps_layer_key_depends(const struct aps_plan *plan,
                           const struct aps_layer_key *before,
                           const struct aps_layer_key *key);

/* Returns a number that is the same in every run of the program, however its
 * calls fuse. */
uint64_t aps_layer_key_number(const struct aps_layer_key *key);

#endif
