/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce and MPI_Iallreduce.
 */
#include "config.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>

#include "base/bucket.h"
#include "base/plural.h"
#include "comm/context.h"
#include "comm/report.h"
#include "layer/layers.h"
#include "job/job.h"
#include "native/abi.h"
#include "native/next_mpi.h"
#include "call/collective.h"
#include "call/passed.h"
#include "call/plan.h"

/* True if the plan that follows from the count alone leaves such calls to MPI
 * for good. *apart: true if `reduce: auto` decides that, now or later. */
static bool allreduce_plan_passes(const struct aps_context *context,
                                  const struct aps_plan_key *key,
                                  struct aps_plan *plan,
                                  enum aps_reason *reason, bool *apart)
{
    *apart = plan->rewrite && !plan->auto_format && !plan->shadow &&
             plan->reduce == APS_REDUCE_AUTO;
    *reason = *apart ? APS_PASSED_AUTO : APS_PASSED_RULE;
    if (*apart)
        aps_autotune_apply(&context->autotune, key, plan);
    return !plan->rewrite && !plan->shadow;
}

/* If the policy needs no step, the plan of a call follows from its count and
 * from settled choices of `reduce: auto`. Counts that pass are kept in
 * context->passed_counts, a cache that changes only the time. aps_call_plan
 * gets the plan of all other counts. */
static bool allreduce_passes_by_count(struct aps_call *call, bool *apart)
{
    struct aps_context *context = call->context;
    const size_t count = (size_t)call->arguments.count;
    const struct aps_policy *policy = context->job->policy;
    const struct aps_plan_key key = {.element = call->element,
                                     .ranks = context->size,
                                     .layer = -1,
                                     .count = count};
    struct aps_passed_count *kept;

    if (context->state != APS_CONTEXT_ACTIVE ||
        aps_policy_steps(policy)->kind != APS_STEPS_NONE)
        return false;
    kept = &context->passed_counts[aps_bucket(count, APS_CONTEXT_PASSED_BITS)];
    if (kept->count != count || kept->element != call->element) {
        aps_policy_resolve(policy, &key, &context->plan_by_count);
        call->planned = true;
        if (!allreduce_plan_passes(context, &key, &context->plan_by_count,
                                   &call->reason, apart))
            return false;
        *kept = (struct aps_passed_count){count, call->element, call->reason};
    }
    call->reason = kept->reason;
    return true;
}

/* Numbers the call on its communicator. */
static void allreduce_advance(struct aps_call *call, bool apart)
{
    struct aps_context *context = call->context;
    const size_t count = (size_t)call->arguments.count;

    context->calls++;
    aps_steps_advance(context->steps, count, apart, &call->position);
    if (context->state != APS_CONTEXT_DISCOVER)
        return;
    if (context->rank == 0)
        aps_discovery_record(&context->discovery, count, call->element);
    if (aps_discovery_note(&context->discovery, context->steps,
                           &call->position))
        aps_context_write_step(context);
}

static void allreduce_report_desync(const struct aps_call *call)
{
    struct aps_context *context = call->context;
    const struct aps_step_position *position = &call->position;
    const struct aps_layers *layers = aps_policy_layers(context->job->policy);
    char wanted[160] = "the step", times[40] = "", count[64] = "none such";

    if (position->expected > 0)
        snprintf(count, sizeof count, "%zu", position->expected);
    if (layers && position->wanted >= 0)
        snprintf(wanted, sizeof wanted, "layer %ld (%.120s)", position->wanted,
                 layers->list[position->wanted].name);
    if (context->desyncs > 1)
        snprintf(times, sizeof times, ", %llu times by now", context->desyncs);
    aps_context_event(
        context,
        "desync%s: call %llu has %lld element%s, but %s has %s: "
        "calls pass through until the step is found again; check "
        "the layer table, `steps` and `order` of the policy (if the order of "
        "the calls changes from step to step: order: any)",
        times, context->calls - 1, (long long)call->arguments.count,
        aps_plural(call->arguments.count), wanted, count);
}

/* Reports once that a step was found whose calls come in any order, and once that
 * a call is not one of its layers. */
static void allreduce_report_any(const struct aps_call *call)
{
    struct aps_context *context = call->context;
    const long layers = aps_steps_layers(context->steps);

    if (call->position.layer < 0) {
        aps_context_event_once(
            context, &context->unknown_told,
            "order any: no layer has the %lld element%s of this call: rules "
            "for layers do not apply to such calls; check the layer table, or "
            "let the program sum each layer by itself (Horovod: "
            "HOROVOD_FUSION_THRESHOLD=0)",
            (long long)call->arguments.count,
            aps_plural(call->arguments.count));
    } else if (!aps_policy_layers(context->job->policy)) {
        atomic_store(&aps_counters.any_order, true);
        aps_context_event_once(context, &context->any_told,
                               "order any: the order of the %ld call%s of a "
                               "step changes: each call is "
                               "the layer of its size, and layer 0 the largest",
                               layers, aps_plural(layers));
    }
}

