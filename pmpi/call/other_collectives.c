/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/other_collectives.h"

#include <mpi.h>
#include <stdint.h>

#include "base/fpenv.h"
#include "call/handle.h"
#include "call/nonblocking.h"
#include "call/other_kind.h"
#include "comm/report.h"
#include "message/agree.h"
#include "block/origin.h"
#include "scale/scale.h"

bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product) &&
           *product <= PTRDIFF_MAX / sizeof(float);
}

bool aps_other_is_sum(const struct aps_job *job, const struct aps_call *call)
{
    return aps_abi_is_communicator(call->comm) &&
           aps_call_is_float(job, call->type) && call->op == MPI_SUM;
}

static void other_key(const struct aps_call *call,
                      const struct aps_step_position *position, size_t count,
                      struct aps_plan_key *key)
{
    *key = (struct aps_plan_key){
        .call = call->kind->which,
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
    position->number = aps_other_state_number(&context->other_collectives,
                                              call->kind->which, count);
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
    if (!call->kind->measure(context, call, &segment))
        return false;
    *reason = APS_PASSED_SMALL;
    if (segment.count == 0 || segment.count < context->min_count)
        return false;
    *reason = APS_PASSED_RULE;
    if (!aps_policy_names(context->job->policy, call->kind->which))
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
    (void)call->kind->measure(context, call, segment);
    segment->number = position->number;
    other_key(call, position, segment->count, &segment->key);
}

bool aps_other_is_possible(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_plan *plan)
{
    int rc;

    if (!aps_context_has_resources(context, call->comm))
        return false;
    rc = aps_other_state_prepare(&context->other_collectives,
                                 aps_comm_resources_vcomm(context->resources),
                                 call->kind->which, &plan->format);
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
    aps_wire_draw(
        &segment->plan, aps_comm_resources_vcomm(context->resources),
        call->kind->which,
        aps_comm_resources_number(context->resources, call->kind->which),
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

static int other_handle(struct aps_call *call)
{
    aps_call_enter(call);
    return aps_call_handle(call);
}

static struct aps_call other_scatter_block(const void *send, void *receive,
                                           int64_t count, bool large,
                                           MPI_Datatype type, MPI_Op op,
                                           MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_reduce_scatter_block,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .type = type,
        .op = op,
        .comm = comm,
    };
}

int aps_other_reduce_scatter_block(const void *send, void *receive,
                                   int64_t count, bool large, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm)
{
    struct aps_call call =
        other_scatter_block(send, receive, count, large, type, op, comm);

    return other_handle(&call);
}

int aps_other_ireduce_scatter_block(const void *send, void *receive,
                                    int64_t count, bool large,
                                    MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request)
{
    const struct aps_call call =
        other_scatter_block(send, receive, count, large, type, op, comm);

    return aps_nonblocking_start(&call, request);
}

static struct aps_call other_scatter(const void *send, void *receive,
                                     const void *counts, bool large,
                                     MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_reduce_scatter,
        .large = large,
        .send = send,
        .receive = receive,
        .counts = counts,
        .type = type,
        .op = op,
        .comm = comm,
    };
}

int aps_other_reduce_scatter(const void *send, void *receive,
                             const void *counts, bool large, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm)
{
    struct aps_call call =
        other_scatter(send, receive, counts, large, type, op, comm);

    return other_handle(&call);
}

int aps_other_ireduce_scatter(const void *send, void *receive,
                              const void *counts, bool large, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct aps_call call =
        other_scatter(send, receive, counts, large, type, op, comm);

    return aps_nonblocking_start(&call, request);
}

static struct aps_call other_allgather(const void *send, int64_t send_count,
                                       MPI_Datatype send_type, void *receive,
                                       int64_t count, bool large,
                                       MPI_Datatype type, MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_allgather,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .send_count = send_count,
        .send_type = send_type,
        .type = type,
        .comm = comm,
    };
}

int aps_other_allgather(const void *send, int64_t send_count,
                        MPI_Datatype send_type, void *receive, int64_t count,
                        bool large, MPI_Datatype type, MPI_Comm comm)
{
    struct aps_call call = other_allgather(send, send_count, send_type, receive,
                                           count, large, type, comm);

    return other_handle(&call);
}

int aps_other_iallgather(const void *send, int64_t send_count,
                         MPI_Datatype send_type, void *receive, int64_t count,
                         bool large, MPI_Datatype type, MPI_Comm comm,
                         MPI_Request *request)
{
    const struct aps_call call = other_allgather(
        send, send_count, send_type, receive, count, large, type, comm);

    return aps_nonblocking_start(&call, request);
}

static struct aps_call other_reduce(const void *send, void *receive,
                                    int64_t count, bool large,
                                    MPI_Datatype type, MPI_Op op, int root,
                                    MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_reduce,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .type = type,
        .op = op,
        .root = root,
        .comm = comm,
    };
}

int aps_other_reduce(const void *send, void *receive, int64_t count, bool large,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    struct aps_call call =
        other_reduce(send, receive, count, large, type, op, root, comm);

    return other_handle(&call);
}

int aps_other_ireduce(const void *send, void *receive, int64_t count,
                      bool large, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm, MPI_Request *request)
{
    const struct aps_call call =
        other_reduce(send, receive, count, large, type, op, root, comm);

    return aps_nonblocking_start(&call, request);
}

static struct aps_call other_bcast(void *buffer, int64_t count, bool large,
                                   MPI_Datatype type, int root, MPI_Comm comm)
{
    return (struct aps_call){
        .kind = &aps_kind_bcast,
        .large = large,
        .send = buffer,
        .receive = buffer,
        .count = count,
        .type = type,
        .root = root,
        .comm = comm,
    };
}

int aps_other_bcast(void *buffer, int64_t count, bool large, MPI_Datatype type,
                    int root, MPI_Comm comm)
{
    struct aps_call call = other_bcast(buffer, count, large, type, root, comm);

    return other_handle(&call);
}

int aps_other_ibcast(void *buffer, int64_t count, bool large, MPI_Datatype type,
                     int root, MPI_Comm comm, MPI_Request *request)
{
    const struct aps_call call =
        other_bcast(buffer, count, large, type, root, comm);

    return aps_nonblocking_start(&call, request);
}
