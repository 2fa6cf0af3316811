/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/plan.h"

#include <stdlib.h>

#include "base/clock.h"
#include "call/collective.h"
#include "call/probe.h"
#include "call/signature.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "device/memory_relay.h"
#include "trial/format.h"
#include "trial/trial.h"

struct aps_call aps_call_of(const struct aps_call_arguments *arguments)
{
    return (struct aps_call){
        .arguments = *arguments,
        .gpu = aps_gpu_buffers_of(arguments->send, arguments->receive),
        .element = aps_element_of(arguments->type),
        .control = aps_pcontrol_now(),
        .may_pass = arguments->form == APS_BLOCKING,
    };
}

/* --- identify ------------------------------------------------------------ */

static bool plan_passes(struct aps_call *call, enum aps_reason reason)
{
    call->reason = reason;
    return false;
}

/* True if ranks without a policy take the call, too. The ranks may begin to agree in no
 * other one: those without a policy have left it to MPI. */
static bool plan_is_taken_by_all(const struct aps_call *call)
{
    const MPI_Datatype type = call->arguments.type;
    enum aps_element element = call->element;

    if (aps_counted_sums(call->arguments.collective->counted))
        return call->arguments.op == MPI_SUM && element != APS_ELEMENT_DOUBLE;
    if (element == APS_ELEMENT_NONE) /* a derived type */
        element = aps_signature_of(aps_job(), type).element;
    return element != APS_ELEMENT_DOUBLE;
}

/* Finds the context. */
static bool plan_find_context(struct aps_call *call)
{
    const MPI_Comm comm = call->arguments.comm;

    call->rc =
        call->may_pass && plan_is_taken_by_all(call)
            ? aps_context_of(comm, &call->context)
            : aps_context_find_local(comm, !call->may_pass, &call->context);
    call->handler_called = call->rc != MPI_SUCCESS;
    if (call->rc == MPI_SUCCESS && call->context)
        return true;
    return plan_passes(call, call->rc != MPI_SUCCESS
                                 ? APS_PASSED_RESOURCES
                                 : aps_context_why_none(comm));
}

/* True if the ranks have agreed that there are no tags. They know it together
 * only while there is no queue, because the queue's thread finds it out at a
 * time of its own. */
static bool plan_lacks_tags(const struct aps_call *call)
{
    const struct aps_context *context = call->context;

    return !call->may_pass && !context->queue &&
           context->resources_state == APS_RESOURCES_FAILED &&
           context->failed == MPI_SUCCESS;
}

/* Carries out queued calls before a blocking one. A call that no rule names
 * overtakes them, like calls that the library does not intercept. */
static void plan_drain(struct aps_call *call)
{
    if (call->may_pass && call->context->queue &&
        aps_policy_names(call->context->job->policy, aps_call_kind_of(call)))
        aps_context_drain(call->context);
}

/* True for integers, bytes, characters and truth values. Without Fortran some
 * of them are MPI_DATATYPE_NULL. */
static bool plan_is_integer(MPI_Datatype type)
{
    const MPI_Datatype integers[] = {
        MPI_INT,      MPI_LONG,          MPI_LONG_LONG,
        MPI_SHORT,    MPI_SIGNED_CHAR,   MPI_CHAR,
        MPI_BYTE,     MPI_UNSIGNED,      MPI_UNSIGNED_LONG,
        MPI_UINT8_T,  MPI_UNSIGNED_CHAR, MPI_UNSIGNED_LONG_LONG,
        MPI_INT8_T,   MPI_INT16_T,       MPI_INT32_T,
        MPI_INT64_T,  MPI_UINT16_T,      MPI_UINT32_T,
        MPI_UINT64_T, MPI_C_BOOL,        MPI_UNSIGNED_SHORT,
        MPI_AINT,     MPI_COUNT,         MPI_OFFSET,
        MPI_INTEGER,  MPI_LOGICAL,       MPI_INTEGER4,
        MPI_INTEGER8, MPI_CHARACTER,
    };

    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (type == integers[i])
            return type != MPI_DATATYPE_NULL;
    return false;
}

