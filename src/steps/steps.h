/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps: finds the layer and the training step of each call.
 *
 * A pure function of the sequence of counts on one communicator, which MPI
 * makes equal on all ranks; every answer is therefore equal, too. Independent
 * of MPI.
 */
#ifndef APS_STEPS_STEPS_H
#define APS_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

/* Result of aps_steps_advance for one call. If the policy says that calls come in
 * any order, a call without a layer is active, too: from the first known step on,
 * or after many calls without one. */
struct aps_step_position {
    bool active; /* false: no step is known, the call passes through */
    /* The call comes between two steps, and begins none (then active is false).
     * The next step is known when it begins. */
    bool outside;
    bool desync; /* this call broke the sequence (then active is false) ... */
    size_t expected; /* ... which expected this number of elements here; 0:
                        several numbers would do */
    long wanted;     /* the table's layer that was expected, in forward order;
                        -1: no table */
    bool first;      /* the call is in the order of the table's first step */
    bool ends;       /* the call is the last of its step */
    bool any;        /* the calls of a step come in any order, and `layer` is
                        the layer itself, or -1 */
    long segments;   /* layers that this call carries, > 0 when active */
    long layer;      /* first segment's layer, in the order of the calls; -1:
                        only the size of the call is known */
    long layers; /* layers of the step, like aps_steps_layers at that time */
    long step;
    long epoch;
    long generation; /* number of breaks of the sequence so far; state from
                        another generation is invalid */
    bool alone;      /* no step is known: the call is a step of its own */
    long number;     /* its step; without a layer, its number in its class of
                        counts. For samples and random bits */
};

struct aps_steps; /* opaque */

/* Creates the state for one communicator. `layers` is the table of
 * APS_STEPS_TABLE (not owned, may be NULL otherwise). Calls of fewer than
 * `min_count` elements never come here, so a table may hold layers that are
 * reduced unseen. Returns NULL with errno ENOMEM. */
struct aps_steps *aps_steps_create(const struct aps_policy_steps *config,
                                   const struct aps_layers *layers,
                                   size_t min_count);
void aps_steps_destroy(struct aps_steps *steps); /* NULL is allowed */

/* Advances to the next call, of `count` elements. `apart`: without steps the call has a
 * number of its own sequence, so that calls which do not come here any more once
 * `reduce: auto` has left them to MPI change no numbers of other calls. Never fails,
 * never allocates. */
void aps_steps_advance(struct aps_steps *steps, size_t count, bool apart,
                       struct aps_step_position *position);

/* Gets the step and epoch of the call just advanced; 0 before the first one. */
void aps_steps_now(const struct aps_steps *steps, long *step, long *epoch);

/* Gets segment `i` of a call that has been advanced: its layer in forward order (the
 * policy's order, whatever the order of the calls) and its elements. */
void aps_steps_segment(const struct aps_steps *steps,
                       const struct aps_step_position *position, long i,
                       size_t call_count, long *layer, size_t *count);

/* Returns the layers of a step; 0 while not known. */
long aps_steps_layers(const struct aps_steps *steps);

/* Returns how many equal steps the latest calls make, one after another, while no
 * step is known; 0 with a table. */
long aps_steps_repeats(const struct aps_steps *steps);

/* True if the calls of a step come in any order: by the policy, or as found. */
bool aps_steps_are_any(const struct aps_steps *steps);

/* Returns the elements of layer `i` of the known step (not for tables), in the
 * order of the calls, or the largest first if they come in any order; for
 * discovery. */
size_t aps_steps_layer_count(const struct aps_steps *steps, long i);

#endif
