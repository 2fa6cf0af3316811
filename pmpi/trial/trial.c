/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "trial/trial.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "codec/entropy.h"
#include "comm/context.h"
#include "comm/report.h"
#include "device/memory_relay.h"
#include "layer/layers.h"
#include "message/agree.h"
#include "queue/progress_thread.h"
#include "queue/queue.h"
#include "trial/format.h"
#include "trial/trial_ops.h"

/* Maximum bytes of copies that may wait in a queue. Samples with more are
 * lost. */
#define COPIES_MAX ((size_t)1 << 30)

/* Returns the kind of trials that a layer has, or NULL. Candidates need a log. */
static const struct aps_trial_ops *trial_of(const struct aps_context *context,
                                            const struct aps_layer *layer)
{
    if (layer->key.call != APS_CALL_ALLREDUCE || layer->count > APS_SAMPLE_MAX)
        return NULL;
    if (layer->plan.auto_format)
        return &aps_trial_format;
    return layer->plan.shadow && context->sample_every > 0 ? &aps_trial_shadow
                                                           : NULL;
}

/* --- state ---------------------------------------------------------------- */

static void trials_destroy(struct aps_trials *trials)
{
    for (int kind = 0; kind < APS_TRIAL_KINDS; kind++) {
        struct aps_trial_memory *memory = &trials->memory[kind];

        for (int i = 0; i < APS_TRIAL_PLANS_MAX; i++)
            aps_carried_state_clear(&memory->kept[i]);
        free(memory->out);
    }
    aps_formats_clear(&trials->formats);
    free(trials);
}

bool aps_trials_make(struct aps_context *context, const struct aps_layer *layer)
{
    if (context->trials || (!layer->plan.auto_format && !layer->plan.shadow))
        return true;
    context->trials = calloc(1, sizeof *context->trials);
    context->destroy_trials = trials_destroy;
    return context->trials != NULL;
}

/* COLLECTIVE. Makes room for the layer. All ranks have arrived when it returns,
 * and have the same room, whatever this rank had before. Returns the same value
 * on all ranks: false if any rank lacks inputs or memory. */
static bool trial_equip(struct aps_subject *subject)
{
    struct aps_context *context = subject->context;
    struct aps_trial_memory *memory = subject->memory;
    const size_t n = subject->layer.count;
    const unsigned long long bytes =
        n * (sizeof(float) + (context->rank == 0 ? sizeof(double) : 0));
    bool well = subject->layer.in != NULL;
    float *out = NULL;

    if (subject->ops->equip)
        well &= subject->ops->equip(subject);
    well &= aps_sample_init(&context->sample) == 0;
    well &= context->rank != 0 || aps_sample_reserve(&context->sample, n) == 0;
    if (n > memory->room) {
        out = malloc(n * sizeof *out);
        well = well && out;
    }
    (void)aps_context_fail(
        context, "a sample",
        aps_agree_all(aps_comm_resources_vcomm(context->resources), &well));
    if (!well) {
        free(out);
        return false;
    }
    if (out) {
        free(memory->out);
        memory->out = out;
        memory->room = n;
        aps_count_max(subject->ops->bytes, bytes);
    }
    return true;
}

/* --- one plan ------------------------------------------------------------- */

/* Returns the entropy of rank 0's codes, as if all its values had one scale.
 * NaN: the plan has no codes. */
static double trial_entropy(const struct aps_plan *plan,
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
static void trial_write(struct aps_subject *subject,
                        const struct aps_plan *plan, size_t i,
                        struct aps_cost *cost, int64_t taken)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    struct aps_sampled sampled = {
        .cost = cost,
        .measure = &subject->measures[i],
        .taken = taken,
        .shadow = (int)i + 1,
    };

    aps_cost_in_type(cost, aps_memory_relay(layer->key.element));
    subject->results[i] = (struct aps_trial){.measured = true,
                                             .bytes = cost->wire_bytes,
                                             .fp32_bytes = cost->fp32_bytes};
    aps_sample_compare(&context->sample, &aps_memory_host, subject->memory->out,
                       layer->count, &subject->measures[i]);
    if (!aps_job_log(context->job, context->rank))
        return;
    sampled.entropy = trial_entropy(plan, layer, cost);
    aps_context_row(context, &layer->key, plan, subject->function, &sampled);
}