enum aps_reason
aps_call_why_ineligible(const struct aps_call_arguments *arguments)
{
    const bool sums = aps_counted_sums(arguments->collective->counted);

    if (!aps_abi_is_communicator(arguments->comm))
        return APS_PASSED_OTHER;
    if (plan_is_integer(arguments->type))
        return APS_PASSED_INTEGER;
    if (aps_element_of(arguments->type) == APS_ELEMENT_NONE)
        return APS_PASSED_TYPE;
    if (sums && arguments->op != MPI_SUM)
        return APS_PASSED_OPERATION;
    if (aps_call_takes_type(aps_job(), arguments->type))
        return APS_PASSED_OTHER;
    return aps_element_of(arguments->type) == APS_ELEMENT_DOUBLE
               ? APS_PASSED_DOUBLE
               : APS_PASSED_TYPE;
}

bool aps_call_is_sum(const struct aps_job *job,
                     const struct aps_call_arguments *arguments)
{
    return (arguments->op == MPI_SUM &&
            aps_call_takes_type(job, arguments->type)) ||
           aps_probe_is_due(job, arguments);
}

/* True if the call may have enough elements; the counts of an MPI_Reduce_scatter are
 * checked later. */
static bool plan_is_long(const struct aps_call *call)
{
    const struct aps_context *context = call->context;
    unsigned long long count = (unsigned long long)call->arguments.count;

    if (call->arguments.collective == &aps_collective_reduce_scatter_block)
        count *= (unsigned long long)context->size;
    return call->arguments.counts || count >= context->min_count;
}

/* COLLECTIVE. Probes the operation of a call that is not MPI_SUM. Returns false if the
 * call passes. The conditions before the probe are equal on all ranks. */
static bool plan_probe(struct aps_call *call)
{
    const struct aps_context *context = call->context;

    if (!aps_counted_sums(call->arguments.collective->counted) ||
        call->arguments.op == MPI_SUM)
        return true;
    call->reason = APS_PASSED_OPERATION;
    return context->state == APS_CONTEXT_ACTIVE && plan_is_long(call) &&
           aps_policy_names(context->job->policy, aps_call_kind_of(call)) &&
           (call->may_pass ? aps_probe_agree(call) : aps_probe_start(call));
}

/* Begins to take the time of planning a call (call->planning). The steps before it may
 * wait for other ranks. */
static void plan_begin(struct aps_call *call)
{
    const struct aps_policy *policy = aps_job_policy(aps_job());

    if (call->may_pass && aps_policy_measures(policy) &&
        aps_policy_steps(policy)->kind == APS_STEPS_NONE)
        call->planning = -aps_clock_ns(CLOCK_MONOTONIC);
}

/* Finds out why the call passes, or its place among the calls. */
static bool plan_identify(struct aps_call *call)
{
    const struct aps_collective *collective = call->arguments.collective;

    if (!collective->is_eligible(aps_job(), &call->arguments)) {
        call->reason = aps_call_why_ineligible(&call->arguments);
    } else if (aps_call_is_empty(&call->arguments)) {
        call->reason = APS_PASSED_SMALL;
    } else {
        if (!plan_find_context(call))
            return false;
        plan_drain(call);
        /* A probe would make a queue, and a call without tags would fail there. */
        if (call->arguments.op != MPI_SUM && plan_lacks_tags(call))
            return plan_passes(call, APS_PASSED_RESOURCES);
        if (!plan_probe(call))
            return false;
        plan_begin(call);
        if (collective->number(call))
            return !plan_lacks_tags(call) ||
                   plan_passes(call, APS_PASSED_RESOURCES);
    }
    if (collective->note_passed && call->may_pass)
        collective->note_passed(call, call->reason);
    return false;
}

bool aps_call_identify(struct aps_call *call)
{
    bool goes_on;

    aps_count(&aps_call_counters(call)->calls, 1);
    goes_on = plan_identify(call);
    if (call->arguments.collective == &aps_collective_allreduce &&
        (goes_on || aps_reason_is_eligible(call->reason)))
        aps_count(&aps_counters.eligible_bytes,
                  (unsigned long long)call->arguments.count *
                      aps_element_types[call->element].bytes);
    return goes_on;
}

/* --- plan ---------------------------------------------------------------- */

/* Makes room for the layers of a call in the context. */
static struct aps_layer *plan_reserve(struct aps_context *context, size_t count)
{
    struct aps_layer *layers = context->layers;

    if (count <= context->layers_max)
        return layers;
    layers = realloc(layers, count * sizeof *layers);
    if (!layers)
        return NULL;
    context->layers = layers;
    context->layers_max = count;
    return layers;
}

/* Returns the backend for a call's elements. Opens the plugin, which the relay uses,
 * too, at the first buffer in GPU memory. */
