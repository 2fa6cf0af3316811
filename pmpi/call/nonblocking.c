/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/nonblocking.h"

#include <mpi.h>
#include <stdlib.h>

#include "call/call.h"
#include "call/deferred.h"
#include "call/fuse.h"
#include "call/kind.h"
#include "call/pass.h"
#include "call/shadow.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "queue/progress_thread.h"

/* --- its turn has come --------------------------------------------------- */

static void nonblocking_run(struct aps_operation *operation)
{
    struct aps_deferred *this = operation->owner;

    if (this->context->failed == MPI_SUCCESS &&
        aps_policy_fuse(this->context->job->policy) > 0)
        aps_fuse_run(this);
    else
        aps_deferred_run(this);
}

bool aps_deferred_is(const struct aps_operation *operation)
{
    return operation->run == nonblocking_run;
}

/* --- the call is made ---------------------------------------------------- */

/* What becomes of the layers of a call. */
struct layers {
    long rewritten;
    int parts; /* runs of layers that pass */
    enum aps_reason reason;
};

/* A run of layers that pass, of *waiting elements, ends in front of element
 * `end`: count it, and start it unless `this` is NULL. */
static void nonblocking_end_run(const struct aps_call *call, size_t end,
                                size_t *waiting, struct layers *layers,
                                struct aps_deferred *this)
{
    if (*waiting == 0)
        return;
    if (this)
        aps_call_start_part(call, end - *waiting, *waiting,
                            &this->requests[layers->parts], &this->rc);
    layers->parts++;
    *waiting = 0;
}

/* Look at the call's layers; with `this`, start those that pass. */
static struct layers nonblocking_look(struct aps_context *context,
                                      const struct aps_call *call,
                                      const struct aps_step_position *position,
                                      struct aps_deferred *this)
{
    struct layers layers = {.reason = APS_PASSED_RULE};
    size_t offset = 0;
    size_t waiting = 0; /* elements before `offset` that pass */

    for (long i = 0; i < position->segments; i++) {
        struct aps_segment segment;

        aps_segment_plan(context, call, position, i, offset, &segment);
        if (segment.plan.rewrite) {
            nonblocking_end_run(call, offset, &waiting, &layers, this);
            layers.rewritten++;
        } else {
            waiting += segment.count;
            if (segment.plan.reduce == APS_REDUCE_AUTO)
                layers.reason = APS_PASSED_AUTO;
            if (segment.plan.shadow)
                layers.reason = APS_PASSED_SHADOW;
        }
        offset += segment.count;
    }
    nonblocking_end_run(call, offset, &waiting, &layers, this);
    return layers;
}

/* May the call go together with others (fuse.h)? */
static void nonblocking_see_whether_it_fuses(struct aps_deferred *this)
{
    struct aps_context *context = this->context;

    if (!this->call.arguments.collective->fuses ||
        aps_policy_fuse(context->job->policy) == 0 ||
        this->position.segments != 1)
        return;
    aps_segment_plan(context, &this->call, &this->position, 0, 0,
                     &this->segment);
    this->single = !aps_segment_is_sampled(context, &this->segment);
    this->segment.memory = aps_segment_memory(context, &this->call);
}

/* Makes an operation with room for the requests of `parts` parts, and the program's
 * request. Returns an MPI error code. */
static int nonblocking_create(bool threaded, struct aps_queue *queue, int parts,
                              struct aps_deferred **deferred,
                              MPI_Request *request)
{
    struct aps_deferred *this =
        calloc(1, sizeof *this + (size_t)parts * sizeof *this->requests);
    int rc = this ? aps_request_start(threaded, queue, &this->request, request)
                  : MPI_ERR_NO_MEM;

    if (rc == MPI_SUCCESS)
        *deferred = this;
    else
        free(this);
    return rc;
}

