/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/scales.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/plural.h"
#include "base/print.h"
#include "layer/scale_states.h"
#include "message/agree.h"
#include "scale/scale.h"

/* Number of elements that are copied at a time from memory other than the
 * host's. */
#define PART 4096

struct aps_scales {
    struct aps_scale_states states;
    /* Scratch for struct aps_scale_call and for the moments of all ranks. */
    unsigned char *pieces;
    size_t pieces_size;
    struct aps_scale_moments *moments;
    size_t moments_count;
    unsigned long long at_least; /* number of overflows with the scale at its
                                    minimum */
};

/* The layers of one call. */
struct run {
    const struct aps_layer_site *site;
    const struct aps_plan *plan;
    int count;
    const struct aps_layer_key *keys;
    struct aps_vector *vectors;
    struct aps_scale_state *states[APS_VECTORS_MAX];
    enum aps_scale_question questions[APS_VECTORS_MAX];
    struct aps_scale_moments moments[APS_VECTORS_MAX]; /* over all ranks */
    struct aps_scale_call calls[APS_VECTORS_MAX];
};

void aps_scales_destroy(struct aps_scales *scales)
{
    if (!scales)
        return;
    aps_scale_states_clear(&scales->states);
    free(scales->pieces);
    free(scales->moments);
    free(scales);
}

/* Local. Finds or makes the states and the scratch of a call. Returns false if
 * memory is missing. */
static bool scales_equip(struct run *run)
{
    struct aps_scales *scales = run->site->kept->scales;
    size_t bytes = 0;

    if (!scales)
        scales = run->site->kept->scales = calloc(1, sizeof *scales);
    if (!scales)
        return false;
    aps_scale_states_make_room(&scales->states, &run->plan->scale, run->count,
                               run->keys);
    for (int i = 0; i < run->count; i++) {
        bytes += aps_redo_bytes(run->vectors[i].n);
        run->states[i] = aps_scale_states_get(&scales->states,
                                              &run->plan->scale, &run->keys[i]);
        if (!run->states[i])
            return false;
    }
    if (bytes > scales->pieces_size) {
        free(scales->pieces);
        scales->pieces = malloc(bytes);
        scales->pieces_size = scales->pieces ? bytes : 0;
    }
    return scales->pieces != NULL;
}

/* --- a call --------------------------------------------------------------- */

/* Local. Reports that values overflow although the scale is at its minimum. */
static void scales_tell_least(const struct run *run, double least)
{
    const unsigned long long times = ++run->site->kept->scales->at_least;
    char where[32] = "the candidate", text[256];

    if (!aps_message_is_due(times))
        return;
    if (run->plan->rule >= 0)
        snprintf(where, sizeof where, "rule %d", run->plan->rule);
    aps_print(text, sizeof text,
              "scale %s is at its minimum of %g, and a value overflows all the "
              "same (%llu time%s so far); a smaller 'min' in %s lets the scale "
              "fall",
              aps_scale_name(&run->plan->scale), least, times,
              aps_plural(times), where);
    run->site->report(run->site->owner, text);
}

/* Returns the moments of this rank's values. */
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

        vector->memory->copy_out(
            part, aps_memory_at(vector->memory, vector->in, begin), n);
        here = aps_scale_moments_of(part, n, question);
        aps_scale_moments_add(&moments, &here);
    }
    return moments;
}

/* Local. Returns room for the moments of `layers` layers on each rank, or NULL
 * if memory is missing. */
static struct aps_scale_moments *scales_make_moments(struct run *run,
                                                     size_t layers)
{
    struct aps_scales *scales = run->site->kept->scales;
    const size_t count = (size_t)run->site->vcomm->size * layers;

    if (count > scales->moments_count) {
        free(scales->moments);
        scales->moments = malloc(count * sizeof *scales->moments);
        scales->moments_count = scales->moments ? count : 0;
    }
    return scales->moments;
}

