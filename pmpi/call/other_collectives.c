/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relatives of the all-reduce: what is eligible is identified, planned,
 * carried out and sampled; everything else goes on to MPI as it came.
 */
#include "config.h"

#include "call/other_collectives.h"

#include <mpi.h>

#include "progress/agree.h"
#include "base/clock.h"
#include "base/fpenv.h"
#include "call/blocking.h"
#include "call/collective_call.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "job/job.h"
#include "job/pcontrol.h"
#include "progress/queue.h"
#include "scale/scale.h"

/* What went wrong in messages of ours goes to the program's error handler. */
static int other_raise(const struct aps_collective_call *call, int rc)
{
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

/*
 * COLLECTIVE. Can calls of this kind be rewritten here? What they need is made
 * on first use; if it cannot be made, on any rank, they pass through on all.
 */
static bool other_is_possible(struct aps_context *context,
                              const struct aps_collective_call *call)
{
    struct aps_other_state *related = &context->related;
    bool first;

    if (!aps_context_has_resources(context, call->comm))
        return false;
    first = related->state[call->kind] == APS_OTHER_STATE_NEW;
    if (aps_other_state_prepare(related,
                                aps_comm_resources_vcomm(context->resources),
                                call->kind) == 0)
        return true;
    if (first)
        aps_context_event(context,
                          "out of memory for calls: [%s]: they pass through",
                          aps_call_name(call->kind));
    return false;
}

/* Where the shares of a reduce-scatter begin, and the last one ends. */
static const size_t *other_bounds_of(struct aps_context *context,
                                     const struct aps_collective_call *call)
{
    size_t *bounds = context->related.bounds;

    bounds[0] = 0;
    for (int i = 0; i < context->size; i++)
        bounds[i + 1] = bounds[i] + (size_t)aps_collective_call_share(call, i);
    return bounds;
}

/* What this rank can compare with a reference: its share, the sum at the root,
 * or its own block as all ranks decoded it. */
static const float *other_own_result(const struct aps_context *context,
                                     const struct aps_collective_call *call,
                                     const struct aps_volume *volume)
{
    if (call->kind == APS_CALL_ALLGATHER)
        return volume->out + (size_t)context->rank * volume->own;
    return volume->out;
}

/* COLLECTIVE. What FP32 would have given to this rank, before the inputs are
 * gone. */
static int other_sample(struct aps_context *context,
                        const struct aps_collective_call *call,
                        const struct aps_volume *volume, int *ready)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const size_t *bounds;
    int rc = MPI_SUCCESS;

    *ready = 1;
    if (call->kind == APS_CALL_ALLGATHER) {
        aps_sample_keep(&context->sample, volume->memory, volume->in,
                        volume->own, ready);
        return MPI_SUCCESS;
    }
    if (call->kind == APS_CALL_REDUCE)
        return aps_sample_reference(&context->sample, vcomm, call->root,
                                    volume->memory, volume->in, volume->count,
                                    ready);
    bounds = other_bounds_of(context, call);
    for (int i = 0; i < context->size && rc == MPI_SUCCESS; i++) {
        int there = 1;

        rc = aps_sample_reference(&context->sample, vcomm, i, volume->memory,
                                  volume->in + bounds[i],
                                  bounds[i + 1] - bounds[i], &there);
        *ready &= there;
    }
    return rc;
}

/* COLLECTIVE. */
static int other_carry_out(struct aps_context *context,
                           const struct aps_collective_call *call,
                           const struct aps_volume *volume,
                           const struct aps_plan *plan, int exponent,
                           struct aps_cost *cost)
{
    struct aps_other_state *related = &context->related;
    struct aps_wire wire = {
        .memory = volume->memory,
        .scale = plan->scale,
        .fixed = plan->fixed,
        .accumulate = plan->accumulate,
    };

    aps_codec_init(&plan->format, &wire.codec);
    switch (call->kind) {
    case APS_CALL_REDUCE_SCATTER:
        return aps_reduce_scatter_run(related->scatter, &wire, volume->in,
                                      other_bounds_of(context, call),
                                      volume->out, cost);
    case APS_CALL_ALLGATHER:
        return aps_allgather_run(related->gather, &wire, exponent, volume->in,
                                 volume->out, volume->own, cost);
    default:
        return aps_reduce_root_run(related->rooted, &wire, call->root,
                                   volume->in, volume->out, volume->count,
                                   cost);
    }
}

