/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "trial/trial.h"
#include "comm/report.h"
#include "trial/shadows.h"
#include "queue/progress_thread.h"
#include "queue/queue.h"

/* Steps between sampled steps with nonblocking calls, if time decides. Their
 * samples wait in a queue, so ranks learn at different moments which step is
 * the next to be sampled. Inputs are therefore copied only at multiples of this
 * number. */
#define NONBLOCKING_EVERY 16

/* Maximum bytes of copies that may wait in a queue. Samples with more are
 * lost. */
#define COPIES_MAX ((size_t)1 << 30)

/* --- layers that are due -------------------------------------------------- */

static bool shadow_is_stated(const struct aps_context *context)
{
    return aps_policy_log(context->job->policy)->stated;
}

static size_t shadow_class(const struct aps_context *context,
                           const struct aps_layer *layer)
{
    return aps_policy_steps(context->job->policy)->kind == APS_STEPS_NONE
               ? aps_sample_budget_class(layer->count)
               : 0;
}

/* If a step has nonblocking calls, too, it is sampled in the steps in which
 * their inputs are copied. */
bool aps_shadow_is_due(struct aps_context *context,
                       const struct aps_layer *layer)
{
    struct aps_shadows *shadows = context->shadows;

    if (!context->shadowed || !layer->plan.shadow)
        return false;
    if (shadows->begin == 0) {
        shadows->begin = aps_clock_ns(CLOCK_MONOTONIC);
        if (atomic_load(&aps_counters.shadow_begin) == 0)
            atomic_store(&aps_counters.shadow_begin,
                         (unsigned long long)shadows->begin);
    }
    if (layer->count > APS_SAMPLE_MAX)
        return false;
    if (shadow_is_stated(context))
        return layer->number % context->sample_every == 0;
    return aps_sample_budget_is_due(
               &shadows->budget, shadow_class(context, layer), layer->number) &&
           (!shadows->starts || layer->number % NONBLOCKING_EVERY == 0);
}

/* --- one layer ------------------------------------------------------------ */

/* Local. Reports the first sample of the job, and the memory that it needs. */
static void shadow_tell_first(const struct aps_subject *subject)
{
    const struct aps_context *context = subject->context;
    const struct aps_policy *policy = context->job->policy;
    const struct aps_log *log = aps_job_log(context->job, context->rank);
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char often[64];

    if (context->rank != 0 || atomic_flag_test_and_set(&told) ||
        !context->job->options.summary || context->job->options.summary_file)
        return;
    if (shadow_is_stated(context))
        snprintf(often, sizeof often, "every %ld steps", context->sample_every);
    else
        snprintf(often, sizeof often, "in at most %g %% of the time",
                 100 * aps_policy_budget(policy));
    aps_message(-1,
                "%s: MPI reduces for the program, and %zu candidate%s reduce%s "
                "the same inputs %s; errors go to %s",
                context->job->source.path, subject->layer.plan.shadow->count,
                aps_plural(subject->layer.plan.shadow->count),
                subject->layer.plan.shadow->count == 1 ? "s" : "", often,
                log ? log->path : "no log");
}

static void shadow_write_exponents(const struct aps_subject *subject)
{
    const struct aps_layer *layer = &subject->layer;
    struct aps_binades binades = {0};

    if (subject->context->rank != 0)
        return;
    aps_binades_add(&binades, layer->in, layer->count);
    aps_context_write_exponents(subject->context, &layer->key,
                                subject->function, &binades);
}

/* COLLECTIVE. Reduces by all candidates, one after the other. `well`: this rank
 * has the inputs. */
static void shadow_measure(struct aps_subject *subject, bool well)
{
    struct aps_context *context = subject->context;
    struct aps_layer *layer = &subject->layer;
    const size_t class = shadow_class(context, layer);
    fenv_t environment;
    int64_t begin, taken;

    subject->candidates = &context->shadows->candidates;
    subject->plans = layer->plan.shadow;
    subject->what = "shadow";
    if (!aps_shadows_equip(context, layer->count, class, layer->number, well))
        return;
    aps_fpenv_enter(&environment);
    shadow_tell_first(subject);
    /* All ranks have arrived, so the time excludes the wait for a late rank. */
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    shadow_write_exponents(subject);
    aps_candidates_measure(subject);
    taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    aps_count(&aps_counters.shadowed, 1);
    aps_count(&aps_counters.shadow_ns, (unsigned long long)taken);
    /* The floating-point environment is still set, so all ranks compute the
     * same. */
    aps_shadows_end(context, class, layer->number, taken);
    aps_fpenv_leave(&environment);
}

void aps_shadow_run(struct aps_context *context, const char *function,
                    const struct aps_layer *layer)
{
    struct aps_subject subject = {
        .context = context, .function = function, .layer = *layer};
    float *copy = NULL;

    if (layer->memory != &aps_memory_host) {
        copy = aps_layer_copy(layer);
        subject.layer.in = copy;
    }
    shadow_measure(&subject, subject.layer.in != NULL);
    free(copy);
}

/* --- nonblocking calls ---------------------------------------------------- */

struct shadow {
    struct aps_operation operation;
    struct aps_subject subject;
    float *copy; /* copy of the inputs, or NULL if there was no memory */
};

/* COLLECTIVE. Measures the copied layer in the queue. */
static void shadow_run(struct aps_operation *operation)
{
    struct shadow *this = operation->owner;
    struct aps_context *context = this->subject.context;

    if (context->failed == MPI_SUCCESS &&
        context->resources_state == APS_RESOURCES_READY &&
        aps_shadow_is_due(context, &this->subject.layer))
        shadow_measure(&this->subject, this->copy != NULL);
    if (this->copy)
        atomic_fetch_sub(&context->shadows->copied,
                         this->subject.layer.count * sizeof(float));
    free(this->copy);
    free(this);
}

bool aps_shadow_may_be_due(struct aps_context *context,
                           const struct aps_layer *layer)
{
    const long every =
        shadow_is_stated(context) ? context->sample_every : NONBLOCKING_EVERY;

    if (!context->shadowed || !layer->plan.shadow)
        return false;
    /* Written once, before the queue's thread may read it. */
    if (!context->shadows->starts)
        context->shadows->starts = true;
    return layer->count <= APS_SAMPLE_MAX && layer->number % every == 0;
}

/* Queues the sample even if its inputs are not copied, so that all ranks learn
 * that it is lost. */
int aps_shadow_push(struct aps_context *context, const char *function,
                    const struct aps_layer *layer)
{
    struct aps_shadows *shadows = context->shadows;
    const size_t bytes = layer->count * sizeof(float);
    struct shadow *this = calloc(1, sizeof *this);

    if (!this)
        return aps_context_fail(context, "shadow", MPI_ERR_NO_MEM);
    if (atomic_load(&shadows->copied) + bytes <= COPIES_MAX)
        this->copy = aps_layer_copy(layer);
    if (this->copy)
        aps_shadows_add_copy(shadows, bytes);
    this->subject = (struct aps_subject){
        .context = context, .function = function, .layer = *layer};
    this->subject.layer.in = this->copy;
    this->operation = (struct aps_operation){.owner = this, .run = shadow_run};
    aps_queue_push(context->queue, &this->operation);
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}
