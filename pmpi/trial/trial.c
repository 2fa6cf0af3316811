/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "codec/entropy.h"
#include "trial/formats.h"
#include "layer/layers.h"
#include "comm/context.h"
#include "comm/report.h"
#include "trial/shadows.h"

/* --- state ---------------------------------------------------------------- */

static void trials_destroy(struct aps_context *context)
{
    aps_shadows_destroy(context->shadows);
    aps_auto_formats_destroy(context->auto_formats);
}

bool aps_trials_make(struct aps_context *context, const struct aps_plan *plan)
{
    context->destroy_trials = trials_destroy;
    if (context->shadowed && plan->shadow && !context->shadows)
        context->shadows =
            aps_shadows_create(aps_policy_budget(context->job->policy));
    if (plan->auto_format && !context->auto_formats)
        context->auto_formats = aps_auto_formats_create();
    return (!context->shadowed || !plan->shadow || context->shadows) &&
           (!plan->auto_format || context->auto_formats);
}

/* --- one candidate -------------------------------------------------------- */

/* Writes "e4m3, scale aps, reduce ring". */
static void candidates_describe(const struct aps_plan *plan, char *text,
                                size_t size)
{
    snprintf(text, size, "%s, scale %s, reduce %s", plan->format.name,
             aps_scale_name(&plan->scale), aps_reduce_name(plan->reduce));
}

/* Returns the entropy of rank 0's codes, as if all its values had one scale.
 * NaN: the plan has no codes. */
static double candidates_entropy(const struct aps_plan *plan,
                                 const struct aps_layer *layer,
                                 const struct aps_cost *cost)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_magnitude magnitude;
    struct aps_codec codec;
    int exponent;

    if (plan->compressor.kind != APS_COMPRESSOR_NONE || !cost->encoded)
        return NAN;
    if (plan->rounding != APS_ROUND_NEAREST)
        options.rounding = APS_ROUND_STOCHASTIC;
    options.seed = plan->seed;
    aps_codec_init(&plan->format, &codec);
    magnitude = aps_magnitude_of(layer->in, layer->count);
    exponent = aps_scale_block_exponent(&plan->scale, &plan->format, magnitude,
                                        cost->least_exponent);
    return aps_codes_entropy(&codec, layer->in, layer->count,
                             aps_scale_scaling(&plan->scale, exponent),
                             &options);
}

/* Local, on rank 0. Compares the result with the reference, and writes a row of
 * the log. */
static void candidates_write(struct aps_subject *subject,
                             const struct aps_plan *plan, size_t i,
                             const struct aps_cost *cost, int64_t taken)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    struct aps_candidates *candidates = subject->candidates;
    struct aps_candidate_result *result = &subject->results[i];
    struct aps_sampled sampled = {
        .cost = cost,
        .measure = &result->measure,
        .taken = taken,
        .shadow = (int)i + 1,
    };

    result->measured = true;
    result->wire_bytes = cost->wire_bytes;
    result->fp32_bytes = cost->fp32_bytes;
    aps_sample_compare(&candidates->sample, &aps_memory_host, candidates->out,
                       layer->count, &result->measure);
    if (!aps_job_log(context->job, context->rank))
        return;
    sampled.entropy = candidates_entropy(plan, layer, cost);
    aps_context_row(context, &layer->key, plan, subject->function, &sampled);
}

/* COLLECTIVE. Reduces by candidate i, unless it is impossible here; then it is
 * impossible on all ranks. */
static void candidates_try(struct aps_subject *subject, size_t i)
{
    struct aps_context *context = subject->context;
    struct aps_candidates *candidates = subject->candidates;
    struct aps_layer *layer = &subject->layer;
    struct aps_cost cost = {.sampled = true, .residual = NAN};
    struct aps_vector vector = {.in = layer->in,
                                .out = candidates->out,
                                .n = layer->count,
                                .memory = &aps_memory_host};
    char cause[256] = "", text[160];
    struct aps_plan plan;
    struct aps_place place;
    struct aps_layer_site site;
    int64_t begin, taken;
    int rc;

    aps_policy_candidate(context->job->policy, &layer->key, subject->plans, i,
                         &plan);
    rc = aps_reductions_prepare(
        aps_comm_resources_reductions(context->resources), &plan, layer->count,
        cause, sizeof cause);
    if (rc > 0) {
        (void)aps_context_fail(context, subject->what, rc);
        return;
    }
    if (rc < 0) {
        candidates_describe(&plan, text, sizeof text);
        aps_context_event_once(context, &candidates->warned_rules[i],
                               "%s: candidate %zu (%s) cannot run here: "
                               "%s; it is not measured",
                               subject->what, i + 1, text, cause);
        return;
    }
    place = aps_layer_place(layer);
    place.matrix = plan.matrix;
    if (layer->plan.auto_format)
        place.choice = aps_layer_choice(layer, (int)i);
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    site = aps_context_site(context, &candidates->kept[i]);
    rc = aps_layers_reduce(&site, &plan, 1, &place, &vector, &cost);
    taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    (void)aps_context_fail(context, subject->what, rc);
    if (rc == MPI_SUCCESS && subject->ready && context->rank == 0)
        candidates_write(subject, &plan, i, &cost, taken);
}

/* Local. Records for the summary that several layers may be measured as one:
 * without steps all calls of a size are one layer, and with a step of one call
 * the program may make several such calls. */
static void candidates_note_merged(const struct aps_subject *subject)
{
    const struct aps_plan_key *key = &subject->layer.key;
    const struct aps_policy_steps *steps =
        aps_policy_steps(subject->context->job->policy);

    if (key->layer < 0 || (steps->kind == APS_STEPS_AUTO && key->layers == 1))
        atomic_store(&aps_counters.layers_merged, true);
}

void aps_candidates_measure(struct aps_subject *subject)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    const int rc = aps_sample_reference(
        &subject->candidates->sample,
        aps_comm_resources_vcomm(context->resources), 0, &aps_memory_host,
        layer->in, layer->count, &subject->ready);

    candidates_note_merged(subject);
    (void)aps_context_fail(context, subject->what, rc);
    for (size_t i = 0; i < subject->plans->count; i++)
        candidates_try(subject, i);
}

float *aps_layer_copy(const struct aps_layer *layer)
{
    const unsigned long failures = aps_context_failures();
    float *copy = malloc(layer->count * sizeof *copy);

    if (!copy)
        return NULL;
    layer->memory->copy_out(copy, layer->in, layer->count);
    if (aps_context_failures() == failures)
        return copy;
    free(copy);
    return NULL;
}
