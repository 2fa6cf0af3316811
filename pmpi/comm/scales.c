/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/scales.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/plural.h"
#include "comm/report.h"
#include "comm/scale_states.h"
#include "message/words.h"
#include "scale/scale.h"

/* Layers that a rank speaks of at a time. */
#define WORD_LAYERS 16

/* Elements of a layer in another memory than the host's, at a time. */
#define PART 4096

struct aps_scales {
    struct aps_scale_states states;
    unsigned char *pieces; /* scratch, for struct aps_history */
    size_t pieces_size;
    unsigned long long at_least; /* overflows under a scale that can fall no
                                    more */
};

/* The layers of one call. */
struct run {
    struct aps_context *context;
    struct aps_kept *kept;
    const struct aps_plan *plan;
    int count;
    const struct aps_place *places;
    struct aps_vector *vectors;
    struct aps_scale_state *states[APS_VECTORS_MOST];
    enum aps_scale_question questions[APS_VECTORS_MOST];
    struct aps_scale_moments moments[APS_VECTORS_MOST];
    struct aps_history histories[APS_VECTORS_MOST];
    bool grown; /* a state, or scratch, is new */
    bool asks;
    bool lost; /* this rank may not know whether the others ask */
    bool bad;  /* on this rank: out of memory */
};

/* What a rank says before the data. */
struct word {
    uint32_t bad;
    struct aps_scale_moments moments[WORD_LAYERS];
};
_Static_assert(sizeof(struct word) <= APS_WORD_MOST, "it is a word");

/* The format that predictions must suit. */
static const struct aps_format *scales_format(const struct aps_plan *plan)
{
    return plan->accumulate == APS_ACCUMULATE_FP32
               ? &plan->format
               : aps_format_narrower(&plan->format, &plan->sums);
}

void aps_scales_destroy(struct aps_scales *scales)
{
    if (!scales)
        return;
    aps_scale_states_clear(&scales->states);
    free(scales->pieces);
    free(scales);
}

/* Local. The states and the scratch of a call; run->bad where there is no
 * memory. */
