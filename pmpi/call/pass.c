/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/pass.h"

#include "call/collective.h"
#include "comm/comm_queue.h"
#include "device/bounce.h"

/* True if the call needs a bounce buffer: a buffer is in GPU memory, MPI is not
 * CUDA-aware, and `comm` looks like a communicator handle. */
static bool pass_bounces(const struct aps_call *call)
{
    return aps_bounce_is_wanted_by(call->gpu) &&
           aps_abi_is_communicator(call->arguments.comm);
}

/* *bounced: the call for MPI. After an error the program's error handler has
 * been called, and pass_end_bounce must not follow. */
static int pass_begin_bounce(const struct aps_call *call,
                             struct aps_bounce *bounce,
                             struct aps_call_arguments *bounced)
{
    const bool gathers = aps_call_kind_of(call) == APS_CALL_ALLGATHER;
    MPI_Count sent, received;
    int rc;

    call->arguments.collective->count_elements(&call->arguments, &sent,
                                               &received);
    rc = aps_bounce_begin(
        bounce, aps_call_function(call), call->arguments.comm, call->gpu,
        call->arguments.send, sent,
        gathers ? call->arguments.send_type : call->arguments.type,
        call->arguments.receive, received, call->arguments.type);
    *bounced = call->arguments;
    bounced->send = bounce->send;
    bounced->receive = bounce->receive;
    return rc;
}

/* If the call is a part of the program's call, a failed copy is only counted,
 * since the other parts follow. */
static int pass_end_bounce(const struct aps_call *call,
                           struct aps_bounce *bounce, int rc)
{
    if (!call->part)
        return aps_bounce_end_call(bounce, rc);
    (void)aps_bounce_end(bounce, rc);
    return rc;
}

/* --- at once ------------------------------------------------------------- */

static int pass_now(const struct aps_call *call)
{
    struct aps_bounce bounce;
    struct aps_call_arguments bounced;
    int rc;

    if (!pass_bounces(call))
        return call->arguments.collective->pass(&call->arguments);
    rc = pass_begin_bounce(call, &bounce, &bounced);
    return rc == MPI_SUCCESS
               ? pass_end_bounce(call, &bounce,
                                 call->arguments.collective->pass(&bounced))
               : rc;
}

int aps_call_pass(const struct aps_call *call)
{
    bool helped;
    int rc;

    helped = aps_blocking_enter(call->arguments.comm);
    rc = pass_now(call);
    aps_blocking_leave(helped);
    return rc;
}

void aps_call_count_passed(const struct aps_call *call, enum aps_reason reason)
{
    if (reason == APS_PASSED_WATCHED)
        reason = APS_PASSED_UNRULED;
    aps_count(&aps_call_counters(call)->passed[reason], 1);
}

int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason)
{
    aps_call_count_passed(call, reason);
    return aps_call_pass(call);
}

/* Returns a call for `count` elements of an all-reduce. */
static struct aps_call pass_part_of(const struct aps_call *call, size_t offset,
                                    size_t count)
{
    struct aps_call part = *call;

    if (call->arguments.send != MPI_IN_PLACE)
        part.arguments.send =
            aps_element_at(call->element, call->arguments.send, offset);
    part.arguments.receive =
        aps_element_at(call->element, call->arguments.receive, offset);
    part.arguments.count = (MPI_Count)count;
    part.part = true;
    return part;
}

int aps_call_pass_part(const struct aps_call *call, size_t offset, size_t count)
{
    const struct aps_call part = pass_part_of(call, offset, count);

    return count > 0 ? aps_call_pass(&part) : MPI_SUCCESS;
}

/* --- nonblocking --------------------------------------------------------- */

int aps_call_pass_start(const struct aps_call *call, MPI_Request *request)
{
    struct aps_bounce bounce;
    struct aps_call_arguments bounced;
    MPI_Request inner;
    int rc;

    if (!pass_bounces(call) || !request || !aps_bounce_can_defer())
        return call->arguments.collective->start(&call->arguments, request);
    rc = pass_begin_bounce(call, &bounce, &bounced);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = call->arguments.collective->start(&bounced, &inner);
    if (rc != MPI_SUCCESS)
        return aps_bounce_end(&bounce, rc);
    rc = aps_bounce_defer(&bounce, &inner, request);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->arguments.comm, rc);
    return rc;
}

int aps_call_start_because(const struct aps_call *call, MPI_Request *request,
                           enum aps_reason reason)
{
    aps_call_count_passed(call, reason);
    return aps_call_pass_start(call, request);
}

void aps_call_start_part(const struct aps_call *call, size_t offset,
                         size_t count, MPI_Request *request, int *rc)
{
    const struct aps_call part = pass_part_of(call, offset, count);
    int started = aps_call_pass_start(&part, request);

    if (started != MPI_SUCCESS)
        *request = MPI_REQUEST_NULL;
    if (*rc == MPI_SUCCESS)
        *rc = started;
}
