/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/segment.h"

#include <math.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "call/kind.h"
#include "call/pass.h"
#include "comm/auto_formats.h"
#include "comm/first_call.h"
#include "comm/report.h"

/* COLLECTIVE. One layer by its plan. */
static int segment_carry_out(struct aps_context *context,
                             const struct aps_call *call,
                             const struct aps_segment *segment,
                             struct aps_cost *cost)
{
    fenv_t environment;
    int rc;

    aps_context_begin_call(context, aps_call_function(call), &segment->key,
                           &segment->plan, segment->memory);
    aps_fpenv_enter(&environment);
    rc = call->arguments.collective->run(context, call, segment, cost);
    aps_fpenv_leave(&environment);
    aps_count_cost(aps_call_counters(call), cost);
    return aps_context_fail(context, aps_call_function(call), rc);
}

/* COLLECTIVE. One layer, to MPI. */
static int segment_pass(const struct aps_call *call,
                        struct aps_segment *segment)
{
    struct aps_call part = *call;

    part.arguments.send =
        call->arguments.send == MPI_IN_PLACE ? MPI_IN_PLACE : segment->in;
    part.arguments.receive = segment->out;
    part.arguments.count = (MPI_Count)segment->count;
    part.part = true;
    segment->told = true;
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
    enum aps_autotune_algorithm candidate;
    char text[256];
    int64_t begin;
    int rc, ended;

    class = aps_autotune_begin(&context->autotune, context->resources,
                               segment->count, &segment->plan, &candidate, &rc);
    if (rc != MPI_SUCCESS)
        return aps_context_fail(context, aps_call_function(call), rc);
    if (!class)
        return segment_pass(call, segment);
    if (context->autotune.count == APS_AUTOTUNE_CLASSES)
        aps_context_event_once(context,
                               &context->autotune.classes_full_reported,
                               "auto: %d classes of rules and sizes are made, "
                               "and there is room for no more: calls of others "
                               "are left to MPI",
                               APS_AUTOTUNE_CLASSES);
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    if (candidate == APS_AUTOTUNE_NATIVE)
        rc = segment_pass(call, segment);
    else
        rc = segment_carry_out(context, call, segment, cost);
    *taken = aps_clock_ns(CLOCK_MONOTONIC) - begin;
    if (aps_autotune_end(class, context->resources, *taken, text, sizeof text,
                         &ended))
        segment_tell_choice(context, segment, text);
    (void)aps_context_fail(context, aps_call_function(call), ended);
    if (rc != MPI_SUCCESS)
        return rc;
    segment->told = false;
    return ended;
}

/* COLLECTIVE. Computes the FP32 reference of the inputs before the call overwrites
 * them. */
static void segment_sample(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_segment *segment, int *ready)
{
    fenv_t environment;
    int rc;

    aps_fpenv_enter(&environment);
    rc = call->arguments.collective->sample(context, call, segment, ready);
    aps_fpenv_leave(&environment);
    (void)aps_context_fail(context, aps_call_function(call), rc);
}

/* COLLECTIVE where the ranks merge what they have measured; rank 0 writes. */
static void segment_write_sample(struct aps_context *context,
                                 const struct aps_call *call,
                                 const struct aps_segment *segment,
                                 const struct aps_cost *cost, int64_t taken,
                                 int ready)
{
    const bool gathers = segment->key.call == APS_CALL_ALLGATHER;
    struct aps_measure measure = {0};
    fenv_t environment;
    int rc = MPI_SUCCESS;

    aps_fpenv_enter(&environment);
    if (ready && (call->arguments.collective->merges || context->rank == 0))
        aps_sample_compare(&context->sample, segment->memory,
                           gathers ? segment->out +
                                         (size_t)context->rank * segment->own
                                   : segment->out,
                           segment->own, &measure);
    if (call->arguments.collective->merges)
        rc = aps_sample_merge(aps_comm_resources_vcomm(context->resources),
                              &measure, &ready);
    if (rc == MPI_SUCCESS && context->rank == 0 && ready)
        aps_context_row(context, &segment->key, &segment->plan,
                        aps_call_function(call),
                        &(struct aps_sampled){.cost = cost,
                                              .measure = &measure,
                                              .taken = taken,
                                              .entropy = NAN});
    aps_fpenv_leave(&environment);
    (void)aps_context_fail(context, aps_call_function(call), rc);
}

bool aps_segment_agree(struct aps_context *context, const struct aps_call *call,
                       struct aps_segment *segment)
{
    bool good = true;

    if (call->arguments.collective->agree)
        call->arguments.collective->agree(context, segment, &good);
    (void)aps_context_fail(context, aps_call_function(call), segment->rc);
    return good;
}

bool aps_segment_is_sampled(const struct aps_context *context,
                            const struct aps_segment *segment)
{
    return context->sample_every > 0 &&
           segment->number % context->sample_every == 0 &&
           segment->count <= APS_SAMPLE_MAX;
}

