/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of scales that keep one, of a communicator: of each layer, or of each
 * rule. All here is local, and the same on all ranks that make the same calls.
 *
 * A state belongs to one generation of the steps: after a desync a layer number may
 * mean another layer. It lasts as long as its scale has the same parameters, and, if
 * one of a rule's formats is chosen while the program runs, as long as that format is:
 * a layer's whatever rule the layer has, and a rule's goes on, as a copy, in a rule
 * that has none yet and takes its place from a step to the next.
 */
#ifndef APS_PMPI_COMM_SCALE_STATES_H
#define APS_PMPI_COMM_SCALE_STATES_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/place.h"
#include "scale/scale.h"

/* A program whose counts vary from call to call (fused buffers without a layer
 * table) would get states without end: all are dropped when there are so many,
 * on all ranks at the same call. */
#define APS_SCALE_STATES_MAX 4096

struct aps_scale_state {
    struct aps_scale_state *next; /* of the states */
    struct aps_place key;
    struct aps_scale scale;

    /* Of `scope: model`: the step that `record` is of. */
    bool pending;
    struct aps_scale_record record;
    long epoch, step;

    alignas(max_align_t) unsigned char memory[]; /* the scale's */
};

/* Zeros: none. */
#define APS_SCALE_STATE_BUCKET_BITS 8
#define APS_SCALE_STATE_BUCKETS (1 << APS_SCALE_STATE_BUCKET_BITS)
struct aps_scale_states {
    struct aps_scale_state *buckets[APS_SCALE_STATE_BUCKETS];
    int count;
};

/* Free all states. */
void aps_scale_states_clear(struct aps_scale_states *states);

/* Before a call with these places: all states are dropped if there were too many
 * of them with those that it lacks. */
void aps_scale_states_make_room(struct aps_scale_states *states,
                                const struct aps_scale *scale, int count,
                                const struct aps_place places[]);

/* Returns the state of a place, which it makes if there is none, or NULL: out of
 * memory. */
struct aps_scale_state *aps_scale_states_get(struct aps_scale_states *states,
                                             const struct aps_scale *scale,
                                             const struct aps_place *place);

/*
 * Before a call at that place, of sums of so many ranks. Of `scope: model`: what
 * the calls of the step before have met is learned before the first call of
 * another one. True if a finite value of them overflowed, and the scale, *least,
 * can fall no more.
 */
bool aps_scale_state_begin(struct aps_scale_state *state,
                           const struct aps_place *place,
                           const struct aps_format *format, int ranks,
                           double *least);

/* Learns from the record of a call that is complete. Returns the same. */
bool aps_scale_state_end(struct aps_scale_state *state,
                         const struct aps_format *format, int ranks,
                         const struct aps_scale_record *record, double *least);

#endif
