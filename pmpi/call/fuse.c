/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/fuse.h"

#include <limits.h>
#include <string.h>

#include "call/collective.h"
#include "call/plan.h"
#include "call/run.h"
#include "message/agree.h"
#include "comm/context.h"
#include "comm/first_call.h"
#include "layer/layers.h"
#include "comm/report.h"
#include "block/magnitude_batch.h"
#include "base/fpenv.h"
#include "scale/exponent.h"
#include "trial/trial.h"

/* Maximum number of calls of a group. */
#define GROUP_MAX 128

/* Nanoseconds after the last call at which a group closes without more
 * calls. */
#define PATIENCE_NS 1000000L

struct group {
    struct aps_context *context;
    struct aps_call *calls[GROUP_MAX];
    int count;          /* number of calls that have arrived and may belong to
                           it */
    bool closed;        /* the sequence of calls alone ends it with the last of
                           them */
    size_t bytes;       /* FP32 bytes of the calls that fuse */
    unsigned long lost; /* failures from the first call of the group until the
                           ranks had agreed */
    bool scaled[GROUP_MAX]; /* layers that needed magnitudes */
    struct aps_magnitude magnitudes[GROUP_MAX]; /* magnitudes of those layers */
};

/* The ranks agree on this record by MAX. */
struct agreement {
    int count; /* number of calls, negated */
    int exponents[GROUP_MAX];
};
#define AGREEMENT_INTS (int)(sizeof(struct agreement) / sizeof(int))

_Static_assert(GROUP_MAX <= APS_VECTORS_MAX, "a group is reduced at a time");

/* True if the call may share a batch: it has one layer, which is not
 * sampled. Before a call with an operation of the program the queue has the probe's
 * result, which ends a batch. */
static bool fuse_is_single(const struct aps_call *call)
{
    return call->arguments.collective->fuses && call->count == 1 &&
           call->arguments.op == MPI_SUM && !call->layers->sampled;
}

/* Decides whether a call of the group may share a batch, from the state before
 * the group. The result is the same on all ranks, since the calls before the
 * group have been carried out. fuse_choose considers the changes by calls of
 * the group. */
static void fuse_look(const struct group *group, struct aps_call *call)
{
    call->fusable = fuse_is_single(call);
    if (!call->layers->plan.auto_format)
        return;
    call->fusable &= !aps_trial_is_due(group->context, call->layers);
    aps_layer_choose(call, call->layers);
}

/* Returns the plan of a call that is about to be carried out. */
static const struct aps_plan *fuse_choose(struct aps_call *call)
{
    if (call->layers->plan.auto_format)
        aps_layer_choose(call, call->layers);
    return &call->layers->plan;
}

/* True if a queued operation is a call, like the first one of the group. */
static bool fuse_is_call(const struct group *group,
                         const struct aps_operation *operation)
{
    return operation->run == group->calls[0]->operation.run;
}

/* Adds the calls that have arrived since. */
static void fuse_gather(struct group *group)
{
    const size_t fuse = aps_policy_fuse(group->context->job->policy);
    struct aps_operation *waiting[GROUP_MAX];
    const size_t behind =
        aps_queue_peek(group->context->queue, waiting, GROUP_MAX - 1);

    while (!group->closed) {
        const struct aps_call *last = group->calls[group->count - 1];
        struct aps_call *next;
        size_t bytes;

        if (group->bytes >= fuse || group->count == GROUP_MAX ||
            last->position.ends) {
            group->closed = true;
            return;
        }
        if ((size_t)group->count > behind)
            return;
        /* An operation that is not a call ends the group. */
        if (!fuse_is_call(group, waiting[group->count - 1])) {
            group->closed = true;
            return;
        }
        next = waiting[group->count - 1]->owner;
        fuse_look(group, next);
        bytes = next->fusable ? next->layers->count * sizeof(float) : 0;
        if (bytes >= fuse && group->bytes > 0) {
            group->closed = true;
            return;
        }
        group->bytes += bytes;
        group->calls[group->count++] = next;
    }
}

/* True if the program waits, and may make no more calls before these are
 * complete. A program that only tests gets PATIENCE_NS, and so does one whose
 * wait is not visible because a thread does the work. */
static bool fuse_is_waited_for(const struct group *group)
{
    const struct aps_queue *queue = group->context->queue;

    if (aps_queue_is_blocked() || aps_queue_age(queue) > PATIENCE_NS)
        return true;
    for (int i = 0; i < group->count && aps_queue_has_thread(queue); i++)
        if (aps_request_is_waited(group->calls[i]->request))
            return true;
    return false;
}