int aps_segment_run(struct aps_context *context, const struct aps_call *call,
                    struct aps_segment *segment)
{
    const bool sampled = aps_segment_is_sampled(context, segment);
    struct aps_cost cost = {.sampled = sampled, .residual = NAN};
    int64_t taken = 0;
    int ready = 0;
    int rc = MPI_SUCCESS;

    if (sampled)
        segment_sample(context, call, segment, &ready);
    if (segment->plan.reduce == APS_REDUCE_AUTO) {
        rc = segment_try_candidate(context, call, segment, &cost, &taken);
    } else {
        const int64_t begin = sampled ? aps_clock_ns(CLOCK_MONOTONIC) : 0;

        rc = segment_carry_out(context, call, segment, &cost);
        taken = sampled ? aps_clock_ns(CLOCK_MONOTONIC) - begin : 0;
    }
    segment->fp32_bytes = cost.fp32_bytes;
    /* To merge samples is collective: a rank whose call has failed takes part. */
    if (sampled && segment->plan.reduce != APS_REDUCE_AUTO &&
        (rc == MPI_SUCCESS || call->arguments.collective->merges))
        segment_write_sample(context, call, segment, &cost, taken,
                             ready && rc == MPI_SUCCESS);
    return rc;
}

void aps_sent_add(struct aps_sent *sent, const struct aps_segment *segment)
{
    if (segment->plan.reduce == APS_REDUCE_AUTO) { /* MPI did it */
        sent->passed += segment->count;
        return;
    }
    sent->rewritten += segment->count;
    sent->fp32_bytes += segment->fp32_bytes;
}

void aps_sent_count(const struct aps_sent *sent, struct aps_counters *counters)
{
    unsigned long long bytes;

    if (sent->rewritten == 0 || sent->passed == 0)
        return;
    /* In integers: the program's own floating-point environment is in force here. */
    bytes = (unsigned long long)((unsigned __int128)sent->fp32_bytes *
                                 sent->passed / sent->rewritten);
    aps_count(&counters->wire_bytes, bytes);
    aps_count(&counters->fp32_bytes, bytes);
}

bool aps_segment_is_possible(struct aps_context *context,
                             const struct aps_call *call,
                             const struct aps_plan *plan)
{
    return call->arguments.collective->is_possible(context, call, plan);
}

const struct aps_memory *aps_segment_memory(struct aps_context *context,
                                            const struct aps_call *call)
{
    return call->gpu.send || call->gpu.receive ? aps_context_gpu_memory(context)
                                               : &aps_memory_host;
}

/* Of a plan that says auto, as the policy resolves it. FP32 is the library's where
 * MPI cannot get the call any more. */
static void segment_apply_choice(const struct aps_context *context,
                                 const struct aps_call *call,
                                 struct aps_segment *segment)
{
    const struct aps_place place = aps_segment_place(segment);
    const struct aps_auto_layer *layer =
        aps_auto_formats_find(context->auto_formats, &place);
    const int chosen = layer ? layer->chosen : -1;

    segment->choice = aps_segment_choice(segment, chosen);
    if (chosen >= 0 || call->arguments.form == APS_BLOCKING)
        aps_policy_choose(context->job->policy, &segment->key, chosen,
                          &segment->plan);
    if (call->arguments.form != APS_BLOCKING &&
        segment->plan.reduce == APS_REDUCE_AUTO)
        segment->plan.reduce = APS_REDUCE_DIRECT;
}

void aps_segment_choose(const struct aps_context *context,
                        const struct aps_call *call,
                        struct aps_segment *segment)
{
    aps_policy_resolve(context->job->policy, &segment->key, &segment->plan);
    segment_apply_choice(context, call, segment);
}

void aps_segment_plan(const struct aps_context *context,
                      const struct aps_call *call,
                      const struct aps_step_position *position, long i,
                      size_t offset, struct aps_segment *segment)
{
    call->arguments.collective->segment(context, call, position, i, offset,
                                        segment);
    aps_policy_resolve(context->job->policy, &segment->key, &segment->plan);
    if (segment->plan.auto_format && call->arguments.form == APS_BLOCKING)
        segment_apply_choice(context, call, segment);
    segment->chosen =
        segment->key.call == APS_CALL_ALLREDUCE &&
        !(segment->plan.auto_format && call->arguments.form != APS_BLOCKING) &&
        segment->plan.reduce == APS_REDUCE_AUTO;
    if (segment->plan.rewrite && segment->chosen)
        aps_autotune_apply(&context->autotune, segment->count, &segment->plan);
    /* Nonblocking calls are under way at the same time: none of them can be
     * timed. */
    if (segment->plan.rewrite && call->arguments.form != APS_BLOCKING &&
        segment->plan.reduce == APS_REDUCE_AUTO)
        segment->plan.reduce = APS_REDUCE_DIRECT;
}