/* True if finite values may have these moments, which another rank has sent. */
static bool scales_are_moments(const struct aps_scale_moments *moments)
{
    return isfinite(moments->max) && moments->n >= 0 &&
           isfinite(moments->n + moments->sum + moments->sum_squares) &&
           isfinite(moments->nonzero + moments->sum_log +
                    moments->sum_log_squares);
}

/* COLLECTIVE over the site's ranks if one of the states needs moments
 * before the data, otherwise local; states are equal on all ranks. Ranks add up
 * the moments in rank order, so that sums have the same bits on all ranks.
 * Returns an MPI error code. */
static int scales_ask(struct run *run)
{
    const struct aps_vcomm *vcomm = run->site->vcomm;
    const size_t layers = (size_t)run->count;
    struct aps_scale_moments *all, *own;
    bool asks = false;
    int rc;

    for (size_t i = 0; i < layers; i++) {
        run->questions[i] =
            aps_scale_question(&run->plan->scale, run->states[i]->memory);
        asks |= run->questions[i] != APS_QUESTION_NONE;
    }
    if (!asks)
        return MPI_SUCCESS;
    all = scales_make_moments(run, layers);
    if (!all)
        return MPI_ERR_NO_MEM;
    own = all + (size_t)vcomm->rank * layers;
    for (size_t i = 0; i < layers; i++)
        own[i] = scales_measure(&run->vectors[i], run->questions[i]);
    rc = aps_agree_gather_bytes(vcomm, layers * sizeof *own, all);
    for (size_t i = 0; rc == MPI_SUCCESS && i < layers * (size_t)vcomm->size;
         i++) {
        if (!scales_are_moments(&all[i]))
            rc = MPI_ERR_OTHER;
        aps_scale_moments_add(&run->moments[i % layers], &all[i]);
    }
    return rc;
}

/* Local. Fills in the exponents that the states predict for the call. */
static void scales_predict(struct run *run)
{
    const struct aps_scale *scale = &run->plan->scale;
    unsigned char *pieces = run->site->kept->scales->pieces;

    for (int i = 0; i < run->count; i++) {
        struct aps_scale_call *call = &run->calls[i];
        struct aps_vector *vector = &run->vectors[i];
        struct aps_scale_prediction prediction;

        if (run->questions[i] != APS_QUESTION_NONE)
            aps_scale_learn(scale, run->states[i]->memory,
                            aps_scale_state_format(run->plan),
                            run->site->vcomm->size, &run->moments[i]);
        prediction = aps_scale_state_predict(run->states[i], run->plan,
                                             run->site->vcomm->size);
        vector->exponent = prediction.exponent;
        vector->sum_exponent = prediction.sum_exponent;
        *call = (struct aps_scale_call){
            .redo = aps_scale_on_overflow(scale) == APS_OVERFLOW_REDO,
            .pieces = pieces,
        };
        memset(pieces, 0, aps_redo_bytes(vector->n));
        pieces += aps_redo_bytes(vector->n);
        vector->state = call;
    }
}

int aps_scales_run(const struct aps_layer_site *site,
                   const struct aps_plan *plan, int count,
                   const struct aps_layer_key keys[],
                   struct aps_vector vectors[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .plan = plan,
        .count = count,
        .keys = keys,
        .vectors = vectors,
    };
    double least;
    int rc;

    if (!scales_equip(&run))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++)
        if (aps_scale_state_begin(run.states[i], &keys[i],
                                  aps_scale_state_format(plan),
                                  site->vcomm->size, &least))
            scales_tell_least(&run, least);
    rc = scales_ask(&run);
    if (rc != MPI_SUCCESS)
        return rc;
    scales_predict(&run);
    rc = aps_reductions_run(site->reductions, plan, count, vectors, cost);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (aps_scale_state_end(run.states[i], aps_scale_state_format(plan),
                                site->vcomm->size, &run.calls[i].record,
                                &least))
            scales_tell_least(&run, least);
    return rc;
}
