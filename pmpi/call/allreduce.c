/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allreduce: what is eligible is identified, planned, reduced and sampled;
 * everything else goes on to MPI as it came.
 */
#include "config.h"

#include "call/allreduce.h"

#include <mpi.h>
#include <stdio.h>

#include "base/message.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "job/job.h"
#include "native/next_mpi.h"
#include "progress/queue.h"
#include "call/segment.h"
#include "device/bounce.h"

/*
 * What this thread has passed last. A call that is like it passes for the same
 * reason, which holds for good, and then costs next to nothing. Such a call is
 * never numbered, whichever way it goes (allreduce.h).
 */
struct passed {
    _Alignas(64) MPI_Comm comm; /* one cache line has it all */
    MPI_Datatype type;
    MPI_Op op;
    int64_t count;   /* 0: none yet */
    unsigned deaths; /* of contexts, by then: comm may be another since */
    enum aps_reason reason;
    const struct aps_next_mpi *next; /* aps_next_mpi() */
};
static _Thread_local struct passed last
    __attribute__((tls_model("initial-exec")));

static void allreduce_remember(const struct aps_call *call,
                               enum aps_reason reason)
{
    last = (struct passed){
        .comm = call->comm,
        .type = call->type,
        .op = call->op,
        .count = call->count,
        .deaths = atomic_load(&aps_context_deaths),
        .reason = reason,
        .next = aps_next_mpi(),
    };
}

/* Is it like the last one, and is nothing of ours under way? But for buffers in
 * a GPU's memory it may pass then. */
static inline bool allreduce_may_pass_again(int64_t count, aps_handle type,
                                            aps_handle op, aps_handle comm)
{
    return count == last.count && (MPI_Comm)comm == last.comm &&
           (MPI_Datatype)type == last.type && (MPI_Op)op == last.op &&
           last.deaths == atomic_load_explicit(&aps_context_deaths,
                                               memory_order_relaxed) &&
           count > 0 && !aps_queue_unfinished() && !aps_queue_pending();
}

static inline int allreduce_pass_again(const void *send, void *receive,
                                       int64_t count, bool large,
                                       aps_handle type, aps_handle op,
                                       aps_handle comm)
{
    aps_count(&aps_counters.again[last.reason], 1);
    return aps_next_mpi_allreduce(last.next, large, send, receive, count, type,
                                  op, comm);
}

/*
 * Where the policy needs no step, a call's plan follows from its count alone.
 * Counts that no rule takes are kept in context->passing, so that the next call
 * of that count is quicker: a cache, which changes nothing but the time.
 */