/* True if the group needs the magnitude of this layer's values. */
static bool fuse_is_scaled(const struct aps_call *call)
{
    const struct aps_plan *plan = &call->layers->plan;

    return call->fusable && !aps_plan_compresses(plan) &&
           aps_scale_ops_of(&plan->scale)->agreed;
}

/* COLLECTIVE over the group's communicator. Returns an MPI error code. */
static int fuse_agree(struct group *group, struct agreement *agreement)
{
    struct aps_context *context = group->context;
    struct aps_magnitude_query queries[GROUP_MAX];
    int calls[GROUP_MAX], count = 0;
    fenv_t environment;
    int rc;

    agreement->count = -group->count;
    for (int i = 0; i < GROUP_MAX; i++) {
        const struct aps_layer *layer;

        agreement->exponents[i] = INT_MIN;
        group->scaled[i] = i < group->count && fuse_is_scaled(group->calls[i]);
        if (!group->scaled[i])
            continue;
        layer = group->calls[i]->layers;
        calls[count] = i;
        queries[count++] = (struct aps_magnitude_query){
            .memory = layer->memory, .x = layer->in, .n = layer->count};
    }
    aps_fpenv_enter(&environment);
    aps_magnitude_queries_run(queries, (size_t)count);
    for (int k = 0; k < count; k++) {
        group->magnitudes[calls[k]] = queries[k].magnitude;
        agreement->exponents[calls[k]] =
            aps_scale_max_exponent(queries[k].magnitude.max, context->size);
    }
    aps_fpenv_leave(&environment);
    rc = aps_agree_max(aps_comm_resources_vcomm(context->resources),
                       AGREEMENT_INTS, &agreement->count);
    if (agreement->count >= 0) { /* not a number of calls */
        agreement->count = -1;
        rc = MPI_ERR_OTHER;
    }
    group->count = -agreement->count;
    return rc;
}

static bool fuse_same_plan(const struct aps_plan *a, const struct aps_plan *b)
{
    return strcmp(a->format.name, b->format.name) == 0 &&
           aps_scale_equal(&a->scale, &b->scale) && a->reduce == b->reduce &&
           a->group == b->group && a->group_size == b->group_size &&
           a->node == b->node && a->accumulate == b->accumulate &&
           a->chunk == b->chunk && strcmp(a->sums.name, b->sums.name) == 0 &&
           a->rounding == b->rounding && a->seed == b->seed &&
           aps_compressor_equal(&a->compressor, &b->compressor) &&
           a->feedback == b->feedback;
}

static struct aps_vector fuse_layer_of(const struct group *group,
                                       const struct agreement *agreement, int i)
{
    const struct aps_call *call = group->calls[i];
    const struct aps_layer *layer = call->layers;
    const bool scaled = group->scaled[i] && fuse_is_scaled(call);

    return (struct aps_vector){
        .in = layer->in,
        .out = layer->out,
        .n = layer->count,
        .memory = layer->memory,
        .magnitude = group->magnitudes[i],
        .measured = scaled,
        .greatest = agreement->exponents[i],
        .agreed = scaled,
    };
}

/* COLLECTIVE. Reduces layers of one plan together; each gets the result that it
 * would get alone. */
static int fuse_run_batch(struct aps_context *context,
                          const struct aps_plan *plan, int count,
                          const struct aps_layer_key keys[],
                          struct aps_vector layers[], unsigned long failures)
{
    const struct aps_layer_site site =
        aps_context_site(context, &context->kept);
    struct aps_cost cost = {0};
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = aps_layers_reduce(&site, plan, count, keys, layers, &cost);
    aps_fpenv_leave(&environment);
    aps_cost_in_type(&cost, layers[0].memory);
    aps_count_cost(&aps_counters, &cost);
    for (int i = 0; i < count; i++)
        aps_count(&aps_counters.rewritten_bytes,
                  layers[i].n * layers[i].memory->element);
    aps_count(&aps_counters.rewritten, (unsigned long long)count);
    aps_count(&aps_counters.fused, (unsigned long long)count);
    aps_count(&aps_counters.nonblocking, (unsigned long long)count);
    aps_count(&aps_counters.batches, 1);
    rc = aps_context_fail(context, "all-reduces that go together", rc);
    rc = aps_context_check(context, "all-reduces that go together", failures,
                           rc);
    context->damaged |= rc != MPI_SUCCESS;
    return rc;
}