/* Reports a plan that is impossible here: "e4m3, scale aps, reduce ring". */
static void trial_warn(struct aps_subject *subject, const struct aps_plan *plan,
                       size_t i, const char *cause)
{
    aps_context_event_once(
        subject->context, &subject->memory->warned_plans[i],
        "%s: candidate %zu (%s, scale %s, reduce %s) cannot run here: %s; it "
        "is not measured",
        subject->ops->what, i + 1, plan->format.name,
        aps_scale_name(&plan->scale), aps_reduce_name(plan->reduce), cause);
}

/* COLLECTIVE. Reduces by plan i, unless it is impossible here; then it is
 * impossible on all ranks. */
static int trial_try(struct aps_subject *subject, size_t i)
{
    struct aps_context *context = subject->context;
    const struct aps_layer *layer = &subject->layer;
    struct aps_cost cost = {.sampled = true, .residual = NAN};
    struct aps_vector vector = {.in = layer->in,
                                .out = subject->memory->out,
                                .n = layer->count,
                                .memory = &aps_memory_host};
    const struct aps_layer_site site =
        aps_context_site(context, &subject->memory->kept[i]);
    struct aps_layer_key key = aps_layer_key_of(layer);
    char cause[256] = "";
    struct aps_plan plan;
    int64_t begin, taken;
    int rc;

    aps_policy_candidate(context->job->policy, &layer->key, subject->plans, i,
                         &plan);
    rc = aps_reductions_prepare(
        aps_comm_resources_reductions(context->resources), &plan, layer->count,
        cause, sizeof cause);
    if (rc > 0)
        (void)aps_context_fail(context, subject->ops->what, rc);
    if (rc < 0)
        trial_warn(subject, &plan, i, cause);
    if (rc != MPI_SUCCESS)
        return rc;
    key.matrix = plan.matrix;
    if (layer->plan.auto_format)
        key.choice = aps_layer_choice(layer, (int)i);
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    rc = aps_layers_reduce(&site, &plan, 1, &key, &vector, &cost);
    taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    (void)aps_context_fail(context, subject->ops->what, rc);
    if (rc == MPI_SUCCESS && subject->ready && context->rank == 0)
        trial_write(subject, &plan, i, &cost, taken);
    return rc;
}

/* --- one layer ------------------------------------------------------------ */

/* Local. Records for the summary that several layers may be measured as one:
 * without steps all calls of a size are one layer, and with a step of one call
 * the program may make several such calls. */
static void trial_note_merged(const struct aps_subject *subject)
{
    const struct aps_plan_key *key = &subject->layer.key;
    const struct aps_policy_steps *steps =
        aps_policy_steps(subject->context->job->policy);

    if ((key->layer < 0 && !steps->any) ||
        (steps->kind == APS_STEPS_AUTO && key->layers == 1))
        atomic_store(&aps_counters.layers_merged, true);
}

/* COLLECTIVE. Measures a layer. */
static void trial_measure(struct aps_subject *subject)
{
    const struct aps_trial_ops *ops = subject->ops;
    struct aps_context *context = subject->context;
    fenv_t environment;
    int64_t begin, taken;
    int rc = MPI_SUCCESS;

    if (!trial_equip(subject)) {
        if (context->failed == MPI_SUCCESS)
            ops->lose(subject);
        return;
    }
    aps_fpenv_enter(&environment);
    trial_note_merged(subject);
    /* All ranks have arrived, so the time excludes the wait for a late rank. */
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    if (ops->begin)
        ops->begin(subject);
    (void)aps_context_fail(
        context, ops->what,
        aps_sample_reference(&context->sample,
                             aps_comm_resources_vcomm(context->resources), 0,
                             &aps_memory_host, subject->layer.in,
                             subject->layer.count, &subject->ready));
    for (size_t i = 0; i < subject->plans->count && rc != MPI_ERR_NO_MEM; i++)
        rc = trial_try(subject, i);
    taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    aps_count(ops->measured, 1);
    aps_count(ops->ns, (unsigned long long)taken);
    /* The floating-point environment is still set, so all ranks compute the
     * same. */
    if (rc != MPI_ERR_NO_MEM) /* after it this rank sends no more */
        ops->settle(subject, taken);
    aps_fpenv_leave(&environment);
}

