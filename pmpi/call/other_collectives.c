/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/other_kind.h"

#include <mpi.h>
#include <stdint.h>

#include "base/fpenv.h"
#include "comm/context.h"
#include "comm/report.h"
#include "message/agree.h"
#include "block/origin.h"
#include "scale/exponent.h"

bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product) &&
           *product <= PTRDIFF_MAX / sizeof(float);
}

bool aps_other_is_sum(const struct aps_job *job,
                      const struct aps_call_arguments *arguments)
{
    return aps_abi_is_communicator(arguments->comm) &&
           aps_call_is_float(job, arguments->type) && arguments->op == MPI_SUM;
}

static void other_key(const struct aps_call *call,
                      const struct aps_step_position *position, size_t count,
                      struct aps_plan_key *key)
{
    *key = (struct aps_plan_key){
        .call = call->arguments.collective->which,
        .layer = -1,
        .layers = position->layers,
        .count = count,
        .epoch = position->epoch,
        .step = position->step,
    };
}

/* Of a call that the policy names: is it to be rewritten at this step? */
static bool other_advance(struct aps_context *context,
                          const struct aps_call *call, size_t count,
                          struct aps_step_position *position)
{
    const struct aps_policy *policy = context->job->policy;
    const long epoch = aps_call_control(context, call).epoch;
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
    other_key(call, position, count, &key);
    aps_policy_resolve(policy, &key, &plan);
    if (!plan.rewrite)
        return false;
    position->number = aps_other_state_number(
        &context->other_collectives, call->arguments.collective->which, count);
    if (aps_policy_steps(policy)->kind == APS_STEPS_NONE)
        position->step = position->number;
    return true;
}

bool aps_other_place(struct aps_context *context, const struct aps_call *call,
                     struct aps_step_position *position,
                     enum aps_reason *reason)
{
    struct aps_segment segment;

    *reason = context->reason;
    if (context->state != APS_CONTEXT_ACTIVE)
        return false;
    *reason = APS_PASSED_OTHER;
    if (!call->arguments.collective->measure(context, call, &segment))
        return false;
    *reason = APS_PASSED_SMALL;
    if (segment.count == 0 || segment.count < context->min_count)
        return false;
    *reason = APS_PASSED_RULE;
    if (!aps_policy_names(context->job->policy,
                          call->arguments.collective->which))
        return false;
    aps_pcontrol_note_call(context->job, segment.count);
    if (aps_call_control(context, call).off) {
        *reason = APS_PASSED_OFF;
        return false;
    }
    return other_advance(context, call, segment.count, position);
}

void aps_other_segment(const struct aps_context *context,
                       const struct aps_call *call,
                       const struct aps_step_position *position, long i,
                       size_t offset, struct aps_segment *segment)
{
    (void)i;
    (void)offset;
    (void)call->arguments.collective->measure(context, call, segment);
    segment->number = position->number;
    other_key(call, position, segment->count, &segment->key);
}

bool aps_other_is_possible(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_plan *plan)
{
    int rc;

    if (!aps_context_has_resources(context, call->arguments.comm))
        return false;
    rc = aps_other_state_prepare(&context->other_collectives,
                                 aps_comm_resources_vcomm(context->resources),
                                 call->arguments.collective->which,
                                 &plan->format);
    return aps_context_fail(context, aps_call_function(call), rc) ==
           MPI_SUCCESS;
}

struct aps_wire aps_other_wire(struct aps_context *context,
                               const struct aps_call *call,
                               const struct aps_segment *segment)
{
    struct aps_wire wire = {
        .memory = segment->memory,
        .scale = segment->plan.scale,
        .accumulate = segment->plan.accumulate,
        .chunk = segment->plan.chunk,
    };

    aps_codec_init(&segment->plan.format, &wire.codec);
    aps_wire_draw(&segment->plan, aps_comm_resources_vcomm(context->resources),
                  call->arguments.collective->which,
                  aps_comm_resources_number(context->resources,
                                            call->arguments.collective->which),
                  &wire);
    if (segment->plan.accumulate != APS_ACCUMULATE_FP32)
        aps_codec_init(&segment->plan.sums, &wire.sums);
    return wire;
}

void aps_other_agree_blocks(struct aps_context *context,
                            struct aps_segment *segment, bool *good)
{
    const struct aps_scale *scale = &segment->plan.scale;
    const bool agreed = aps_scale_ops_of(scale)->agreed;
    int values[2] = {!segment->good, APS_EXPONENT_ZERO};
    fenv_t environment;

    aps_fpenv_enter(&environment);
    if (agreed && segment->good && segment->own > 0)
        values[1] = aps_scale_max_exponent(
            segment->memory->magnitude(segment->in, segment->own).max, 1);
    segment->rc = aps_agree_max(aps_comm_resources_vcomm(context->resources),
                                agreed ? 2 : 1, values);
    *good = !values[0];
    segment->exponent =
        aps_scale_stage_exponent(scale, &segment->plan.format, values[1]);
    aps_fpenv_leave(&environment);
}

int aps_other_sample_block(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_segment *segment, int *ready)
{
    (void)call;
    aps_sample_keep(&context->sample, segment->memory, segment->in,
                    segment->own, ready);
    return MPI_SUCCESS;
}
