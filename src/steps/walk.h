/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of a call in a layer table: each call carries one layer or several
 * consecutive ones, and a step is one pass over the table, or over one of its
 * networks.
 */
#ifndef APS_STEPS_WALK_H
#define APS_STEPS_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "text/layer_table.h"

struct aps_walk {
    const struct aps_layers *layers; /* not owned */
    size_t min_count; /* layers of fewer elements may be reduced unseen */
    bool backward;    /* the last layer is reduced first */
    bool first;       /* the first step, which has an order of its own */
    long begin;       /* first place of the network of the step */
    bool carried;     /* a call of the step has carried such a small layer */
};

/* Returns the layer at a place in the order of the calls. `first`: of the first
 * step. */
long aps_walk_layer(const struct aps_walk *walk, bool first, long place);

/* Returns the elements of the layer at a place. */
size_t aps_walk_count(const struct aps_walk *walk, long place);

/*
 * Return the number of layers that a call of `count` elements carries, or 0 if it
 * fits nowhere. *place becomes that of its first layer.
 *
 * aps_walk_begin: the call begins a step of the last step's network, or of the next
 * network that has such layers. aps_walk_continue: the call continues a step from
 * *place on. If it returns 0, and only unseen layers are left, *place is the end of
 * the network. Networks with equal first layers are told apart by the first call that
 * differs.
 */
long aps_walk_begin(struct aps_walk *walk, size_t count, long *place);
long aps_walk_continue(struct aps_walk *walk, size_t count, long *place);

/* True if the place is the end of the step's network. */
bool aps_walk_is_over(const struct aps_walk *walk, long place);

#endif