/* Local. Returns a copy of the layer's inputs in host memory, which the caller
 * frees, or NULL if memory is missing or the copy failed. */
static float *trial_copy(const struct aps_layer *layer)
{
    const unsigned long failures = aps_context_failures();
    float *copy = malloc(layer->count * sizeof *copy);
    fenv_t environment;

    if (!copy)
        return NULL;
    aps_fpenv_enter(&environment);
    layer->memory->copy_out(copy, layer->in, layer->count);
    aps_fpenv_leave(&environment);
    if (aps_context_failures() == failures)
        return copy;
    free(copy);
    return NULL;
}

static struct aps_subject trial_subject(struct aps_context *context,
                                        const char *function,
                                        const struct aps_layer *layer)
{
    const struct aps_trial_ops *ops = trial_of(context, layer);

    return (struct aps_subject){
        .context = context,
        .ops = ops,
        .memory = &context->trials->memory[ops->kind],
        .plans = layer->plan.auto_format ? &layer->plan.auto_format->formats
                                         : layer->plan.shadow,
        .function = function,
        .layer = *layer,
    };
}

bool aps_trial_is_due(struct aps_context *context,
                      const struct aps_layer *layer)
{
    const struct aps_trial_ops *ops = trial_of(context, layer);

    return ops && ops->is_due(context, layer);
}

void aps_trial_run(struct aps_context *context, const char *function,
                   const struct aps_layer *layer)
{
    struct aps_subject subject = trial_subject(context, function, layer);
    float *copy = NULL;

    if (layer->memory != &aps_memory_host) {
        copy = trial_copy(layer);
        subject.layer.in = copy;
    }
    trial_measure(&subject);
    free(copy);
}

/* --- nonblocking calls ---------------------------------------------------- */

/* Inputs that wait in the queue. */
struct trial_waiting {
    struct aps_operation operation;
    struct aps_subject subject;
    float *copy; /* NULL: there was no memory */
};

/* COLLECTIVE. Measures the copied layer in the queue. */
static void trial_take_turn(struct aps_operation *operation)
{
    struct trial_waiting *this = operation->owner;
    struct aps_context *context = this->subject.context;

    if (context->failed == MPI_SUCCESS &&
        context->resources_state == APS_RESOURCES_READY &&
        aps_trial_is_due(context, &this->subject.layer))
        trial_measure(&this->subject);
    if (this->copy)
        atomic_fetch_sub(&context->trials->copied,
                         this->subject.layer.count * sizeof *this->copy);
    free(this->copy);
    free(this);
}

bool aps_trial_may_be_due(struct aps_context *context,
                          const struct aps_layer *layer)
{
    const struct aps_trial_ops *ops = trial_of(context, layer);

    return ops && ops->may_be_due && ops->may_be_due(context, layer);
}

/* Queues the sample even if its inputs are not copied, so that all ranks learn
 * that it is lost. */
int aps_trial_push(struct aps_context *context, const char *function,
                   const struct aps_layer *layer)
{
    struct aps_trials *trials = context->trials;
    const size_t bytes = layer->count * sizeof(float);
    unsigned long long copied;
    struct trial_waiting *this = calloc(1, sizeof *this);

    if (!this)
        return aps_context_fail(context, trial_of(context, layer)->what,
                                MPI_ERR_NO_MEM);
    if (atomic_load(&trials->copied) + bytes <= COPIES_MAX)
        this->copy = trial_copy(layer);
    copied = atomic_fetch_add(&trials->copied, this->copy ? bytes : 0);
    if (this->copy)
        aps_count_max(&aps_counters.shadow_copies, copied + bytes);
    this->subject = trial_subject(context, function, layer);
    this->subject.layer.in = this->copy;
    this->operation =
        (struct aps_operation){.owner = this, .run = trial_take_turn};
    aps_queue_push(context->queue, &this->operation);
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}