/* True if call i uses a state or a chosen format that one of calls[first..i)
 * may change; call i then runs after that call. A call that
 * cannot be fused counts as one that changes both. */
static bool fuse_follows_another(const struct group *group, int first, int i)
{
    const struct aps_call *call = group->calls[i];
    const struct aps_plan *plan = &call->layers->plan;
    const struct aps_layer_key key = aps_layer_key_of(call->layers);
    const bool keeps = aps_plan_carries_state(plan);

    for (int j = first; j < i && (keeps || plan->auto_format); j++) {
        const struct aps_call *other = group->calls[j];
        struct aps_layer_key before;

        if (!other)
            continue;
        if (!other->fusable)
            return true;
        before = aps_layer_key_of(other->layers);
        if (keeps && aps_layer_key_depends(plan, &before, &key))
            return true;
    }
    return false;
}

/* COLLECTIVE. Reduces the layers from calls[first] on that have the same plan,
 * and removes them from the group. */
static void fuse_run_alike(struct group *group,
                           const struct agreement *agreement, int first)
{
    struct aps_context *context = group->context;
    const struct aps_plan plan = *fuse_choose(group->calls[first]);
    struct aps_call *batch[GROUP_MAX];
    struct aps_vector layers[GROUP_MAX];
    struct aps_layer_key keys[GROUP_MAX];
    struct aps_call together = *group->calls[first]; /* with the elements of all
                                                        calls, for `prepare` */
    int taken[GROUP_MAX];
    int length = 0;
    int rc;

    together.arguments.count = 0;
    for (int i = first; i < group->count; i++) {
        struct aps_call *call = group->calls[i];

        if (!call || !call->fusable || call->element != together.element ||
            !fuse_same_plan(&plan, fuse_choose(call)) ||
            fuse_follows_another(group, first, i))
            continue;
        layers[length] = fuse_layer_of(group, agreement, i);
        keys[length] = aps_layer_key_of(call->layers);
        taken[length] = i;
        batch[length++] = call;
        together.arguments.count += call->arguments.count;
    }
    for (int i = 0; i < length; i++)
        group->calls[taken[i]] = NULL;
    if (length > 1 && context->failed == MPI_SUCCESS &&
        together.arguments.collective->prepare(&together, &plan)) {
        aps_context_begin_call(context, aps_call_function(&together),
                               &batch[0]->layers->key, &plan, layers[0].memory);
        /* Failures of other batches, and of measurements of formats, are not
         * counted. */
        rc = fuse_run_batch(context, &plan, length, keys, layers,
                            aps_context_failures() - group->lost);
        for (int i = 0; i < length; i++) {
            batch[i]->rc = rc;
            (void)aps_call_complete(batch[i]);
        }
        return;
    }
    for (int i = 0; i < length; i++)
        aps_call_finish(batch[i]);
}

/* COLLECTIVE. Carries out the calls that the ranks have agreed on. */
static void fuse_run_group(struct group *group,
                           const struct agreement *agreement)
{
    for (int i = 0; i < group->count; i++) {
        struct aps_call *call = group->calls[i];

        if (call && call->fusable)
            fuse_run_alike(group, agreement, i);
        else if (call)
            aps_call_finish(call);
    }
}

void aps_fuse_run(struct aps_call *first)
{
    struct aps_context *context = first->context;
    struct group group = {.context = context, .calls = {first}, .count = 1};
    struct agreement agreement;
    int rc;

    group.lost = aps_context_failures();
    fuse_look(&group, first);
    if (first->fusable)
        group.bytes = first->layers->count * sizeof(float);
    /* Such a call runs alone on every rank, whatever follows. */
    if (!first->fusable || first->position.ends ||
        group.bytes >= aps_policy_fuse(context->job->policy)) {
        aps_call_finish(first);
        return;
    }
    for (fuse_gather(&group); !group.closed && !fuse_is_waited_for(&group);
         fuse_gather(&group))
        aps_queue_pause(context->queue);
    rc = fuse_agree(&group, &agreement);
    group.lost = aps_context_failures() - group.lost;
    (void)aps_context_fail(context, aps_call_function(first), rc);
    /* This call, and the calls that stay in the queue, end with the error. */
    if (rc != MPI_SUCCESS) {
        aps_call_finish(first);
        return;
    }
    aps_queue_take(context->queue, (size_t)group.count - 1);
    fuse_run_group(&group, &agreement);
}
