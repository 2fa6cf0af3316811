/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/scales.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/plural.h"
#include "comm/report.h"
#include "progress/agree.h"
#include "scale/scale.h"

#define BUCKETS 256

/* A program whose counts vary from call to call (fused buffers without a layer
 * table) would get states without end: all are dropped when there are so many,
 * on all ranks at the same call. */
#define STATES_MOST 4096

/* Ranks whose moments travel at a time. */
#define RANKS_MOST 8

/* Elements of a layer in another memory than the host's, at a time. */
#define PART 4096

struct state {
    struct state *next; /* in its bucket */
    struct aps_place key;
    struct aps_scale scale;
    bool fresh; /* made for the call under way, not agreed on yet */

    /* Of `scope: model`: the step that `record` is of. */
    bool pending;
    struct aps_scale_record record;
    long epoch, step;

    alignas(max_align_t) unsigned char memory[]; /* the scale's */
};

struct aps_scales {
    struct state *buckets[BUCKETS];
    int count;
    unsigned char *pieces; /* scratch, for struct aps_history */
    size_t pieces_size;
    unsigned long long at_least; /* overflows under a scale that can fall no
                                    more */
};

/* The layers of one call. */
struct run {
    struct aps_context *context;
    const struct aps_plan *plan;
    int count;
    const struct aps_place *places;
    struct aps_vector *vectors;
    struct state *states[APS_VECTORS_MOST];
    enum aps_scale_question questions[APS_VECTORS_MOST];
    struct aps_scale_moments moments[APS_VECTORS_MOST];
    struct aps_history histories[APS_VECTORS_MOST];
    bool grown; /* a state, or scratch, is new */
    bool asks;
    bool bad; /* on this rank: out of memory */
};

/* The format that predictions must suit. */
static const struct aps_format *scales_format(const struct aps_plan *plan)
{
    return plan->accumulate == APS_ACCUMULATE_FP32
               ? &plan->format
               : aps_format_narrower(&plan->format, &plan->sums);
}

/* --- the states ----------------------------------------------------------- */

static void scales_clear(struct aps_scales *scales)
{
    for (int i = 0; i < BUCKETS; i++) {
        while (scales->buckets[i]) {
            struct state *state = scales->buckets[i];

            scales->buckets[i] = state->next;
            free(state);
        }
    }
    scales->count = 0;
}

void aps_scales_destroy(struct aps_scales *scales)
{
    if (!scales)
        return;
    scales_clear(scales);
    free(scales->pieces);
    free(scales);
}

static struct aps_place scales_key(const struct aps_plan *plan,
                                   const struct aps_place *place)
{
    if (aps_scale_scope(&plan->scale) == APS_SCOPE_MODEL)
        return (struct aps_place){.layer = -2, .rule = place->rule};
    return (struct aps_place){.layer = place->layer, .count = place->count};
}

