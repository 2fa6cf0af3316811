/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/handle.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/message.h"
#include "base/plural.h"
#include "call/auto_format.h"
#include "call/kind.h"
#include "call/pass.h"
#include "call/segment.h"
#include "call/shadow.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "message/agree.h"
#include "message/wait.h"

static int handle_pass_because(const struct aps_call *call,
                               enum aps_reason reason)
{
    if (call->arguments.collective->note_passed)
        call->arguments.collective->note_passed(call, reason);
    return aps_call_pass_because(call, reason);
}

/* COLLECTIVE. True if the library has to do with a layer of this plan: it rewrites the
 * layer, or the call ends with context->failed. */
static bool handle_may_rewrite(struct aps_context *context,
                               const struct aps_call *call,
                               const struct aps_plan *plan)
{
    if (!plan->rewrite)
        return false;
    if (context->failed == MPI_SUCCESS &&
        aps_segment_is_possible(context, call, plan))
        return true;
    return context->failed != MPI_SUCCESS;
}

/* COLLECTIVE. Is any layer to be rewritten? Else for which reason not? */
static bool handle_is_rewritten(struct aps_context *context,
                                const struct aps_call *call,
                                const struct aps_step_position *position,
                                enum aps_reason *reason)
{
    struct aps_segment segment;
    size_t offset = 0;

    *reason = APS_PASSED_RULE;
    for (long i = 0; i < position->segments; i++) {
        aps_segment_plan(context, call, position, i, offset, &segment);
        if (handle_may_rewrite(context, call, &segment.plan))
            return true;
        if (!segment.plan.rewrite && segment.plan.reduce == APS_REDUCE_AUTO)
            *reason = APS_PASSED_AUTO;
        if (segment.plan.shadow)
            *reason = APS_PASSED_SHADOW;
        if (!segment.plan.rewrite && segment.plan.auto_format)
            *reason = APS_PASSED_FORMAT;
        if (context->resources_state == APS_RESOURCES_FAILED)
            *reason = APS_PASSED_RESOURCES;
        offset += segment.count;
    }
    return false;
}

/* COLLECTIVE. One layer that is rewritten, or, where that needs the ranks'
 * agreement and has it not, the whole call passes (*passed). */
static int handle_segment(struct aps_context *context,
                          const struct aps_call *call,
                          struct aps_segment *segment, bool *passed)
{
    segment->memory = aps_segment_memory(context, call);
    *passed = !aps_segment_agree(context, call, segment);
    return *passed ? MPI_SUCCESS : aps_segment_run(context, call, segment);
}

/* COLLECTIVE. A call whose position in the step is known: every layer is
 * rewritten or passed on. On to the end, whatever happens: an error may be one of
 * this rank alone, and the others go there. */