static void scales_equip(struct run *run)
{
    struct aps_scales *scales = run->kept->scales;
    size_t bytes = 0;

    if (!scales) {
        run->grown = true;
        scales = run->kept->scales = calloc(1, sizeof *scales);
    }
    run->bad = !scales;
    if (run->bad)
        return;
    aps_scale_states_make_room(&scales->states, &run->plan->scale, run->count,
                               run->places);
    for (int i = 0; i < run->count; i++) {
        bytes += aps_history_bytes(run->vectors[i].n);
        run->states[i] = aps_scale_states_get(
            &scales->states, &run->plan->scale, &run->places[i], &run->grown);
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
    const unsigned long long times = ++run->kept->scales->at_least;

    char where[32] = "the candidate";

    if (run->plan->rule >= 0)
        snprintf(where, sizeof where, "rule %d", run->plan->rule);
    if (aps_message_is_due(times))
        aps_context_event(
            context,
            "scale %s is at its minimum of %g, and a value overflows all the "
            "same (%llu time%s so far); a smaller 'min' in %s lets the scale "
            "fall",
            aps_scale_name(&run->plan->scale), least, times, aps_plural(times),
            where);
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

/* Layers first ... first + count - 1 of a call. */
struct part {
    struct run *run;
    int first;
    int count;
};

/* In rank order, so that sums have the same bits everywhere. */
static void scales_hear(void *state, int rank, const void *said)
{
    const struct part *part = state;
    const struct word *word = said;

    (void)rank;
    if (!word)
        return;
    part->run->bad |= word->bad != 0;
    for (int i = 0; i < part->count; i++)
        aps_scale_moments_add(&part->run->moments[part->first + i],
                              &word->moments[i]);
}

/* COLLECTIVE, or, where this rank has lost a state, local. A part of a call. */
static int scales_speak(struct run *run, int first)
{
    struct aps_context *context = run->context;
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const int left = run->count - first;
    struct part part = {run, first, left < WORD_LAYERS ? left : WORD_LAYERS};
    struct word word = {.bad = run->bad};
    const uint32_t number = context->scale_words++;

    if (run->lost)
        aps_words_miss(vcomm, APS_TAG_STATE, number);
    if (run->lost || (!run->grown && !run->asks))
        return MPI_SUCCESS;
    for (int i = 0; i < part.count; i++)
        word.moments[i] =
            scales_measure(&run->vectors[first + i], run->questions[first + i]);
    return aps_words_exchange(vcomm, APS_TAG_STATE, number, &word, sizeof word,
                              scales_hear, &part);
}

/*
 * COLLECTIVE. What the states have to know before the data; and do all ranks
 * have memory for them? (run->bad says so, then, on all ranks.) Without a new
 * state and a question there is no message. A rank that has lost a state does not
 * know whether there are messages, and misses them. An MPI error code.
 */
static int scales_agree(struct run *run)
{
    int rc = MPI_SUCCESS;

    for (int first = 0; first < run->count; first += WORD_LAYERS) {
        const int now = scales_speak(run, first);

        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

/* Sums that are kept in a format have the scale of what they are added from. */
static struct aps_scale_prediction
scales_prediction(const struct run *run, const struct aps_scale_state *state)
{
    const struct aps_plan *plan = run->plan;
    struct aps_scale_prediction prediction = {0};

    /* All of it will be reduced again. */
    if (run->lost)
        return prediction;
    prediction = aps_scale_predict(&plan->scale, state->memory,
                                   scales_format(plan), run->context->size);
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
    unsigned char *pieces = run->kept->scales->pieces;

    for (int i = 0; i < run->count; i++) {
        struct aps_history *history = &run->histories[i];
        struct aps_vector *vector = &run->vectors[i];
        void *memory = run->states[i]->memory;

        if (run->questions[i] != APS_QUESTION_NONE && !run->lost)
            aps_scale_learn(scale, memory, format, run->context->size,
                            &run->moments[i]);
        *history = (struct aps_history){
            .prediction = scales_prediction(run, run->states[i]),
            .redo = aps_scale_on_overflow(scale) == APS_OVERFLOW_REDO,
            .lost = run->lost,
            .pieces = pieces,
        };
        memset(pieces, 0, aps_history_bytes(vector->n));
        pieces += aps_history_bytes(vector->n);
        vector->history = history;
        run->states[i]->fresh = false;
    }
}

/* COLLECTIVE. Without a state, as all ranks know. */
static int scales_do_without(struct run *run, struct aps_cost *cost)
{
    struct aps_context *context = run->context;
    struct aps_plan plan = *run->plan;

    /* All of it, so that ranks will find out alike what they lack. */
    aps_scales_destroy(run->kept->scales);
    run->kept->scales = NULL;
    aps_context_event_once(context, &run->kept->scales_complained,
                           "a rank is out of memory for the state of scale %s: "
                           "layers are scaled by aps until there is some",
                           aps_scale_name(&plan.scale));
    plan.scale = (struct aps_scale){.kind = APS_SCALE_APS};
    return aps_comm_resources_reduce(context->resources, &plan, run->count,
                                     run->vectors, cost);
}

int aps_scales_run(struct aps_context *context, struct aps_kept *kept,
                   const struct aps_plan *plan, int count,
                   const struct aps_place places[], struct aps_vector vectors[],
                   struct aps_cost *cost)
{
    struct run run = {
        .context = context,
        .kept = kept,
        .plan = plan,
        .count = count,
        .places = places,
        .vectors = vectors,
    };
    double least;
    int agreed, rc;

    scales_equip(&run);
    for (int i = 0; i < count && !run.bad; i++) {
        if (aps_scale_state_begin(run.states[i], &places[i],
                                  scales_format(plan), context->size, &least))
            scales_tell_least(&run, least);
        run.questions[i] =
            aps_scale_question(&plan->scale, run.states[i]->memory);
        run.asks |= run.questions[i] != APS_QUESTION_NONE;
        run.lost |= run.states[i]->lost;
    }
    agreed = scales_agree(&run);
    if (run.bad)
        return scales_do_without(&run, cost);
    /* Other ranks may know nothing of an error in the agreement. */
    run.lost |= agreed != MPI_SUCCESS;
    scales_predict(&run);
    rc = aps_comm_resources_reduce(context->resources, plan, count, vectors,
                                   cost);
    for (int i = 0; i < count; i++)
        if (rc != MPI_SUCCESS)
            run.states[i]->lost = true;
        else if (aps_scale_state_end(run.states[i], scales_format(plan),
                                     context->size, &run.histories[i].record,
                                     &least))
            scales_tell_least(&run, least);
    return agreed == MPI_SUCCESS ? rc : agreed;
}
