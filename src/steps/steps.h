/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps: which layer of which training step a call is.
 *
 * A pure function of the sequence of counts on one communicator, which MPI
 * makes equal on all ranks; so is every answer. Knows nothing of MPI.
 */
#ifndef APS_STEPS_STEPS_H
#define APS_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

/* What aps_steps_advance says of one call. */
struct aps_step_position {
    bool active; /* false: no step is known, the call passes through */
    /* The call comes between two steps, and begins none (then active is false).
     * The next step is known when it begins. */
    bool outside;
    bool desync; /* this call broke the sequence (then active is false) ... */
    size_t expected; /* ... which wanted so many elements here, and by the */
    long wanted;     /* table this layer, in forward order; -1: no table */
    long segments;   /* layers that this call carries, > 0 when active */
    long layer;      /* of the first segment, in the order of the calls */
    long layers;     /* of the step, as aps_steps_layers said then */
    long step;
    long epoch;
    long
        generation; /* how often the sequence has been broken by now: what was kept
                 about the layers of another generation is not about these */
    long number;    /* its turn among calls like it, by which samples are taken:
                    of an all-reduce its step */
};

struct aps_steps; /* opaque */

/*
 * State for one communicator. `layers` is the table of APS_STEPS_TABLE (not
 * owned, may be NULL otherwise). Calls of fewer than `min_count` elements never
 * come here, so a table may hold layers that are reduced unseen. NULL with
 * errno ENOMEM.
 */
struct aps_steps *aps_steps_create(const struct aps_policy_steps *config,
                                   const struct aps_layers *layers,
                                   size_t min_count);
void aps_steps_destroy(struct aps_steps *steps); /* NULL: nothing */

/* The next call, of `count` elements. Never fails, never allocates. */
void aps_steps_advance(struct aps_steps *steps, size_t count,
                       struct aps_step_position *position);

/* The same of a call that the caller will not number any more once it has measured
 * something. Without steps it is numbered apart from others of its class, whose
 * numbers then do not depend on that. */
void aps_steps_advance_apart(struct aps_steps *steps, size_t count,
                             struct aps_step_position *position);

/* The step and epoch of the call just advanced; 0 before the first one. */
void aps_steps_now(const struct aps_steps *steps, long *step, long *epoch);

/*
 * Segment `i` of a call that has been advanced, perhaps some calls ago: its
 * layer in forward order (as the policy counts them, whatever the order of the
 * calls) and its elements.
 */
void aps_steps_segment(const struct aps_steps *steps,
                       const struct aps_step_position *position, long i,
                       size_t call_count, long *layer, size_t *count);

/* Layers of a step; 0 while not known. */
long aps_steps_layers(const struct aps_steps *steps);

/* Elements of call `i` of the known step (not for tables); for discovery. */
size_t aps_steps_signature(const struct aps_steps *steps, long i);

#endif
