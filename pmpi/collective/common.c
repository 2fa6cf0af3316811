/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collective/common.h"

#include <mpi.h>
#include <stdint.h>

#include "base/fpenv.h"
#include "call/passed.h"
#include "call/plan.h"
#include "comm/context.h"
#include "comm/report.h"
#include "device/memory_relay.h"
#include "message/agree.h"
#include "block/random_key.h"
#include "scale/exponent.h"

bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product) &&
           *product <= PTRDIFF_MAX / sizeof(double);
}

bool aps_other_is_sum(const struct aps_job *job,
                      const struct aps_call_arguments *arguments)
{
    return aps_abi_is_communicator(arguments->comm) &&
           aps_call_is_sum(job, arguments);
}

static void other_key(const struct aps_call *call, enum aps_element element,
                      size_t count, struct aps_plan_key *key)
{
    *key = (struct aps_plan_key){
        .call = aps_call_kind_of(call),
        .element = element,
        .ranks = call->context->size,
        .layer = -1,
        .layers = call->position.layers,
        .count = count,
        .epoch = call->position.epoch,
        .step = call->position.step,
    };
}

/* Numbers a call that the policy names. Returns false if it passes at this
 * step, or if `reduce: auto` leaves it to MPI for good; it has no number then. */
static bool other_advance(struct aps_call *call, enum aps_element element,
                          size_t count)
{
    struct aps_context *context = call->context;
    struct aps_step_position *position = &call->position;
    const struct aps_policy *policy = context->job->policy;
    const long epoch = aps_call_control(call).epoch;
    struct aps_plan_key key;
    struct aps_plan plan;

    *position = (struct aps_step_position){
        .active = true,
        .segments = 1,
        .layer = -1,
        .layers = aps_steps_layers(context->steps),
    };
    aps_steps_now(context->steps, &position->step, &position->epoch);
    if (epoch >= 0)
        position->epoch = epoch;
    other_key(call, element, count, &key);
    aps_policy_resolve(policy, &key, &plan);
    if (plan.rewrite && plan.reduce == APS_REDUCE_AUTO) {
        call->reason = APS_PASSED_AUTO;
        aps_autotune_apply(&context->autotune, &key, &plan);
    }
    if (!plan.rewrite)
        return false;
    position->number = aps_other_state_number(&context->other_collectives,
                                              aps_call_kind_of(call), count);
    if (aps_policy_steps(policy)->kind == APS_STEPS_NONE)
        position->step = position->number;
    return true;
}

bool aps_other_number(struct aps_call *call)
{
    const struct aps_context *context = call->context;
    struct aps_layer layer;

    call->reason = context->reason;
    if (context->state != APS_CONTEXT_ACTIVE)
        return false;
    call->reason = APS_PASSED_OTHER;
    if (!call->arguments.collective->measure(call, &layer))
        return false;
    call->reason = APS_PASSED_SMALL;
    if (layer.count == 0 || layer.count < context->min_count)
        return false;
    call->reason = APS_PASSED_RULE;
    if (!aps_policy_names(context->job->policy, aps_call_kind_of(call)))
        return false;
    aps_pcontrol_note_call(context->job, layer.count);
    if (aps_call_control(call).off) {
        call->reason = APS_PASSED_OFF;
        return false;
    }
    return other_advance(call, layer.key.element, layer.count);
}

void aps_other_note_passed(const struct aps_call *call, enum aps_reason reason)
{
    const struct aps_policy *policy = aps_job_policy(aps_job());

    if (call->element == APS_ELEMENT_NONE && reason != APS_PASSED_INTEGER)
        return;
    if ((reason == APS_PASSED_RULE || reason == APS_PASSED_AUTO) &&
        aps_policy_names(policy, aps_call_kind_of(call)) &&
        aps_policy_steps(policy)->kind != APS_STEPS_NONE)
        return;
    aps_passed_remember(call, reason);
}

void aps_other_describe(const struct aps_call *call, long i, size_t offset,
                        struct aps_layer *layer)
{
    (void)i;
    (void)offset;
    (void)call->arguments.collective->measure(call, layer);
    layer->number = call->position.number;
    other_key(call, layer->key.element, layer->count, &layer->key);
}

bool aps_other_prepare(struct aps_call *call, const struct aps_plan *plan)
{
    struct aps_context *context = call->context;
    int rc;

    if (!aps_context_has_resources(context, call->arguments.comm))
        return false;
    rc = aps_other_state_prepare(&context->other_collectives,
                                 aps_comm_resources_vcomm(context->resources),
                                 aps_call_kind_of(call), &plan->format);
    return aps_context_fail(context, aps_call_function(call), rc) ==
           MPI_SUCCESS;
}

struct aps_wire aps_other_wire(struct aps_call *call,
                               const struct aps_layer *layer)
{
    struct aps_wire wire = {
        .memory = layer->plan.format.wide ? &aps_memory_doubles : layer->memory,
        .scale = layer->plan.scale,
        .accumulate = layer->plan.accumulate,
        .fp64 = aps_element_is_wide(layer->memory->element),
        .chunk = layer->plan.chunk,
    };

    aps_codec_init(&layer->plan.format, &wire.codec);
    aps_wire_draw(&layer->plan,
                  aps_comm_resources_vcomm(call->context->resources)->number,
                  aps_call_kind_of(call),
                  aps_reductions_number(
                      aps_comm_resources_reductions(call->context->resources),
                      aps_call_kind_of(call)),
                  &wire);
    if (layer->plan.accumulate != APS_ACCUMULATE_FP32)
        aps_codec_init(&layer->plan.sums, &wire.sums);
    return wire;
}

void aps_other_agree_blocks(struct aps_call *call, struct aps_layer *layer,
                            bool *good)
{
    const struct aps_scale *scale = &layer->plan.scale;
    const bool agreed = aps_scale_ops_of(scale)->agreed;
    int values[2] = {!layer->good, APS_EXPONENT_ZERO};
    fenv_t environment;

    aps_fpenv_enter(&environment);
    if (agreed && layer->good && layer->own > 0)
        values[1] = aps_scale_max_exponent(
            layer->memory->magnitude(layer->in, layer->own).max, 1);
    layer->rc =
        aps_agree_max(aps_comm_resources_vcomm(call->context->resources),
                      agreed ? 2 : 1, values);
    *good = !values[0];
    layer->exponent =
        aps_scale_stage_exponent(scale, &layer->plan.format, values[1]);
    aps_fpenv_leave(&environment);
}

int aps_other_reference_block(struct aps_call *call,
                              const struct aps_layer *layer, int *ready)
{
    (void)call;
    aps_sample_keep(&call->context->sample, layer->memory, layer->in,
                    layer->own, ready);
    return MPI_SUCCESS;
}
