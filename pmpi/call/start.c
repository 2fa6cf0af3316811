/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/start.h"

#include <stdlib.h>
#include <string.h>

#include "call/collective.h"
#include "call/fuse.h"
#include "call/pass.h"
#include "call/plan.h"
#include "call/run.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "queue/progress_thread.h"
#include "trial/trial.h"

/* --- run of a queued call ------------------------------------------------ */

static void start_take_turn(struct aps_operation *operation)
{
    struct aps_call *call = operation->owner;

    if (call->context->failed == MPI_SUCCESS &&
        call->context->resources_state == APS_RESOURCES_READY &&
        aps_policy_fuse(call->context->job->policy) > 0)
        aps_fuse_run(call);
    else
        aps_call_finish(call);
}

/* --- start --------------------------------------------------------------- */

/* Returns the number of runs of layers that go to MPI. */
static int start_count_parts(const struct aps_call *call)
{
    int parts = 0;

    for (long i = 0; i < call->count; i++)
        parts += call->layers[i].way == APS_WAY_MPI &&
                 (i == 0 || call->layers[i - 1].way != APS_WAY_MPI);
    return parts;
}

/* Local. Starts the runs of layers that go to MPI. */
static void start_parts(struct aps_call *call)
{
    size_t offset = 0,
           waiting = 0; /* elements before `offset` that go to MPI */
    int part = 0;

    for (long i = 0; i <= call->count; i++) {
        if (i < call->count && call->layers[i].way == APS_WAY_MPI) {
            waiting += call->layers[i].count;
        } else if (waiting > 0) {
            aps_call_start_part(call, offset - waiting, waiting,
                                &call->passing[part++], &call->passing_rc);
            waiting = 0;
        }
        if (i < call->count)
            offset += call->layers[i].count;
    }
}

/* Copies a call with its layers into one allocation, with room for its requests.
 * Returns an MPI error code. */
static int start_keep(const struct aps_call *call, MPI_Request *request,
                      struct aps_call **kept)
{
    const struct aps_collective *collective = call->arguments.collective;
    struct aps_queue *queue = call->context->queue;
    const size_t layers = (size_t)call->count * sizeof *call->layers;
    const int parts = start_count_parts(call);
    struct aps_call *this =
        malloc(sizeof *this + layers + (size_t)parts * sizeof *this->passing);
    int rc = MPI_ERR_NO_MEM;

    if (!this)
        return rc;
    *this = *call;
    this->layers = (struct aps_layer *)(this + 1);
    memcpy(this->layers, call->layers, layers);
    this->parts = parts;
    this->passing = (MPI_Request *)(this->layers + call->count);
    rc = collective->hold ? collective->hold(&this->arguments) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS) {
        rc = aps_request_start(aps_queue_has_thread(queue), queue,
                               &this->request, request);
        if (rc != MPI_SUCCESS && collective->release)
            collective->release(&this->arguments);
    }
    if (rc == MPI_SUCCESS)
        *kept = this;
    else
        free(this);
    return rc;
}

static int start_enqueue(const struct aps_call *call, MPI_Request *request)
{
    struct aps_call *kept;
    const int rc = start_keep(call, request, &kept);

    if (rc != MPI_SUCCESS)
        return aps_context_fail(call->context, aps_call_function(call), rc);
    kept->operation =
        (struct aps_operation){.owner = kept, .run = start_take_turn};
    start_parts(kept);
    aps_queue_push(kept->context->queue, &kept->operation);
    /* Send its first messages now. */
    aps_queue_drive();
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}

/* Local, but counts as a nonblocking collective call on the call's communicator.
 * Makes the queue if there is none. False after an error. */
static bool start_has_queue(struct aps_call *call)
{
    if (call->rc == MPI_SUCCESS) {
        call->rc = aps_context_make_queue(call->context, call->arguments.comm);
        call->handler_called = call->rc != MPI_SUCCESS;
    }
    return call->rc == MPI_SUCCESS;
}

/* Queues the inputs of layers that MPI gets, if they may be due to be measured. */
static void start_trials(struct aps_call *call)
{
    struct aps_context *context = call->context;

    if (context->failed != MPI_SUCCESS)
        return;
    for (long i = 0; i < call->count; i++) {
        const struct aps_layer *layer = &call->layers[i];

        if (aps_trial_may_be_due(context, layer) && start_has_queue(call))
            call->rc = aps_trial_push(context, aps_call_function(call), layer);
    }
}

/* Queues a call that the library carries out, in whole or in part. */
static void start_queued(struct aps_call *call, MPI_Request *request)
{
    aps_call_note(call, call->context->failed);
    if (start_has_queue(call))
        call->rc = start_enqueue(call, request);
}

static bool start_reduces(const struct aps_call *call)
{
    for (long i = 0; i < call->count; i++)
        if (call->layers[i].way == APS_WAY_REDUCE)
            return true;
    return false;
}

int aps_call_start(const struct aps_call_arguments *arguments,
                   MPI_Request *request)
{
    struct aps_call call;

    if (aps_job()->foreign)
        return arguments->collective->start(arguments, request);
    call = aps_call_of(arguments);
    if (!request) {
        aps_count(&aps_call_counters(&call)->calls, 1);
        return aps_call_start_because(&call, request, APS_PASSED_OTHER);
    }
    if (aps_call_identify(&call) && aps_call_plan(&call))
        start_trials(&call);
    /* A call that was not identified has no layers. */
    if (call.rc == MPI_SUCCESS && !start_reduces(&call))
        return aps_call_start_because(&call, request, call.reason);
    if (call.rc == MPI_SUCCESS)
        start_queued(&call, request);
    if (call.rc == MPI_SUCCESS)
        return MPI_SUCCESS;
    *request = MPI_REQUEST_NULL; /* the program may wait for it all the same */
    aps_call_count_passed(&call, APS_PASSED_RESOURCES);
    return aps_call_complete(&call);
}