static bool allreduce_number(struct aps_call *call)
{
    struct aps_context *context = call->context;
    const struct aps_pcontrol control = aps_call_control(call);
    bool apart = false;

    aps_pcontrol_note_call(context->job, (size_t)call->arguments.count);
    call->reason = context->reason;
    if (context->state == APS_CONTEXT_PASS)
        return false;
    if ((unsigned long long)call->arguments.count < context->min_count) {
        if (context->state == APS_CONTEXT_ACTIVE)
            call->reason = APS_PASSED_SMALL;
        return false;
    }
    if (allreduce_passes_by_count(call, &apart))
        return false;
    call->reason = APS_PASSED_STEP;
    allreduce_advance(call, apart);
    if (context->state == APS_CONTEXT_DISCOVER) {
        call->reason = APS_PASSED_WATCHED;
        return false;
    }
    if (call->position.desync && aps_context_note_desync(context))
        allreduce_report_desync(call);
    if (call->position.any && call->position.active)
        allreduce_report_any(call);
    if (control.epoch >= 0)
        call->position.epoch = control.epoch;
    if (!call->position.active)
        aps_context_note_stepless(context, (size_t)call->arguments.count);
    if (call->position.outside)
        call->reason = APS_PASSED_OUTSIDE;
    if (control.off)
        call->reason = APS_PASSED_OFF;
    return call->position.active && !control.off;
}

static void allreduce_describe(const struct aps_call *call, long i,
                               size_t offset, struct aps_layer *layer)
{
    const struct aps_context *context = call->context;
    const struct aps_layers *layers = aps_policy_layers(context->job->policy);
    const struct aps_step_position *position = &call->position;
    struct aps_plan_key *key = &layer->key;

    *layer = (struct aps_layer){
        .good = true,
        .number = position->number,
        .turn = position->alone ? LONG_MIN + position->number : position->step,
        .generation = position->generation,
        .drops = aps_call_control(call).drops,
    };
    layer->out = aps_element_at(call->element, call->arguments.receive, offset);
    layer->in =
        call->arguments.send == MPI_IN_PLACE
            ? layer->out
            : aps_element_at(call->element, call->arguments.send, offset);
    *key = (struct aps_plan_key){
        .call = APS_CALL_ALLREDUCE,
        .element = call->element,
        .ranks = context->size,
        .layers = position->layers,
        .epoch = position->epoch,
        .step = position->step,
    };
    aps_steps_segment(context->steps, position, i,
                      (size_t)call->arguments.count, &key->layer, &key->count);
    if (layers && key->layer >= 0)
        key->name = layers->list[key->layer].name;
    layer->count = layer->own = key->count;
}

static bool allreduce_prepare(struct aps_call *call,
                              const struct aps_plan *plan)
{
    struct aps_context *context = call->context;
    char cause[256] = "";
    unsigned bit = 1u << (plan->rule % 32);
    int rc = MPI_SUCCESS;

    if (!aps_context_has_resources(context, call->arguments.comm))
        return false;
    /* Native MPI, one of the algorithms of `reduce: auto`, is always possible. */
    if (plan->reduce != APS_REDUCE_AUTO)
        rc = aps_reductions_prepare(
            aps_comm_resources_reductions(context->resources), plan,
            (size_t)call->arguments.count, cause, sizeof cause);
    if (rc >= 0)
        return aps_context_fail(context, aps_call_function(call), rc) ==
               MPI_SUCCESS;
    if (!(context->warned_rules & bit)) {
        context->warned_rules |= bit;
        aps_context_event(
            context,
            "the rule at line %d (reduce: %s, group: %s) cannot "
            "run here: %s; its layers pass through in blocking calls and are "
            "reduced by `direct` in nonblocking ones",
            aps_policy_rule_line(context->job->policy, plan->rule),
            aps_reduce_name(plan->reduce), aps_group_name(plan->group), cause);
    }
    return false;
}

static int allreduce_run(struct aps_call *call, const struct aps_layer *layer,
                         struct aps_cost *cost)
{
    struct aps_context *context = call->context;
    const struct aps_layer_site site =
        aps_context_site(context, &context->kept);
    const struct aps_layer_key key = aps_layer_key_of(layer);
    struct aps_vector vector = {
        .in = layer->in,
        .out = layer->out,
        .n = layer->count,
        .memory = layer->memory,
    };

    return aps_layers_reduce(&site, &layer->plan, 1, &key, &vector, cost);
}

static int allreduce_reference(struct aps_call *call,
                               const struct aps_layer *layer, int *ready)
{
    struct aps_context *context = call->context;

    return aps_sample_reference(&context->sample,
                                aps_comm_resources_vcomm(context->resources), 0,
                                layer->memory, layer->in, layer->count, ready);
}

static bool allreduce_is_eligible(const struct aps_job *job,
                                  const struct aps_call_arguments *arguments)
{
    return aps_call_is_sum(job, arguments) &&
           aps_abi_is_communicator(arguments->comm) && arguments->count >= 0 &&
           (arguments->count == 0 || (arguments->send && arguments->receive &&
                                      arguments->receive != MPI_IN_PLACE &&
                                      arguments->send != arguments->receive));
}

static int allreduce_pass(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Allreduce, arguments->send,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->op, arguments->comm);
}

static int allreduce_start(const struct aps_call_arguments *arguments,
                           MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Iallreduce, arguments->send,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->op, arguments->comm, request);
}

static void allreduce_count_elements(const struct aps_call_arguments *arguments,
                                     MPI_Count *sent, MPI_Count *received)
{
    *sent = *received = arguments->count;
}

const struct aps_collective aps_collective_allreduce = {
    .counted = APS_COUNTED_ALLREDUCE,
    .nonblocking = "MPI_Iallreduce",
    .fuses = true,
    .is_eligible = allreduce_is_eligible,
    .pass = allreduce_pass,
    .start = allreduce_start,
    .count_elements = allreduce_count_elements,
    .number = allreduce_number,
    .note_passed = aps_passed_remember,
    .describe = allreduce_describe,
    .prepare = allreduce_prepare,
    .run = allreduce_run,
    .reference = allreduce_reference,
};