static int handle_layers(struct aps_context *context,
                         const struct aps_call *call,
                         const struct aps_step_position *position)
{
    struct aps_counters *counters = aps_call_counters(call);
    unsigned long failures;
    enum aps_reason reason;
    size_t offset = 0;
    size_t waiting = 0; /* elements before `offset` that are to be passed on */
    struct aps_sent sent = {0};
    bool rewritten, any = false;
    bool told = false;    /* the program's handler knows of an error */
    int rc = MPI_SUCCESS; /* the first one */

    aps_shadow_call(context, call, position);
    aps_auto_format_call(context, call, position);
    failures = aps_context_failures();
    rewritten = handle_is_rewritten(context, call, position, &reason);
    if (!rewritten)
        return aps_call_pass_because(call, reason);
    if (context->failed != MPI_SUCCESS) {
        aps_call_count_passed(call, APS_PASSED_RESOURCES);
        return aps_call_raise(call, context->failed);
    }
    for (long i = 0; i < position->segments; i++) {
        struct aps_segment segment;
        bool passed;
        int now;

        aps_segment_plan(context, call, position, i, offset, &segment);
        offset += segment.count;
        if (!segment.plan.rewrite ||
            !aps_segment_is_possible(context, call, &segment.plan)) {
            waiting += segment.count;
            sent.passed += segment.count;
            continue;
        }
        now =
            aps_call_pass_part(call, offset - segment.count - waiting, waiting);
        told |= now != MPI_SUCCESS;
        rc = rc == MPI_SUCCESS ? now : rc;
        waiting = 0;
        now = handle_segment(context, call, &segment, &passed);
        if (passed)
            return aps_call_pass_because(call, APS_PASSED_OTHER);
        told |= now != MPI_SUCCESS && segment.told;
        rc = rc == MPI_SUCCESS ? now : rc;
        aps_sent_add(&sent, &segment);
        any |= segment.plan.reduce != APS_REDUCE_AUTO;
    }
    if (waiting > 0) {
        const int now = aps_call_pass_part(call, offset - waiting, waiting);

        told |= now != MPI_SUCCESS;
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    aps_sent_count(&sent, counters);
    aps_count(any ? &counters->rewritten : &counters->passed[APS_PASSED_AUTO],
              1);
    if (rc == MPI_SUCCESS)
        rc = aps_call_check(context, call, failures);
    if (rc == MPI_SUCCESS)
        rc = context->failed;
    return told ? rc : aps_call_raise(call, rc);
}

/* The call that this thread is in. */
static _Thread_local const struct aps_call *the_call;
static _Thread_local const struct aps_context *the_context;

/* Once a process, by some ranks of a large job: another rank may also be late. */
static void handle_tell_late(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const int rank = aps_job_rank();
    char count[48] = "";

    if (!aps_agree_rank_reports(rank) || atomic_flag_test_and_set(&told))
        return;
    if (!the_call->arguments.counts)
        snprintf(count, sizeof count, " of %lld element%s",
                 (long long)the_call->arguments.count,
                 aps_plural(the_call->arguments.count));
    aps_message(
        rank,
        "has waited for ten seconds in %s%s on %s for ranks that do not "
        "make this call yet, or make it with another count; a program "
        "must call it with the same count on all ranks",
        aps_call_function(the_call), count, the_context->label);
}

/* A call of a kind that no rule names goes to MPI beside what is queued, as calls do
 * that the library does not know. */
static bool handle_waits_for_queue(const struct aps_context *context,
                                   const struct aps_call *call)
{
    return context->queue &&
           aps_policy_names(context->job->policy,
                            call->arguments.collective->which);
}

static int handle_call(const struct aps_call *call)
{
    struct aps_step_position position;
    struct aps_context *context;
    enum aps_reason reason;
    int rc;

    aps_count(&aps_call_counters(call)->calls, 1);
    if (!call->arguments.collective->is_candidate(aps_job(), &call->arguments))
        return handle_pass_because(call, APS_PASSED_OTHER);
    if (aps_call_is_empty(&call->arguments))
        return aps_call_pass_because(call, APS_PASSED_SMALL);
    rc = aps_context_of(call->arguments.comm, &context);
    if (rc != MPI_SUCCESS) {
        aps_call_count_passed(call, APS_PASSED_RESOURCES);
        return rc;
    }
    if (!context)
        return aps_call_pass_because(call, APS_PASSED_RESOURCES);
    if (handle_waits_for_queue(context, call))
        aps_context_drain(context);
    if (!call->arguments.collective->place(context, call, &position, &reason))
        return handle_pass_because(call, reason);
    the_call = call;
    the_context = context;
    aps_wait_set_timeout(handle_tell_late);
    rc = handle_layers(context, call, &position);
    aps_wait_set_timeout(NULL);
    return rc;
}

int aps_call_run(const struct aps_call_arguments *arguments)
{
    struct aps_call call;

    if (aps_job()->foreign)
        return arguments->collective->pass(arguments);
    call = aps_call_enter(arguments);
    return handle_call(&call);
}
