/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/scale_states.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"

/* Layer number in the key of a rule's state. */
#define NO_LAYER (-2)

void aps_scale_states_clear(struct aps_scale_states *states)
{
    for (int i = 0; i < APS_SCALE_STATE_BUCKETS; i++) {
        while (states->buckets[i]) {
            struct aps_scale_state *state = states->buckets[i];

            states->buckets[i] = state->next;
            free(state);
        }
    }
    states->count = 0;
}

/* --- keys ----------------------------------------------------------------- */

static struct aps_layer_key states_key(const struct aps_scale *scale,
                                       const struct aps_layer_key *layer_key)
{
    if (aps_scale_scope(scale) == APS_SCOPE_MODEL)
        return (struct aps_layer_key){.layer = NO_LAYER,
                                      .rule = layer_key->rule,
                                      .choice = layer_key->choice};
    return (struct aps_layer_key){.layer = layer_key->layer,
                                  .count = layer_key->count,
                                  .element = layer_key->element};
}

static struct aps_scale_state **states_bucket(struct aps_scale_states *states,
                                              const struct aps_layer_key *key)
{
    const uint64_t number = aps_layer_key_hash(key) + (uint64_t)key->rule;

    return &states->buckets[aps_bucket(number, APS_SCALE_STATE_BUCKET_BITS)];
}

static struct aps_scale_state *states_find(struct aps_scale_states *states,
                                           const struct aps_layer_key *key)
{
    struct aps_scale_state *state = *states_bucket(states, key);

    while (state &&
           (!aps_layer_key_same(&state->key, key) ||
            state->key.rule != key->rule ||
            (key->layer == NO_LAYER && state->key.choice != key->choice)))
        state = state->next;
    return state;
}

/* --- one state ------------------------------------------------------------ */

static void states_drop(struct aps_scale_states *states,
                        struct aps_scale_state *state)
{
    struct aps_scale_state **link = states_bucket(states, &state->key);

    while (*link != state)
        link = &(*link)->next;
    *link = state->next;
    states->count -= state->key.layer < 0;
    free(state);
}

/* True if a rule's state was used later than the other one, or in the same step
 * by an earlier rule. */
static bool states_is_later(const struct aps_scale_state *state,
                            const struct aps_scale_state *other)
{
    if (!other || state->epoch != other->epoch)
        return !other || state->epoch > other->epoch;
    if (state->step != other->step)
        return state->step > other->step;
    return state->key.rule < other->key.rule;
}

/* Returns the state that a rule without a state continues, or NULL. */
static const struct aps_scale_state *
states_find_predecessor(const struct aps_scale_states *states,
                        const struct aps_scale *scale,
                        const struct aps_layer_key *layer_key)
{
    const struct aps_scale_state *found = NULL;

    if (aps_scale_scope(scale) != APS_SCOPE_MODEL)
        return NULL;
    for (int i = 0; i < APS_SCALE_STATE_BUCKETS; i++)
        for (const struct aps_scale_state *state = states->buckets[i]; state;
             state = state->next)
            if (state->key.layer == NO_LAYER &&
                state->key.generation == layer_key->generation &&
                state->key.choice == layer_key->choice &&
                (state->epoch != layer_key->epoch ||
                 state->step != layer_key->step) &&
                aps_scale_equal(&state->scale, scale) &&
                states_is_later(state, found))
                found = state;
    return found;
}

static struct aps_scale_state *
states_make(struct aps_scale_states *states, const struct aps_scale *scale,
            const struct aps_layer_key *layer_key)
{
    const struct aps_layer_key key = states_key(scale, layer_key);
    const struct aps_scale_state *before =
        states_find_predecessor(states, scale, layer_key);
    struct aps_scale_state **bucket = states_bucket(states, &key);
    const size_t bytes =
        sizeof(struct aps_scale_state) + aps_scale_state_bytes(scale);
    struct aps_scale_state *state = calloc(1, bytes);

    if (!state)
        return NULL;
    if (before)
        memcpy(state, before, bytes);
    state->key = key;
    state->key.generation = layer_key->generation;
    state->key.choice = layer_key->choice;
    state->scale = *scale;
    state->next = *bucket;
    *bucket = state;
    states->count += key.layer < 0;
    return state;
}

struct aps_scale_state *
aps_scale_states_get(struct aps_scale_states *states,
                     const struct aps_scale *scale,
                     const struct aps_layer_key *layer_key)
{
    const struct aps_layer_key key = states_key(scale, layer_key);
    struct aps_scale_state *state = states_find(states, &key);

    /* Drop the state of another scale, or of another layer with the same
     * number. Two rules may have different parameters, and so different
     * states. */
    if (state && (state->key.generation != layer_key->generation ||
                  state->key.choice != layer_key->choice ||
                  !aps_scale_equal(&state->scale, scale))) {
        states_drop(states, state);
        state = NULL;
    }
    return state ? state : states_make(states, scale, layer_key);
}

void aps_scale_states_make_room(struct aps_scale_states *states,
                                const struct aps_scale *scale, int count,
                                const struct aps_layer_key layer_keys[])
{
    int missing = 0;

    for (int i = 0; i < count; i++) {
        const struct aps_layer_key key = states_key(scale, &layer_keys[i]);

        missing += key.layer < 0 && !states_find(states, &key);
    }
    if (states->count + missing > APS_SCALE_STATES_MAX)
        aps_scale_states_clear(states);
}

/* --- a call --------------------------------------------------------------- */

const struct aps_format *aps_scale_state_format(const struct aps_plan *plan)
{
    return plan->accumulate == APS_ACCUMULATE_FP32
               ? &plan->format
               : aps_format_narrower(&plan->format, &plan->sums);
}

struct aps_scale_prediction
aps_scale_state_predict(const struct aps_scale_state *state,
                        const struct aps_plan *plan, int ranks)
{
    struct aps_scale_prediction prediction = aps_scale_predict(
        &plan->scale, state->memory, aps_scale_state_format(plan), ranks);

    if (plan->accumulate == APS_ACCUMULATE_FP32)
        return prediction;
    if (prediction.sum_exponent < prediction.exponent)
        prediction.exponent = prediction.sum_exponent;
    prediction.sum_exponent = prediction.exponent;
    return prediction;
}

/* Updates the state. True if a finite value overflowed, although the scale is at
 * its minimum, *least. */
static bool states_learn(struct aps_scale_state *state,
                         const struct aps_format *format, int ranks,
                         const struct aps_scale_record *record, double *least)
{
    const bool is_least =
        record->over && !record->nonfinite &&
        aps_scale_is_min(&state->scale, state->memory, format, ranks, least);

    aps_scale_update(&state->scale, state->memory, format, ranks, record);
    return is_least;
}

bool aps_scale_state_begin(struct aps_scale_state *state,
                           const struct aps_layer_key *layer_key,
                           const struct aps_format *format, int ranks,
                           double *least)
{
    bool is_least = false;

    if (state->pending &&
        (state->epoch != layer_key->epoch || state->step != layer_key->step)) {
        is_least = states_learn(state, format, ranks, &state->record, least);
        state->pending = false;
        state->record = (struct aps_scale_record){0};
    }
    state->epoch = layer_key->epoch;
    state->step = layer_key->step;
    return is_least;
}

bool aps_scale_state_end(struct aps_scale_state *state,
                         const struct aps_format *format, int ranks,
                         const struct aps_scale_record *record, double *least)
{
    if (aps_scale_scope(&state->scale) == APS_SCOPE_LAYER)
        return states_learn(state, format, ranks, record, least);
    state->pending = true;
    aps_scale_record_add(&state->record, record);
    return false;
}
