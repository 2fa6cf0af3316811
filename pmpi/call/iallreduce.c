/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce: a nonblocking call may not wait, not even for the agreement
 * on whether it is to be rewritten. So what may be eligible is queued, on all
 * ranks alike, and planned when its turn comes; if it is to pass then, it does
 * so on the internal communicator.
 */
#include "config.h"

#include "call/iallreduce.h"

#include <mpi.h>
#include <stdlib.h>

#include "call/allreduce.h"
#include "call/call.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "call/deferred.h"
#include "call/fuse.h"
#include "progress/progress_thread.h"
#include "device/bounce.h"

static int iallreduce_pass_as_it_is(const struct aps_call *call, void *request)
{
    const struct aps_next_mpi *next = aps_next_mpi();

    if (call->large)
        return next->iallreduce_c(call->send, call->receive, call->count,
                                  (aps_handle)call->type, (aps_handle)call->op,
                                  (aps_handle)call->comm, request);
    return next->iallreduce(call->send, call->receive, (int)call->count,
                            (aps_handle)call->type, (aps_handle)call->op,
                            (aps_handle)call->comm, request);
}

static int iallreduce_pass(const struct aps_call *call, void *request)
{
    struct aps_call instead = *call;
    struct aps_bounce bounce;
    MPI_Request inner;
    int rc;

    if (!aps_bounce_is_wanted(call->send, call->receive) || !request ||
        !aps_bounce_can_defer())
        return iallreduce_pass_as_it_is(call, request);
    rc = aps_bounce_begin(
        &bounce, call->large ? "MPI_Iallreduce_c" : "MPI_Iallreduce",
        (aps_handle)call->comm, call->send, call->count, (aps_handle)call->type,
        call->receive, call->count, (aps_handle)call->type);
    if (rc != MPI_SUCCESS)
        return rc;
    instead.send = bounce.send;
    instead.receive = bounce.receive;
    rc = iallreduce_pass_as_it_is(&instead, &inner);
    if (rc != MPI_SUCCESS)
        return aps_bounce_end(&bounce, rc);
    return aps_call_raise(call, aps_bounce_defer(&bounce, &inner, request));
}

static int iallreduce_pass_because(const struct aps_call *call, void *request,
                                   enum aps_reason reason)
{
    aps_count(&aps_counters.passed[reason], 1);
    return iallreduce_pass(call, request);
}

void aps_deferred_complete(struct aps_deferred *deferred, int rc)
{
    aps_request_complete(deferred->request, rc);
    free(deferred);
}

/* COLLECTIVE over the communicator. Its turn has come. */
static void iallreduce_run(struct aps_operation *operation)
{
    struct aps_deferred *this = operation->owner;
    struct aps_context *context = this->context;

    if (context->broken != MPI_SUCCESS) {
        aps_deferred_complete(this, context->broken);
        return;
    }
    if (context->state == APS_CONTEXT_ACTIVE &&
        aps_policy_fuse(context->job->policy) > 0) {
        aps_fuse_run(this);
        return;
    }
    this->call.inside = aps_comm_resources_vcomm(context->resources);
    aps_deferred_complete(this, aps_allreduce_plan(context, &this->call));
}

bool aps_deferred_is(const struct aps_operation *operation)
{
    return operation->run == iallreduce_run;
}

static int iallreduce_enqueue(struct aps_context *context,
                              const struct aps_call *call, MPI_Request *request)
{
    struct aps_deferred *this = calloc(1, sizeof *this);
    int rc = this ? aps_request_start(&this->request, request) : MPI_ERR_NO_MEM;

    if (rc != MPI_SUCCESS) {
        free(this);
        return aps_call_raise(call, rc);
    }
    this->operation =
        (struct aps_operation){.owner = this, .run = iallreduce_run};
    this->context = context;
    this->call = *call;
    aps_queue_push(context->queue, &this->operation);
    /* Its first messages leave now. */
    aps_queue_drive();
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}

static int iallreduce_handle(const struct aps_call *call, MPI_Request *request)
{
    struct aps_context *context;
    int rc;

    aps_count(&aps_counters.calls, 1);
    if (!request || !aps_call_is_candidate(aps_job(), call))
        return iallreduce_pass_because(call, request, APS_PASSED_OTHER);
    aps_pcontrol_note_call(aps_job(), (size_t)call->count);
    rc = aps_context_find_local(call->comm, &context);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!context)
        return iallreduce_pass_because(call, request, APS_PASSED_COMM);
    /* That resources failed is the same on all ranks only as long as there is no
     * queue, which finds out at different times. */
    if (context->state == APS_CONTEXT_PASS ||
        (context->resources_state == APS_RESOURCES_FAILED && !context->queue))
        return iallreduce_pass_because(call, request, APS_PASSED_COMM);
    if ((unsigned long long)call->count < context->min_count)
        return iallreduce_pass_because(call, request, APS_PASSED_SMALL);
    if (context->state == APS_CONTEXT_DISCOVER) {
        aps_allreduce_discover(context, call);
        return iallreduce_pass(call, request);
    }
    if (!context->queue)
        rc = aps_context_make_queue(context, call->comm);
    return rc == MPI_SUCCESS ? iallreduce_enqueue(context, call, request) : rc;
}

int aps_iallreduce(const void *send, void *receive, int64_t count, bool large,
                   aps_handle type, aps_handle op, aps_handle comm,
                   void *request)
{
    const struct aps_call call = {
        .send = send,
        .receive = receive,
        .count = count,
        .large = large,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
        .control = aps_pcontrol_now(),
    };

    return iallreduce_handle(&call, request);
}
