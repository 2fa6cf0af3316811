/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/pass.h"

#include <stdlib.h>
#include <string.h>

#include "call/blocking.h"
#include "call/kind.h"
#include "device/bounce.h"
#include "native/next_mpi.h"
#include "progress/agree.h"
#include "progress/messages.h"
#include "progress/queue.h"

/* Needs the call a bounce buffer? */
static bool pass_bounces(const struct aps_call *call)
{
    return aps_bounce_is_wanted_by(call->gpu) &&
           aps_abi_is_communicator(call->comm);
}

/* *bounced is the call for MPI. After an error, of which the error handler
 * knows, there is nothing to end. */
static int pass_begin_bounce(const struct aps_call *call,
                             struct aps_bounce *bounce,
                             struct aps_call *bounced)
{
    const bool gathers = call->kind->which == APS_CALL_ALLGATHER;
    MPI_Count sent, received;
    int rc;

    call->kind->count_elements(call, &sent, &received);
    rc = aps_bounce_begin(bounce, call->kind->name,
                          (aps_handle)(aps_call_is_deferred(call)
                                           ? call->inside->comm
                                           : call->comm),
                          call->gpu, call->send, sent,
                          (aps_handle)(gathers ? call->send_type : call->type),
                          call->receive, received, (aps_handle)call->type);
    *bounced = *call;
    bounced->send = bounce->send;
    bounced->receive = bounce->receive;
    return rc;
}

/* The error handler of the program is no matter of a part of a call, nor of a
 * deferred one. */
static int pass_end_bounce(const struct aps_call *call,
                           struct aps_bounce *bounce, int rc)
{
    if (!call->part && !aps_call_is_deferred(call))
        return aps_bounce_end_call(bounce, rc);
    if (!call->part)
        return aps_bounce_end(bounce, rc);
    (void)aps_bounce_end(bounce, rc);
    return rc;
}

/* --- deferred ------------------------------------------------------------ */

/* COLLECTIVE. In rank order, on rank 0, and from there to all. */
static int call_sum_inside(const void *send, void *receive, int count,
                           const struct aps_vcomm *inside)
{
    const size_t bytes = (size_t)count * sizeof(float);
    float *sum = receive, *theirs = inside->rank == 0 ? malloc(bytes) : NULL;
    struct aps_messages messages;
    int rc;

    if ((inside->rank == 0 && !theirs) ||
        aps_messages_init(&messages, inside, 1) < 0)
        return MPI_ERR_NO_MEM;
    if (send != MPI_IN_PLACE)
        memcpy(receive, send, bytes);
    if (inside->rank != 0)
        aps_messages_send(&messages, receive, bytes, 0, APS_TAG_CONTRIBUTION);
    rc = aps_messages_wait(&messages);
    for (int i = 1; i < inside->size && inside->rank == 0; i++) {
        aps_messages_receive(&messages, theirs, bytes, i, APS_TAG_CONTRIBUTION);
        rc = aps_messages_wait(&messages);
        for (int k = 0; k < count; k++)
            sum[k] += theirs[k];
    }
    aps_messages_clear(&messages);
    free(theirs);
    return rc == MPI_SUCCESS ? aps_agree_bytes(inside, 0, receive, bytes) : rc;
}

/* At most 2^30 elements. */
static int pass_sum_inside(const struct aps_call *call, size_t offset,
                           int count)
{
    return call_sum_inside(
        call->send == MPI_IN_PLACE ? MPI_IN_PLACE
                                   : (const float *)call->send + offset,
        (float *)call->receive + offset, count, call->inside);
}

static int pass_all_inside(const struct aps_call *call)
{
    const size_t most = (size_t)1 << 30;
    int rc = MPI_SUCCESS;

    /* On to the end, whatever happens here: the other ranks go there. */
    for (size_t offset = 0, count = (size_t)call->count; offset < count;
         offset += most) {
        int part = pass_sum_inside(
            call, offset, (int)(count - offset < most ? count - offset : most));

        rc = rc == MPI_SUCCESS ? part : rc;
    }
    return rc;
}

static int pass_deferred(const struct aps_call *call)
{
    struct aps_bounce bounce;
    struct aps_call bounced;
    int rc;

    /* An MPI that takes GPUs' memory may not in this thread, of ours. */
    if (!call->gpu.send && !call->gpu.receive)
        return pass_all_inside(call);
    rc = pass_begin_bounce(call, &bounce, &bounced);
    return rc == MPI_SUCCESS
               ? pass_end_bounce(call, &bounce, pass_all_inside(&bounced))
               : rc;
}

/* --- at once ------------------------------------------------------------- */

static int pass_now(const struct aps_call *call)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    struct aps_bounce bounce;
    struct aps_call bounced;
    int rc;

    if (!pass_bounces(call))
        return call->kind->pass(next, call);
    rc = pass_begin_bounce(call, &bounce, &bounced);
    return rc == MPI_SUCCESS ? pass_end_bounce(call, &bounce,
                                               call->kind->pass(next, &bounced))
                             : rc;
}

int aps_call_pass(const struct aps_call *call)
{
    bool helped;
    int rc;

    if (aps_call_is_deferred(call))
        return pass_deferred(call);
    helped = aps_blocking_enter((aps_handle)call->comm);
    rc = pass_now(call);
    aps_blocking_leave(helped);
    return rc;
}

static void pass_count(const struct aps_call *call, enum aps_reason reason)
{
    if (reason != APS_PASSED_UNCOUNTED)
        aps_count(&aps_call_counters(call)->passed[reason], 1);
}

int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason)
{
    pass_count(call, reason);
    return aps_call_pass(call);
}

int aps_call_pass_part(const struct aps_call *call, size_t offset, size_t count)
{
    struct aps_call part = *call;

    if (count == 0)
        return MPI_SUCCESS;
    if (call->send != MPI_IN_PLACE)
        part.send = (const float *)call->send + offset;
    part.receive = (float *)call->receive + offset;
    part.count = (MPI_Count)count;
    part.part = true;
    return aps_call_pass(&part);
}

/* --- nonblocking --------------------------------------------------------- */

static int pass_start(const struct aps_call *call, MPI_Request *request)
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

int aps_call_start(const struct aps_call *call, MPI_Request *request)
{
    struct aps_bounce bounce;
    struct aps_call bounced;
    MPI_Request inner;
    int rc;

    if (!pass_bounces(call) || !request || !aps_bounce_can_defer())
        return pass_start(call, request);
    rc = pass_begin_bounce(call, &bounce, &bounced);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = pass_start(&bounced, &inner);
    if (rc != MPI_SUCCESS)
        return aps_bounce_end(&bounce, rc);
    return aps_call_raise(call, aps_bounce_defer(&bounce, &inner, request));
}

int aps_call_start_because(const struct aps_call *call, MPI_Request *request,
                           enum aps_reason reason)
{
    pass_count(call, reason);
    return aps_call_start(call, request);
}