static const struct aps_memory *plan_memory(const struct aps_call *call,
                                            enum aps_element element)
{
    const struct aps_memory *memory =
        call->gpu.send || call->gpu.receive
            ? aps_context_gpu_memory(call->context)
            : &aps_memory_host;

    return element == APS_ELEMENT_FLOAT ? memory : aps_memory_relay(element);
}

/* Applies `reduce: auto` to a layer whose format is known: settled classes get
 * the choice. Nonblocking calls run at the same time, so none of them can be
 * timed. */
static void plan_reduction(const struct aps_call *call, struct aps_layer *layer)
{
    struct aps_plan *plan = &layer->plan;

    if (!plan->rewrite || plan->reduce != APS_REDUCE_AUTO)
        return;
    aps_autotune_apply(&call->context->autotune, &layer->key, plan);
    if (!call->may_pass && plan->rewrite && plan->reduce == APS_REDUCE_AUTO)
        plan->reduce = APS_REDUCE_DIRECT;
}

/* If the present format is FP32, the library reduces the layer of a nonblocking call
 * in FP32 itself, because MPI cannot get that call any more. */
void aps_layer_choose(const struct aps_call *call, struct aps_layer *layer)
{
    const struct aps_policy *policy = call->context->job->policy;
    const int chosen = aps_format_chosen(call->context, layer);

    aps_policy_resolve(policy, &layer->key, &layer->plan);
    layer->choice = aps_layer_choice(layer, chosen);
    if (chosen >= 0 || call->may_pass)
        aps_policy_choose(policy, &layer->key, chosen, &layer->plan);
    if (call->may_pass) {
        plan_reduction(call, layer);
        layer->way = layer->plan.rewrite ? APS_WAY_REDUCE : APS_WAY_MPI;
    } else if (layer->plan.reduce == APS_REDUCE_AUTO) {
        layer->plan.reduce = APS_REDUCE_DIRECT;
    }
}

static bool plan_is_sampled(const struct aps_context *context,
                            const struct aps_layer *layer)
{
    return context->sample_every > 0 &&
           layer->number % context->sample_every == 0 &&
           layer->count <= APS_SAMPLE_MAX;
}

static void plan_layer(const struct aps_call *call, struct aps_layer *layer)
{
    if (call->planned)
        layer->plan = call->context->plan_by_count;
    else
        aps_policy_resolve(call->context->job->policy, &layer->key,
                           &layer->plan);
    if (!layer->plan.auto_format)
        plan_reduction(call, layer);
    else if (!call->may_pass && layer->plan.reduce == APS_REDUCE_AUTO)
        layer->plan.reduce = APS_REDUCE_DIRECT;
    layer->way = layer->plan.rewrite ? APS_WAY_REDUCE : APS_WAY_MPI;
    layer->sampled = plan_is_sampled(call->context, layer);
    layer->memory = plan_memory(call, layer->key.element);
}

enum aps_reason aps_call_why_passed(const struct aps_call *call)
{
    enum aps_reason reason = APS_PASSED_RULE;

    for (long i = 0; i < call->count; i++) {
        const struct aps_plan *plan = &call->layers[i].plan;

        if (!plan->rewrite && plan->reduce == APS_REDUCE_AUTO)
            reason = APS_PASSED_AUTO;
        if (plan->shadow)
            reason = APS_PASSED_SHADOW;
        if (!plan->rewrite && plan->auto_format)
            reason = APS_PASSED_FORMAT;
    }
    return reason;
}

static bool plan_lacks_memory(struct aps_call *call)
{
    call->rc = aps_context_fail(call->context, aps_call_function(call),
                                MPI_ERR_NO_MEM);
    return plan_passes(call, APS_PASSED_RESOURCES);
}

bool aps_call_plan(struct aps_call *call)
{
    bool needed = false;
    size_t offset = 0;

    call->layers = plan_reserve(call->context, (size_t)call->position.segments);
    if (!call->layers)
        return plan_lacks_memory(call);
    call->count = call->position.segments;
    for (long i = 0; i < call->count; i++) {
        struct aps_layer *layer = &call->layers[i];

        call->arguments.collective->describe(call, i, offset, layer);
        layer->offset = offset;
        plan_layer(call, layer);
        if (!aps_trials_make(call->context, layer))
            return plan_lacks_memory(call);
        offset += layer->count;
        needed |= layer->way == APS_WAY_REDUCE || layer->plan.shadow;
    }
    call->reason = aps_call_why_passed(call);
    return needed;
}