/* COLLECTIVE. Every rank measures what it has; rank 0 writes the sum. */
static int other_write_sample(struct aps_context *context,
                              const struct aps_collective_call *call,
                              const struct aps_volume *volume,
                              const struct aps_plan_key *place,
                              const struct aps_plan *plan,
                              const struct aps_cost *cost, int64_t taken,
                              int ready)
{
    struct aps_measure measured = {0};
    int rc;

    if (ready)
        aps_sample_compare(&context->sample, volume->memory,
                           other_own_result(context, call, volume), volume->own,
                           &measured);
    rc = aps_sample_merge(aps_comm_resources_vcomm(context->resources),
                          &measured, &ready);
    if (rc == MPI_SUCCESS && context->rank == 0 && ready)
        aps_context_row(context, place, plan, aps_call_name(place->call), cost,
                        &measured, taken);
    return rc;
}

/* COLLECTIVE. By the plan, sampled where it is its turn. */
static int other_rewrite(struct aps_context *context,
                         const struct aps_collective_call *call,
                         const struct aps_volume *volume,
                         struct aps_plan_key *place,
                         const struct aps_plan *plan, int exponent)
{
    struct aps_counters *counters = &aps_other_counters[call->kind];
    const long number =
        aps_other_state_number(&context->related, call->kind, volume->count);
    const bool sampled = context->sample_every > 0 &&
                         number % context->sample_every == 0 &&
                         volume->count <= APS_SAMPLE_MAX;
    struct aps_cost cost = {0};
    fenv_t environment;
    int64_t begin;
    int ready = 0;
    int rc = MPI_SUCCESS;

    if (aps_policy_steps(context->job->policy)->kind == APS_STEPS_NONE)
        place->step = number;
    aps_fpenv_enter(&environment);
    if (sampled)
        rc = other_sample(context, call, volume, &ready);
    begin = sampled ? aps_clock_ns(CLOCK_MONOTONIC) : 0;
    if (rc == MPI_SUCCESS)
        rc = other_carry_out(context, call, volume, plan, exponent, &cost);
    if (rc == MPI_SUCCESS && sampled)
        rc = other_write_sample(context, call, volume, place, plan, &cost,
                                aps_clock_ns(CLOCK_MONOTONIC) - begin, ready);
    aps_fpenv_leave(&environment);
    aps_count(&counters->rewritten, 1);
    aps_count_cost(counters, &cost);
    return rc;
}

/*
 * COLLECTIVE. Do all ranks of an all-gather have types and arguments that we
 * can handle? With the answer comes the scale exponent of the blocks, which
 * have one rank each to contribute to them (N = 1).
 */
static int other_agree(struct aps_context *context,
                       const struct aps_volume *volume,
                       const struct aps_plan *plan, bool *good, int *exponent)
{
    const bool scaled = plan->scale == APS_SCALE_APS;
    int values[2] = {!volume->good, APS_EXPONENT_ZERO};
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    if (scaled && volume->good)
        values[1] = aps_scale_max_exponent(
            volume->memory->magnitude(volume->in, volume->own).max, 1);
    rc = aps_agree_max(aps_comm_resources_vcomm(context->resources),
                       scaled ? 2 : 1, values);
    *good = !values[0];
    *exponent = scaled ? aps_scale_aps(&plan->format, values[1]) : 0;
    aps_fpenv_leave(&environment);
    return rc;
}

/* COLLECTIVE. A call of a kind that the policy names. */
static int other_run(struct aps_context *context,
                     const struct aps_collective_call *call,
                     struct aps_volume *volume)
{
    const unsigned long failures = aps_context_failures();
    const struct aps_pcontrol control = aps_pcontrol_now();
    struct aps_plan_key place = {
        .call = call->kind,
        .layer = -1,
        .layers = aps_steps_layers(context->steps),
        .count = volume->count,
    };
    struct aps_plan plan;
    bool good = true;
    int exponent = 0;
    int rc = MPI_SUCCESS;

