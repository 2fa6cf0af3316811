/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/segment.h"

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "comm/report.h"

/* COLLECTIVE. Reduce one layer by its plan. */
static int segment_reduce(struct aps_context *context,
                          const struct aps_call *call,
                          const struct aps_segment *segment,
                          struct aps_cost *cost)
{
    const struct aps_vector layer = {
        .in = segment->in,
        .out = segment->out,
        .n = segment->count,
        .memory = segment->memory,
    };
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = aps_comm_resources_reduce(context->resources, &segment->plan, 1,
                                   &layer, cost);
    aps_fpenv_leave(&environment);
    aps_count_cost(&aps_counters, cost);
    return aps_call_raise(call, rc);
}

/* COLLECTIVE. One layer, to MPI. */
static int segment_pass_segment(const struct aps_call *call,
                                const struct aps_segment *segment)
{
    struct aps_call part = *call;

    part.send = call->send == MPI_IN_PLACE ? MPI_IN_PLACE : segment->in;
    part.receive = segment->out;
    part.count = (MPI_Count)segment->count;
    part.part = true;
    return aps_call_pass(&part);
}

static void segment_tell_choice(struct aps_context *context,
                                const struct aps_segment *segment,
                                const char *text)
{
    static atomic_ullong times;

    if (aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        aps_context_event(
            context, "rule at line %d: %s",
            aps_policy_rule_line(context->job->policy, segment->plan.rule),
            text);
}

/*
 * COLLECTIVE. A layer of `reduce: auto` whose size is not settled yet: one of
 * the candidates does it, on the clock. The plan stays `auto` if that was MPI.
 */
static int segment_try_candidate(struct aps_context *context,
                                 const struct aps_call *call,
                                 struct aps_segment *segment,
                                 struct aps_cost *cost, int64_t *taken)
{
    struct aps_autotune_class *class;
    enum aps_candidate candidate;
    char text[256];
    int64_t begin;
    int rc, ended;

    class = aps_autotune_begin(&context->autotune, context->resources,
                               segment->count, &segment->plan, &candidate);
    if (!class)
        return segment_pass_segment(call, segment);
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    if (candidate == APS_CANDIDATE_NATIVE)
        rc = segment_pass_segment(call, segment);
    else
        rc = segment_reduce(context, call, segment, cost);
    *taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    if (aps_autotune_end(class, context->resources, *taken, text, sizeof text,
                         &ended))
        segment_tell_choice(context, segment, text);
    return rc != MPI_SUCCESS ? rc : aps_call_raise(call, ended);
}

/* COLLECTIVE. The FP32 sum of the same inputs, before they are gone. */
static int segment_sample(struct aps_context *context,
                          const struct aps_call *call,
                          const struct aps_segment *segment, int *ready)
{
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = aps_sample_reference(
        &context->sample, aps_comm_resources_vcomm(context->resources), 0,
        segment->memory, segment->in, segment->count, ready);
    aps_fpenv_leave(&environment);
    return aps_call_raise(call, rc);
}

static void segment_write_sample(struct aps_context *context,
                                 const struct aps_segment *segment,
                                 const struct aps_cost *cost, int64_t taken)
{
    struct aps_measure measure;
    fenv_t environment;

    aps_fpenv_enter(&environment);
    aps_sample_compare(&context->sample, segment->memory, segment->out,
                       segment->count, &measure);
    aps_context_row(context, &segment->place, &segment->plan,
                    aps_reduce_name(segment->plan.reduce), cost, &measure,
                    taken);
    aps_fpenv_leave(&environment);
}

bool aps_segment_is_sampled(const struct aps_context *context,
                            const struct aps_segment *segment)
{
    return context->sample_every > 0 &&
           segment->place.step % context->sample_every == 0 &&
           segment->count <= APS_SAMPLE_MAX;
}

int aps_segment_reduce(struct aps_context *context, const struct aps_call *call,
                       struct aps_segment *segment)
{
    const bool sampled = aps_segment_is_sampled(context, segment);
    struct aps_cost cost = {0};
    int64_t taken = 0;
    int ready = 0;
    int rc = MPI_SUCCESS;

    segment->memory = aps_context_memory(context, segment->in, segment->out);
    if (sampled)
        rc = segment_sample(context, call, segment, &ready);
    if (rc == MPI_SUCCESS && segment->plan.reduce == APS_REDUCE_AUTO) {
        rc = segment_try_candidate(context, call, segment, &cost, &taken);
    } else if (rc == MPI_SUCCESS) {
        const int64_t begin = sampled ? aps_clock_ns(CLOCK_MONOTONIC) : 0;

        rc = segment_reduce(context, call, segment, &cost);
        taken = sampled ? aps_clock_ns(CLOCK_MONOTONIC) - begin : 0;
    }
    if (rc == MPI_SUCCESS && context->rank == 0 && ready &&
        segment->plan.reduce != APS_REDUCE_AUTO)
        segment_write_sample(context, segment, &cost, taken);
    return rc;
}

/* A call on a fiber gives way to others: it cannot measure what is fastest. */
static void segment_defer(const struct aps_context *context,
                          struct aps_plan *plan)
{
    if (!context->may_block && plan->reduce == APS_REDUCE_AUTO)
        plan->reduce = APS_REDUCE_DIRECT;
}

void aps_segment_plan(const struct aps_context *context,
                      const struct aps_call *call,
                      const struct aps_step_position *position, long i,
                      size_t offset, struct aps_segment *segment)
{
    const struct aps_policy *policy = context->job->policy;
    const struct aps_layers *layers = aps_policy_layers(policy);
    struct aps_plan_key *place = &segment->place;

    *place = (struct aps_plan_key){
        .layers = position->layers,
        .fused = position->segments > 1,
        .epoch = position->epoch,
        .step = position->step,
    };
    aps_steps_segment(context->steps, position, i, (size_t)call->count,
                      &place->layer, &segment->count);
    if (layers && place->layer >= 0)
        place->name = layers->list[place->layer].name;
    place->count = segment->count;
    segment->out = (float *)call->receive + offset;
    segment->in = call->send == MPI_IN_PLACE
                      ? segment->out
                      : (const float *)call->send + offset;
    aps_policy_resolve(policy, place, &segment->plan);
    segment->chosen = segment->plan.reduce == APS_REDUCE_AUTO;
    if (segment->plan.rewrite && segment->chosen)
        aps_autotune_apply(&context->autotune, segment->count, &segment->plan);
    if (segment->plan.rewrite && aps_call_is_deferred(call))
        segment_defer(context, &segment->plan);
}

bool aps_segment_is_possible(struct aps_context *context,
                             const struct aps_call *call,
                             const struct aps_plan *plan)
{
    char cause[256] = "";
    unsigned bit = 1u << (plan->rule % 32);

    if (!aps_context_has_resources(context, call->comm))
        return false;
    /* Of what auto tries, native is always possible. */
    if (plan->reduce == APS_REDUCE_AUTO ||
        aps_comm_resources_prepare(context->resources, plan, cause,
                                   sizeof cause) == 0)
        return true;
    if (!(context->complained & bit)) {
        context->complained |= bit;
        aps_context_event(
            context,
            "the rule at line %d (reduce: %s, group: %s) cannot "
            "run here: %s; its layers pass through",
            aps_policy_rule_line(context->job->policy, plan->rule),
            aps_reduce_name(plan->reduce), aps_group_name(plan->group), cause);
    }
    return false;
}