static int nonblocking_enqueue(struct aps_context *context,
                               const struct aps_call *call,
                               const struct aps_step_position *position,
                               int parts, MPI_Request *request)
{
    const bool threaded = aps_queue_has_thread(context->queue);
    struct aps_deferred *this = NULL;
    struct aps_call held = *call;
    int rc = call->arguments.collective->hold
                 ? call->arguments.collective->hold(&held.arguments)
                 : MPI_SUCCESS;

    if (rc == MPI_SUCCESS) {
        rc =
            nonblocking_create(threaded, context->queue, parts, &this, request);
        if (rc != MPI_SUCCESS && call->arguments.collective->release)
            call->arguments.collective->release(&held.arguments);
    }
    if (rc != MPI_SUCCESS) {
        (void)aps_context_fail(context, aps_call_function(call), rc);
        PMPI_Comm_call_errhandler(call->arguments.comm, rc);
        return rc;
    }
    this->operation =
        (struct aps_operation){.owner = this, .run = nonblocking_run};
    this->context = context;
    this->call = held;
    this->position = *position;
    this->parts = parts;
    nonblocking_see_whether_it_fuses(this);
    (void)nonblocking_look(context, call, position, this);
    aps_queue_push(context->queue, &this->operation);
    /* Its first messages leave now. */
    aps_queue_drive();
    aps_progress_thread_notice();
    return MPI_SUCCESS;
}

/* The call has ended with an error of this rank. Returns rc. */
static int nonblocking_fail(const struct aps_call *call, int rc)
{
    aps_call_count_passed(call, APS_PASSED_RESOURCES);
    return rc;
}

static int nonblocking_handle(const struct aps_call *call, MPI_Request *request)
{
    struct aps_step_position position;
    struct aps_context *context;
    enum aps_reason reason;
    struct layers layers;
    int rc;

    aps_count(&aps_call_counters(call)->calls, 1);
    if (!request ||
        !call->arguments.collective->is_candidate(aps_job(), &call->arguments))
        return aps_call_start_because(call, request, APS_PASSED_OTHER);
    if (aps_call_is_empty(&call->arguments))
        return aps_call_start_because(call, request, APS_PASSED_SMALL);
    rc = aps_context_find_local(call->arguments.comm, &context);
    if (rc != MPI_SUCCESS)
        return nonblocking_fail(call, rc);
    if (!context)
        return aps_call_start_because(
            call, request, aps_context_why_none(call->arguments.comm));
    if (!call->arguments.collective->place(context, call, &position, &reason))
        return aps_call_start_because(call, request, reason);
    /* The ranks agree that there are no tags only as long as there is no queue, which
     * finds out at different times; its thread may write it now. */
    if (!context->queue && context->resources_state == APS_RESOURCES_FAILED &&
        context->failed == MPI_SUCCESS)
        return aps_call_start_because(call, request, APS_PASSED_RESOURCES);
    rc = aps_shadow_start(context, call, &position);
    if (rc != MPI_SUCCESS)
        return nonblocking_fail(call, rc);
    layers = nonblocking_look(context, call, &position, NULL);
    if (layers.rewritten == 0)
        return aps_call_start_because(call, request, layers.reason);
    if (context->failed != MPI_SUCCESS) {
        rc = context->failed;
        PMPI_Comm_call_errhandler(call->arguments.comm, rc);
    } else if (!context->queue) {
        rc = aps_context_make_queue(context, call->arguments.comm);
    }
    if (rc == MPI_SUCCESS)
        rc = nonblocking_enqueue(context, call, &position, layers.parts,
                                 request);
    return rc == MPI_SUCCESS ? rc : nonblocking_fail(call, rc);
}

int aps_call_start(const struct aps_call_arguments *arguments,
                   MPI_Request *request)
{
    struct aps_call call;

    if (aps_job()->foreign)
        return arguments->collective->start(arguments, request);
    call = aps_call_enter(arguments);
    return nonblocking_handle(&call, request);
}