    if (control.off)
        return aps_collective_call_pass_because(call, APS_PASSED_OFF);
    aps_steps_now(context->steps, &place.step, &place.epoch);
    if (control.epoch >= 0)
        place.epoch = control.epoch;
    aps_policy_resolve(context->job->policy, &place, &plan);
    if (!plan.rewrite || !other_is_possible(context, call))
        return aps_collective_call_pass_because(call, APS_PASSED_RULE);
    volume->memory = aps_context_memory(context, volume->in, volume->out);
    if (call->kind == APS_CALL_ALLGATHER)
        rc = other_agree(context, volume, &plan, &good, &exponent);
    if (rc != MPI_SUCCESS)
        return other_raise(call, rc);
    if (!good)
        return aps_collective_call_pass_because(call, APS_PASSED_OTHER);
    rc = other_rewrite(context, call, volume, &place, &plan, exponent);
    return other_raise(
        call,
        aps_context_check(context, aps_call_name(call->kind), failures, rc));
}

static int other_handle(const struct aps_collective_call *call)
{
    struct aps_context *context;
    struct aps_volume volume;
    int rc;

    aps_count(&aps_other_counters[call->kind].calls, 1);
    if (!aps_collective_call_is_candidate(aps_job(), call))
        return aps_collective_call_pass_because(call, APS_PASSED_OTHER);
    /* Discovery does not look at these calls: nothing is worth a context where
     * the ranks agreed that there is no policy. */
    if (aps_world_of_job() &&
        aps_world_of_job()->agreed.outcome != APS_AGREED_POLICY)
        return aps_collective_call_pass_because(call, APS_PASSED_COMM);
    rc = aps_context_of(call->comm, &context);
    if (rc != MPI_SUCCESS)
        return rc;
    if (context && context->queue)
        aps_context_drain(context);
    if (!context || context->state != APS_CONTEXT_ACTIVE)
        return aps_collective_call_pass_because(call, APS_PASSED_COMM);
    if (!aps_collective_call_measure(context, call, &volume))
        return aps_collective_call_pass_because(call, APS_PASSED_OTHER);
    if (volume.count < context->min_count)
        return aps_collective_call_pass_because(call, APS_PASSED_SMALL);
    if (!aps_policy_names(context->job->policy, call->kind))
        return aps_collective_call_pass_because(call, APS_PASSED_RULE);
    aps_pcontrol_note_call(context->job, volume.count);
    return other_run(context, call, &volume);
}

int aps_other_reduce_scatter_block(const void *send, void *receive,
                                   int64_t count, bool large, aps_handle type,
                                   aps_handle op, aps_handle comm)
{
    const struct aps_collective_call call = {
        .kind = APS_CALL_REDUCE_SCATTER,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
    };

    return other_handle(&call);
}

int aps_other_reduce_scatter(const void *send, void *receive,
                             const void *counts, bool large, aps_handle type,
                             aps_handle op, aps_handle comm)
{
    const struct aps_collective_call call = {
        .kind = APS_CALL_REDUCE_SCATTER,
        .large = large,
        .send = send,
        .receive = receive,
        .counts = counts,
        .listed = true,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
    };

    return other_handle(&call);
}

int aps_other_allgather(const void *send, int64_t send_count,
                        aps_handle send_type, void *receive, int64_t count,
                        bool large, aps_handle type, aps_handle comm)
{
    const struct aps_collective_call call = {
        .kind = APS_CALL_ALLGATHER,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .send_count = send_count,
        .send_type = (MPI_Datatype)send_type,
        .type = (MPI_Datatype)type,
        .comm = (MPI_Comm)comm,
    };

    return other_handle(&call);
}

int aps_other_reduce(const void *send, void *receive, int64_t count, bool large,
                     aps_handle type, aps_handle op, int root, aps_handle comm)
{
    const struct aps_collective_call call = {
        .kind = APS_CALL_REDUCE,
        .large = large,
        .send = send,
        .receive = receive,
        .count = count,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .root = root,
        .comm = (MPI_Comm)comm,
    };

    return other_handle(&call);
}
