/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shadow candidates (a policy's `shadow`): on sampled steps each of them
 * reduces the inputs of a layer that MPI reduces for the program, and its error
 * goes to the log. The program gets the same result as without the library.
 */
#include "config.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/plural.h"
#include "base/print.h"
#include "comm/report.h"
#include "message/agree.h"
#include "number/bits.h"
#include "trial/trial_ops.h"

/* Steps between sampled steps with nonblocking calls, if time decides. Their
 * samples wait in a queue, so ranks learn at different moments which step is
 * the next to be sampled. Inputs are therefore copied only at multiples of this
 * number. */
#define NONBLOCKING_EVERY 16

/* Part of a sample's cost that is measured. The rest is the effect on the
 * program's next steps, whose data is no longer in the caches, and the wait of
 * ranks for each other. Observed with tests/bench/shadow.sh on a shared
 * machine: 7 to 8 % in total with 5 % measured, 4 to 6 % with 3.3 %. */
#define MEASURED 0.5

static bool shadow_is_stated(const struct aps_context *context)
{
    return aps_policy_log(context->job->policy)->stated;
}

static size_t shadow_class(const struct aps_layer *layer)
{
    return layer->key.layer < 0 ? aps_sample_budget_class(layer->count)
                                : APS_SAMPLE_BUDGET_LAYERS;
}

/* Notes the time of the first call. */
static void shadow_note_begin(const struct aps_context *context,
                              struct aps_shadows *shadows)
{
    shadows->begin = aps_clock_ns(CLOCK_MONOTONIC);
    shadows->budget.share = MEASURED * aps_policy_budget(context->job->policy);
    if (atomic_load(&aps_counters.shadow_begin) == 0)
        atomic_store(&aps_counters.shadow_begin,
                     (unsigned long long)shadows->begin);
}

/* If a step has nonblocking calls, too, it is sampled in the steps in which
 * their inputs are copied. */
static bool shadow_is_due(struct aps_context *context,
                          const struct aps_layer *layer)
{
    struct aps_shadows *shadows = &context->trials->shadows;

    if (shadows->begin == 0)
        shadow_note_begin(context, shadows);
    if (shadow_is_stated(context))
        return layer->number % context->sample_every == 0;
    return aps_sample_budget_is_due(&shadows->budget, shadow_class(layer),
                                    layer->number) &&
           (!shadows->starts || layer->number % NONBLOCKING_EVERY == 0);
}

static bool shadow_may_be_due(struct aps_context *context,
                              const struct aps_layer *layer)
{
    struct aps_shadows *shadows = &context->trials->shadows;

    /* Written once, before the queue's thread may read it. */
    if (!shadows->starts)
        shadows->starts = true;
    return layer->number % (shadow_is_stated(context) ? context->sample_every
                                                      : NONBLOCKING_EVERY) ==
           0;
}

static void shadow_lose(struct aps_subject *subject)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;

    aps_context_event_once(
        context, &subject->memory->lost,
        "shadow: a sample of %zu elements is lost: a rank has no memory for "
        "it, or for another copy of a nonblocking call's inputs",
        layer->count);
    aps_sample_budget_postpone(&context->trials->shadows.budget,
                               shadow_class(layer), layer->number);
}

/* Reports the first sample of the job. */
static void shadow_tell_first(const struct aps_subject *subject)
{
    const struct aps_context *context = subject->context;
    const struct aps_log *log = aps_job_log(context->job, context->rank);
    const size_t count = subject->plans->count;
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char often[64];

    if (atomic_flag_test_and_set(&told) || !context->job->options.summary ||
        context->job->options.summary_file)
        return;
    if (shadow_is_stated(context))
        snprintf(often, sizeof often, "every %ld step%s", context->sample_every,
                 aps_plural(context->sample_every));
    else
        aps_print(often, sizeof often, "in at most %g %% of the time",
                  100 * aps_policy_budget(context->job->policy));
    aps_message(-1,
                "%s: MPI reduces for the program, and %zu candidate%s reduce%s "
                "the same inputs %s; errors go to %s",
                context->job->source.path, count, aps_plural(count),
                count == 1 ? "s" : "", often, log ? log->path : "no log");
}

static void shadow_begin(struct aps_subject *subject)
{
    const struct aps_layer *layer = &subject->layer;

    if (subject->context->rank != 0)
        return;
    shadow_tell_first(subject);
    aps_context_write_exponents(subject->context, &layer->key,
                                subject->function, layer->memory, layer->in);
}

/* Returns the bits of a nonnegative float, which as integers have the same
 * order. */
static int shadow_bits(double seconds)
{
    return (int)aps_float_bits(seconds > 0 ? (float)seconds : 0);
}

/* The ranks agree on the next step to be sampled, unless the policy states it:
 * they take the MAX of the costs and the MIN of the times. */
static void shadow_settle(struct aps_subject *subject, int64_t taken)
{
    enum { COST, ELAPSED, VALUES };
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    struct aps_shadows *shadows = &context->trials->shadows;
    const int64_t elapsed = aps_clock_ns(CLOCK_MONOTONIC) - shadows->begin;
    int values[VALUES], rc;

    if (shadow_is_stated(context))
        return;
    values[COST] = shadow_bits(1e-9 * (double)taken);
    values[ELAPSED] = -shadow_bits(1e-9 * (double)elapsed);
    rc = aps_agree_max(aps_comm_resources_vcomm(context->resources), VALUES,
                       values);
    if (values[COST] < 0 || values[ELAPSED] > 0)
        rc = MPI_ERR_OTHER; /* not times */
    if (aps_context_fail(context, subject->ops->what, rc) != MPI_SUCCESS)
        return;
    aps_sample_budget_end(&shadows->budget, shadow_class(layer), layer->number,
                          aps_float_from_bits((uint32_t)values[COST]),
                          aps_float_from_bits((uint32_t)-values[ELAPSED]));
}

const struct aps_trial_ops aps_trial_shadow = {
    .kind = APS_TRIAL_SHADOW,
    .what = "shadow",
    .measured = &aps_counters.shadowed,
    .ns = &aps_counters.shadow_ns,
    .bytes = &aps_counters.shadow_bytes,
    .is_due = shadow_is_due,
    .may_be_due = shadow_may_be_due,
    .lose = shadow_lose,
    .begin = shadow_begin,
    .settle = shadow_settle,
};