static bool allreduce_is_for_no_rule(struct aps_context *context, size_t count)
{
    const struct aps_policy *policy = context->job->policy;
    const struct aps_plan_key key = {.layer = -1, .count = count};
    struct aps_plan plan;
    size_t *kept;

    if (context->state != APS_CONTEXT_ACTIVE ||
        aps_policy_steps(policy)->kind != APS_STEPS_NONE)
        return false;
    kept = &context->passing[(count * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
    if (*kept == count)
        return true;
    aps_policy_resolve(policy, &key, &plan);
    if (plan.rewrite)
        return false;
    *kept = count;
    return true;
}

/* The call's place among those of the communicator. */
static void allreduce_advance(struct aps_context *context,
                              const struct aps_call *call,
                              struct aps_step_position *position)
{
    context->calls++;
    aps_steps_advance(context->steps, (size_t)call->count, position);
    if (context->state == APS_CONTEXT_DISCOVER &&
        aps_discovery_note(&context->discovery, context->steps, position))
        aps_context_write_step(context);
}

void aps_allreduce_discover(struct aps_context *context,
                            const struct aps_call *call)
{
    struct aps_step_position position;

    allreduce_advance(context, call, &position);
}

static void allreduce_tell_desync(struct aps_context *context,
                                  const struct aps_call *call,
                                  const struct aps_step_position *position)
{
    const struct aps_layers *layers = aps_policy_layers(context->job->policy);
    char wanted[160] = "the step";

    if (layers && position->wanted >= 0)
        snprintf(wanted, sizeof wanted, "layer %ld (%.120s)", position->wanted,
                 layers->list[position->wanted].name);
    aps_context_event(context,
                      "desync: call %llu has %lld elements where %s has %zu; "
                      "calls pass through until the step is found again (wrong "
                      "layer table, `steps` or `order`?)",
                      context->calls - 1, (long long)call->count, wanted,
                      position->expected);
}

bool aps_allreduce_place(struct aps_context *context,
                         const struct aps_call *call,
                         struct aps_step_position *position,
                         enum aps_reason *reason)
{
    if (context->state == APS_CONTEXT_PASS)
        *reason = APS_PASSED_COMM;
    else if ((unsigned long long)call->count < context->min_count)
        *reason = APS_PASSED_SMALL;
    else if (allreduce_is_for_no_rule(context, (size_t)call->count))
        *reason = APS_PASSED_RULE;
    else
        *reason = APS_PASSED_STEP;
    if (*reason != APS_PASSED_STEP)
        return false;
    allreduce_advance(context, call, position);
    if (context->state == APS_CONTEXT_DISCOVER) {
        *reason = APS_PASSED_UNCOUNTED;
        return false;
    }
    if (position->desync && aps_message_is_due(++context->desyncs))
        allreduce_tell_desync(context, call, position);
    if (call->control.epoch >= 0)
        position->epoch = call->control.epoch;
    if (call->control.off)
        *reason = APS_PASSED_OFF;
    return position->active && !call->control.off;
}

/* COLLECTIVE. A call whose place in the step is known. */
int aps_allreduce_run(struct aps_context *context, const struct aps_call *call,
                      const struct aps_step_position *position)
{
    struct aps_segment segment;
    enum aps_reason reason = APS_PASSED_RULE;
    bool any = false;
    size_t offset = 0;
    size_t passed; /* elements before `offset` that wait to be passed on */
    const unsigned long failures = aps_context_failures();
    int rc = MPI_SUCCESS;

    for (long i = 0; i < position->segments && !any; i++) {
        aps_segment_plan(context, call, position, i, offset, &segment);
        any = segment.plan.rewrite &&
              aps_segment_is_possible(context, call, &segment.plan);
        if (!segment.plan.rewrite && segment.plan.reduce == APS_REDUCE_AUTO)
            reason = APS_PASSED_AUTO;
        offset += segment.count;
    }
    if (!any)
        return aps_call_pass_because(call, reason);
    any = false;
    offset = passed = 0;
    for (long i = 0; i < position->segments && rc == MPI_SUCCESS; i++) {
        aps_segment_plan(context, call, position, i, offset, &segment);
        offset += segment.count;
        if (!segment.plan.rewrite ||
            !aps_segment_is_possible(context, call, &segment.plan)) {
            passed += segment.count;
            continue;
        }
        rc = aps_call_pass_part(call, offset - segment.count - passed, passed);
        passed = 0;
        if (rc == MPI_SUCCESS)
            rc = aps_segment_reduce(context, call, &segment);
        any |= segment.plan.reduce != APS_REDUCE_AUTO;
    }
    if (rc == MPI_SUCCESS)
        rc = aps_call_pass_part(call, offset - passed, passed);
    aps_count(any ? &aps_counters.rewritten
                  : &aps_counters.passed[APS_PASSED_AUTO],
              1);
    if (rc != MPI_SUCCESS)
        return rc;
    return aps_call_raise(
        call, aps_context_check(context, "all-reduce", failures, rc));
}

int aps_allreduce_plan(struct aps_context *context, const struct aps_call *call)
{
    struct aps_step_position position;
    enum aps_reason reason;

    if (!aps_allreduce_place(context, call, &position, &reason)) {
        /* A deferred call says nothing of those on its communicator, which may
         * be gone, nor of what has been drained there. */
        if (!aps_call_is_deferred(call) &&
            (reason == APS_PASSED_SMALL || reason == APS_PASSED_RULE))
            allreduce_remember(call, reason);
        return aps_call_pass_because(call, reason);
    }
    return aps_allreduce_run(context, call, &position);
}

static int allreduce_handle_new(const struct aps_call *call)
{
    struct aps_context *context;
    int rc;

    aps_count(&aps_counters.calls, 1);
    if (!aps_call_is_candidate(aps_job(), call)) {
        if (call->op != MPI_SUM || !aps_call_is_float(aps_job(), call->type))
            allreduce_remember(call, APS_PASSED_OTHER);
        return aps_call_pass_because(call, APS_PASSED_OTHER);
    }
    aps_pcontrol_note_call(aps_job(), (size_t)call->count);
    rc = aps_context_of(call->comm, &context);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!context)
        return aps_call_pass_because(call, APS_PASSED_COMM);
    if (context->queue)
        aps_context_drain(context);
    return aps_allreduce_plan(context, call);
}

/* What may not pass at once. (Cold: out of the way of what may.) */
static __attribute__((noinline, cold)) int
handle(const void *send, void *receive, int64_t count, bool large,
       aps_handle type, aps_handle op, aps_handle comm)
{
    if (aps_job()->foreign)
        return aps_next_mpi_allreduce(aps_next_mpi(), large, send, receive,
                                      count, type, op, comm);
    if (allreduce_may_pass_again(count, type, op, comm) &&
        !aps_bounce_is_needed(send, receive))
        return allreduce_pass_again(send, receive, count, large, type, op,
                                    comm);
    return allreduce_handle_new(&(struct aps_call){
        .send = send,
        .receive = receive,
        .count = count,
        .large = large,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
        .control = aps_pcontrol_now(),
    });
}

static inline int allreduce_pass_or_handle(const void *send, void *receive,
                                           int64_t count, bool large,
                                           aps_handle type, aps_handle op,
                                           aps_handle comm)
{
    return allreduce_may_pass_again(count, type, op, comm) &&
                   aps_bounce_is_needless(send, receive)
               ? allreduce_pass_again(send, receive, count, large, type, op,
                                      comm)
               : handle(send, receive, count, large, type, op, comm);
}

/*
 * A short call takes 1 us: what passes again may cost 10 ns, in caches that are
 * full of MPI's. Hence one line of few instructions.
 */
#define STRAIGHT __attribute__((flatten, hot))

STRAIGHT int aps_allreduce(const void *send, void *receive, int count,
                           aps_handle type, aps_handle op, aps_handle comm)
{
    return allreduce_pass_or_handle(send, receive, count, false, type, op,
                                    comm);
}

STRAIGHT int aps_allreduce_c(const void *send, void *receive, int64_t count,
                             aps_handle type, aps_handle op, aps_handle comm)
{
    return allreduce_pass_or_handle(send, receive, count, true, type, op, comm);
}
