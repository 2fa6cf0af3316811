/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/call.h"

#include <stdlib.h>
#include <string.h>

#include "call/blocking.h"
#include "device/gpu_driver.h"
#include "native/next_mpi.h"
#include "progress/queue.h"
#include "device/bounce.h"
#include "progress/agree.h"
#include "progress/messages.h"

static const char *call_name_of(const struct aps_call *call)
{
    if (aps_call_is_deferred(call))
        return "MPI_Iallreduce";
    return call->large ? "MPI_Allreduce_c" : "MPI_Allreduce";
}

/* The program's error handler is who completes a deferred call's business. */
static int call_end_bounce(const struct aps_call *call,
                           struct aps_bounce *bounce, int rc)
{
    if (!call->part && !aps_call_is_deferred(call))
        return aps_bounce_end_call(bounce, rc);
    if (!call->part)
        return aps_bounce_end(bounce, rc);
    (void)aps_bounce_end(bounce, rc);
    return rc;
}

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

/* One of at most 2^30 elements. */
static int call_pass_inside(const struct aps_call *call, size_t offset,
                            int count)
{
    const void *send = call->send == MPI_IN_PLACE
                           ? MPI_IN_PLACE
                           : (const float *)call->send + offset;
    float *receive = (float *)call->receive + offset;
    struct aps_bounce bounce;
    int rc;

    /* An MPI that takes GPUs' memory may not in this thread, of ours. */
    if (!aps_gpu_driver_owns(send) && !aps_gpu_driver_owns(receive))
        return call_sum_inside(send, receive, count, call->inside);
    rc = aps_bounce_begin(
        &bounce, call_name_of(call), (aps_handle)call->inside->comm, send,
        count, (aps_handle)MPI_FLOAT, receive, count, (aps_handle)MPI_FLOAT);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = call_sum_inside(bounce.send, bounce.receive, count, call->inside);
    return call_end_bounce(call, &bounce, rc);
}

static int call_pass_deferred(const struct aps_call *call)
{
    const size_t most = (size_t)1 << 30;
    int rc = MPI_SUCCESS;

    /* On to the end, whatever happens here: the other ranks go there. */
    for (size_t offset = 0, count = (size_t)call->count; offset < count;
         offset += most) {
        int part = call_pass_inside(
            call, offset, (int)(count - offset < most ? count - offset : most));

        rc = rc == MPI_SUCCESS ? part : rc;
    }
    return rc;
}

static int call_pass_as_it_is(const struct aps_call *call)
{
    return aps_next_mpi_allreduce(
        aps_next_mpi(), call->large, call->send, call->receive, call->count,
        (aps_handle)call->type, (aps_handle)call->op, (aps_handle)call->comm);
}

static int call_pass_on(const struct aps_call *call)
{
    struct aps_call part = *call;
    struct aps_bounce bounce;
    int rc;

    if (!aps_bounce_is_wanted(call->send, call->receive))
        return call_pass_as_it_is(call);
    rc = aps_bounce_begin(&bounce, call_name_of(call), (aps_handle)call->comm,
                          call->send, call->count, (aps_handle)call->type,
                          call->receive, call->count, (aps_handle)call->type);
    if (rc != MPI_SUCCESS)
        return rc;
    part.send = bounce.send;
    part.receive = bounce.receive;
    return call_end_bounce(call, &bounce, call_pass_as_it_is(&part));
}

int aps_call_pass(const struct aps_call *call)
{
    bool helped;
    int rc;

    if (aps_call_is_deferred(call))
        return call_pass_deferred(call);
    helped = aps_blocking_enter((aps_handle)call->comm);
    rc = call_pass_on(call);
    aps_blocking_leave(helped);
    return rc;
}

int aps_call_pass_because(const struct aps_call *call, enum aps_reason reason)
{
    if (reason != APS_PASSED_UNCOUNTED)
        aps_count(&aps_counters.passed[reason], 1);
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

int aps_call_raise(const struct aps_call *call, int rc)
{
    if (rc != MPI_SUCCESS && !aps_call_is_deferred(call))
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}