static struct state **scales_bucket(struct aps_scales *scales,
                                    const struct aps_place *key)
{
    const uint64_t number =
        (uint64_t)key->layer * 31 + key->count * 7 + (uint64_t)key->rule;

    return &scales->buckets[number * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

static struct state *scales_find(struct aps_scales *scales,
                                 const struct aps_place *key)
{
    struct state *state = *scales_bucket(scales, key);

    while (state && (!aps_place_same_layer(&state->key, key) ||
                     state->key.rule != key->rule))
        state = state->next;
    return state;
}

/* The state of a place, made if there is none; NULL: out of memory. */
static struct state *scales_get(struct run *run, const struct aps_place *place)
{
    struct aps_scales *scales = run->context->scales;
    const struct aps_scale *scale = &run->plan->scale;
    const struct aps_place key = scales_key(run->plan, place);
    struct state *state = scales_find(scales, &key);
    struct state **bucket = scales_bucket(scales, &key);

    /* Another scale, or another layer by the same number: nothing is kept. Two
     * rules may have parameters that differ, and so have states. */
    if (state && !state->fresh &&
        (state->key.era != place->era ||
         !aps_scale_equal(&state->scale, scale))) {
        struct state **link = bucket;

        while (*link != state)
            link = &(*link)->next;
        *link = state->next;
        free(state);
        scales->count--;
        state = NULL;
    }
    if (state)
        return state;
    run->grown = true;
    state = calloc(1, sizeof *state + aps_scale_state_bytes(scale));
    if (!state)
        return NULL;
    state->key = key;
    state->key.era = place->era;
    state->scale = *scale;
    state->fresh = true;
    state->next = *bucket;
    *bucket = state;
    scales->count++;
    return state;
}

/* How many states the call needs that are not there yet. */
static int scales_missing(const struct run *run)
{
    int missing = 0;

    for (int i = 0; i < run->count; i++) {
        const struct aps_place key = scales_key(run->plan, &run->places[i]);

        missing += !scales_find(run->context->scales, &key);
    }
    return missing;
}

/* Local. The states and the scratch of a call; run->bad where there is no
 * memory. */
static void scales_equip(struct run *run)
{
    struct aps_context *context = run->context;
    struct aps_scales *scales = context->scales;
    size_t bytes = 0;

    if (!scales) {
        run->grown = true;
        scales = context->scales = calloc(1, sizeof *scales);
    }
    run->bad = !scales;
    if (run->bad)
        return;
    if (scales->count + scales_missing(run) > STATES_MOST)
        scales_clear(scales);
    for (int i = 0; i < run->count; i++) {
        bytes += aps_history_bytes(run->vectors[i].n);
        run->states[i] = scales_get(run, &run->places[i]);
        run->bad |= !run->states[i];
    }
    if (bytes <= scales->pieces_size)
        return;
    run->grown = true;
    free(scales->pieces);
    scales->pieces = malloc(bytes);
    scales->pieces_size = scales->pieces ? bytes : 0;
    run->bad |= !scales->pieces;
}

/* --- a call --------------------------------------------------------------- */

/* Local. A scale that can fall no more lets values overflow. */
static void scales_tell_least(const struct run *run, double least)
{
    struct aps_context *context = run->context;
    const unsigned long long times = ++context->scales->at_least;

    if (aps_message_is_due(times))
        aps_context_event(
            context,
            "scale %s is at its minimum of %g, and a value overflows all the "
            "same (%llu time%s so far); a smaller 'min' in rule %d lets the "
            "scale fall",
            aps_scale_name(&run->plan->scale), least, times, aps_plural(times),
            run->plan->rule);
}

/* Local. What the state has met; finite values alone count. */
static void scales_update(const struct run *run, struct state *state,
                          const struct aps_scale_record *record)
{
    const struct aps_format *format = scales_format(run->plan);
    const int ranks = run->context->size;
    double least;

    if (record->over && !record->nonfinite &&
        aps_scale_is_least(&state->scale, state->memory, format, ranks, &least))
        scales_tell_least(run, least);
    aps_scale_update(&state->scale, state->memory, format, ranks, record);
}

/* Of `scope: model`: what the calls of the step before have met is learned
 * before the first call of another one. */
static void scales_end_step(const struct run *run, int i)
{
    struct state *state = run->states[i];
    const struct aps_place *place = &run->places[i];

    if (state->pending &&
        (state->epoch != place->epoch || state->step != place->step)) {
        scales_update(run, state, &state->record);
        state->pending = false;
        state->record = (struct aps_scale_record){0};
    }
    state->epoch = place->epoch;
    state->step = place->step;
}

/* The moments of this rank's values. */
static struct aps_scale_moments scales_measure(const struct aps_vector *vector,
                                               enum aps_scale_question question)
{
    struct aps_scale_moments moments = {0};
    float part[PART];

    if (question == APS_QUESTION_NONE)
        return moments;
    if (question == APS_QUESTION_MAX) {
        moments.max = vector->memory->magnitude(vector->in, vector->n).max;
        return moments;
    }
    if (vector->memory == &aps_memory_host)
        return aps_scale_moments_of(vector->in, vector->n, question);
    for (size_t begin = 0; begin < vector->n; begin += PART) {
        const size_t n =
            vector->n - begin < PART ? vector->n - begin : (size_t)PART;
        struct aps_scale_moments here;

        vector->memory->copy_out(part, vector->in + begin, n);
        here = aps_scale_moments_of(part, n, question);
        aps_scale_moments_add(&moments, &here);
    }
    return moments;
}

/* COLLECTIVE. The moments of all ranks, added in rank order by each: MPI does
 * not promise that a sum has the same bits everywhere. Some ranks at a time,
 * each of which fills in its own. */
static int scales_gather(const struct run *run,
                         struct aps_scale_moments *moments)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(run->context->resources);
    const struct aps_scale_moments mine = *moments;
    int rc = MPI_SUCCESS;

    *moments = (struct aps_scale_moments){0};
    for (int first = 0; first < vcomm->size; first += RANKS_MOST) {
        struct aps_scale_moments parts[RANKS_MOST] = {0};
        const int last =
            first + RANKS_MOST < vcomm->size ? first + RANKS_MOST : vcomm->size;
        int now;

        if (vcomm->rank >= first && vcomm->rank < last)
            parts[vcomm->rank - first] = mine;
        now = aps_agree_or(vcomm, parts, sizeof parts);
        rc = rc == MPI_SUCCESS ? now : rc;
        for (int rank = first; rank < last; rank++)
            aps_scale_moments_add(moments, &parts[rank - first]);
    }
    return rc;
}

/* A float that is not negative orders as its bits do, as an int. */
static int scales_bits(double max)
{
    const float value = (float)max;
    int bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float scales_value(int bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * COLLECTIVE. What the states have to know before the data; and do all ranks
 * have memory for them? (run->bad says so, then, on all ranks.) Without a new
 * state and a question there is no message. An MPI error code.
 */
static int scales_agree(struct run *run)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(run->context->resources);
    int values[1 + APS_VECTORS_MOST] = {run->bad};
    int rc, now;

    if (!run->grown && !run->asks)
        return MPI_SUCCESS;
    for (int i = 0; i < run->count; i++) {
        run->moments[i] = scales_measure(&run->vectors[i], run->questions[i]);
        values[1 + i] = scales_bits(run->moments[i].max);
    }
    rc = aps_agree_max(vcomm, 1 + run->count, values);
    run->bad = values[0];
    for (int i = 0; i < run->count && !run->bad; i++) {
        if (run->questions[i] == APS_QUESTION_MAX) {
            run->moments[i].max = scales_value(values[1 + i]);
        } else if (run->questions[i] != APS_QUESTION_NONE) {
            now = scales_gather(run, &run->moments[i]);
            rc = rc == MPI_SUCCESS ? now : rc;
        }
    }
    return rc;
}

/* Sums that are kept in a format have the scale of what they are added from. */
static struct aps_scale_prediction scales_prediction(const struct run *run,
                                                     const struct state *state)
{
    const struct aps_plan *plan = run->plan;
    struct aps_scale_prediction prediction = aps_scale_predict(
        &plan->scale, state->memory, scales_format(plan), run->context->size);

    if (plan->accumulate == APS_ACCUMULATE_FP32)
        return prediction;
    if (prediction.sum_exponent < prediction.exponent)
        prediction.exponent = prediction.sum_exponent;
    prediction.sum_exponent = prediction.exponent;
    return prediction;
}

/* Local. What the states say of the call. */
static void scales_predict(struct run *run)
{
    const struct aps_scale *scale = &run->plan->scale;
    const struct aps_format *format = scales_format(run->plan);
    unsigned char *pieces = run->context->scales->pieces;

    for (int i = 0; i < run->count; i++) {
        struct aps_history *history = &run->histories[i];
        struct aps_vector *vector = &run->vectors[i];
        void *memory = run->states[i]->memory;

        if (run->questions[i] != APS_QUESTION_NONE)
            aps_scale_learn(scale, memory, format, run->context->size,
                            &run->moments[i]);
        *history = (struct aps_history){
            .prediction = scales_prediction(run, run->states[i]),
            .redo = aps_scale_on_overflow(scale) == APS_OVERFLOW_REDO,
            .pieces = pieces,
        };
        memset(pieces, 0, aps_history_bytes(vector->n));
        pieces += aps_history_bytes(vector->n);
        vector->history = history;
        run->states[i]->fresh = false;
    }
}

/* Local. What the call has met. */
static void scales_learn(const struct run *run)
{
    for (int i = 0; i < run->count; i++) {
        struct state *state = run->states[i];
        const struct aps_scale_record *record = &run->histories[i].record;

        if (aps_scale_scope(&state->scale) == APS_SCOPE_LAYER) {
            scales_update(run, state, record);
            continue;
        }
        state->pending = true;
        aps_record_merge(&state->record, record);
    }
}

/* COLLECTIVE. Without a state, as all ranks know. */
static int scales_do_without(struct run *run, struct aps_cost *cost)
{
    struct aps_context *context = run->context;
    struct aps_plan plan = *run->plan;

    /* All of it, so that ranks will find out alike what they lack. */
    aps_scales_destroy(context->scales);
    context->scales = NULL;
    if (!context->scales_complained)
        aps_context_event(context,
                          "a rank is out of memory for the state of scale %s: "
                          "layers are scaled by aps until there is some",
                          aps_scale_name(&plan.scale));
    context->scales_complained = true;
    plan.scale = (struct aps_scale){.kind = APS_SCALE_APS};
    return aps_comm_resources_reduce(context->resources, &plan, run->count,
                                     run->vectors, cost);
}

int aps_scales_run(struct aps_context *context, const struct aps_plan *plan,
                   int count, const struct aps_place places[],
                   struct aps_vector vectors[], struct aps_cost *cost)
{
    struct run run = {
        .context = context,
        .plan = plan,
        .count = count,
        .places = places,
        .vectors = vectors,
    };
    int agreed, rc;

    scales_equip(&run);
    for (int i = 0; i < count && !run.bad; i++) {
        scales_end_step(&run, i);
        run.questions[i] =
            aps_scale_question(&plan->scale, run.states[i]->memory);
        run.asks |= run.questions[i] != APS_QUESTION_NONE;
    }
    agreed = scales_agree(&run);
    if (run.bad)
        return scales_do_without(&run, cost);
    scales_predict(&run);
    /* Also after an error in the agreement, of which other ranks may know
     * nothing. */
    rc = aps_comm_resources_reduce(context->resources, plan, count, vectors,
                                   cost);
    rc = agreed == MPI_SUCCESS ? rc : agreed;
    if (rc == MPI_SUCCESS)
        scales_learn(&run);
    return rc;
}
