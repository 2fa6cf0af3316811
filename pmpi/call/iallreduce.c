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
#include "call/kind.h"
#include "call/pass.h"
#include "progress/progress_thread.h"

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
    int rc;

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
    if (aps_allreduce_place(context, &this->call, &this->position,
                            &this->reason))
        rc = aps_call_run(context, &this->call, &this->position);
    else
        rc = aps_call_pass_because(&this->call, this->reason);
    aps_deferred_complete(this, rc);
}

bool aps_deferred_is(const struct aps_operation *operation)
{
    return operation->run == iallreduce_run;
}

static int iallreduce_enqueue(struct aps_context *context,
                              const struct aps_call *call, MPI_Request *request)
{
    struct aps_deferred *this = calloc(1, sizeof *this);
    int rc = this ? aps_request_start(aps_queue_has_thread(context->queue),
                                      &this->request, request)
                  : MPI_ERR_NO_MEM;

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
    if (!request || !call->kind->is_candidate(aps_job(), call))
        return aps_call_start_because(call, request, APS_PASSED_OTHER);
    aps_pcontrol_note_call(aps_job(), (size_t)call->count);
    rc = aps_context_find_local(call->comm, &context);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!context)
        return aps_call_start_because(call, request, APS_PASSED_COMM);
    /* That resources failed is the same on all ranks only as long as there is no
     * queue, which finds out at different times. */
    if (context->state == APS_CONTEXT_PASS ||
        (context->resources_state == APS_RESOURCES_FAILED && !context->queue))
        return aps_call_start_because(call, request, APS_PASSED_COMM);
    if ((unsigned long long)call->count < context->min_count)
        return aps_call_start_because(call, request, APS_PASSED_SMALL);
    if (context->state == APS_CONTEXT_DISCOVER) {
        aps_allreduce_discover(context, call);
        return aps_call_start(call, request);
    }
    if (!context->queue)
        rc = aps_context_make_queue(context, call->comm);
    return rc == MPI_SUCCESS ? iallreduce_enqueue(context, call, request) : rc;
}

int aps_iallreduce(const void *send, void *receive, int64_t count, bool large,
                   aps_handle type, aps_handle op, aps_handle comm,
                   void *request)
{
    struct aps_call call = {
        .kind = &aps_kind_allreduce,
        .send = send,
        .receive = receive,
        .count = count,
        .large = large,
        .type = (MPI_Datatype)type,
        .op = (MPI_Op)op,
        .comm = (MPI_Comm)comm,
    };

    aps_call_enter(&call);
    return iallreduce_handle(&call, request);
}
