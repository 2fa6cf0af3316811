/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States of a communicator's scales, one for each layer or for each rule. All
 * functions are local, and have the same result on all ranks that make the same
 * calls.
 *
 * A state belongs to one generation of the steps. The state of a layer outlives a
 * change of its rule, and not one of its scale's parameters or its chosen format. The
 * first call of a rule copies the latest state that a rule with an equal scale left in
 * an earlier step.
 */
#ifndef APS_PMPI_LAYER_SCALE_STATES_H
#define APS_PMPI_LAYER_SCALE_STATES_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "layer/layer_key.h"
#include "scale/scale.h"

/* Maximum number of states without a layer. A program whose counts vary from call to
 * call (fused buffers without a layer table) would add states without end, so all are
 * dropped at this number, on all ranks at the same call. */
#define APS_SCALE_STATES_MAX 4096

struct aps_scale_state {
    struct aps_scale_state *next; /* next state in the bucket */
    struct aps_layer_key key;
    struct aps_scale scale;

    /* With `scope: model`: record of the calls of step `step`, if `pending`. */
    bool pending;
    struct aps_scale_record record;
    long epoch, step;

    alignas(max_align_t) unsigned char memory[]; /* state of the scale */
};

/* {0} has no states. */
#define APS_SCALE_STATE_BUCKET_BITS 8
#define APS_SCALE_STATE_BUCKETS (1 << APS_SCALE_STATE_BUCKET_BITS)
struct aps_scale_states {
    struct aps_scale_state *buckets[APS_SCALE_STATE_BUCKETS];
    int count; /* states without a layer */
};

/* Local. Frees all states. */
void aps_scale_states_clear(struct aps_scale_states *states);

/* Local, before a call with these keys. Drops all states if the new states of
 * these keys would exceed the maximum. */
void aps_scale_states_make_room(struct aps_scale_states *states,
                                const struct aps_scale *scale, int count,
                                const struct aps_layer_key layer_keys[]);

/* Local. Returns the state of a layer, and makes it if there is none. Returns
 * NULL if memory is missing. */
struct aps_scale_state *
aps_scale_states_get(struct aps_scale_states *states,
                     const struct aps_scale *scale,
                     const struct aps_layer_key *layer_key);

/* Returns the format that predictions must suit: the narrower one if sums have a
 * format of their own. */
const struct aps_format *aps_scale_state_format(const struct aps_plan *plan);

/* Local. Returns the exponents of the plan's next call. Sums that are kept in a
 * format have the scale of their contributions. */
struct aps_scale_prediction
aps_scale_state_predict(const struct aps_scale_state *state,
                        const struct aps_plan *plan, int ranks);

/* Local, before a call with that key; `ranks`: number of ranks that add values.
 * With `scope: model`, learns from the calls of the previous step before the
 * first call of the next one. True if a finite value overflowed in those calls,
 * although the scale is at its minimum, *least. */
bool aps_scale_state_begin(struct aps_scale_state *state,
                           const struct aps_layer_key *layer_key,
                           const struct aps_format *format, int ranks,
                           double *least);

/* Local. Learns from the record of a complete call. Returns true if a finite
 * value overflowed in it, although the scale is at its minimum, *least. */
bool aps_scale_state_end(struct aps_scale_state *state,
                         const struct aps_format *format, int ranks,
                         const struct aps_scale_record *record, double *least);

#endif
