/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call.h"

#include "blocking.h"
#include "library.h"
#include "queue.h"
#include "wait.h"

/* One of at most 2^30 elements. */
static int pass_inside(const struct aps_call *call, size_t offset, int count)
{
    const float *send = call->send;
    MPI_Request request;
    int rc = PMPI_Iallreduce(call->send == MPI_IN_PLACE ? MPI_IN_PLACE
                                                        : send + offset,
                             (float *)call->receive + offset, count, MPI_FLOAT,
                             MPI_SUM, call->inside, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

static int pass_deferred(const struct aps_call *call)
{
    const size_t most = (size_t)1 << 30;
    int rc = MPI_SUCCESS;

    for (size_t offset = 0, count = (size_t)call->count;
         offset < count && rc == MPI_SUCCESS; offset += most)
        rc = pass_inside(call, offset,
                         (int)(count - offset < most ? count - offset : most));
    return rc;
}

static int pass_on(const struct aps_call *call)
{
    const struct aps_library *next = aps_library();

    if (call->large)
        return next->allreduce_c(call->send, call->receive, call->count,
                                 (aps_handle)call->type, (aps_handle)call->op,
                                 (aps_handle)call->comm);
    return next->allreduce(call->send, call->receive, (int)call->count,
                           (aps_handle)call->type, (aps_handle)call->op,
                           (aps_handle)call->comm);
}

int aps_call_pass(const struct aps_call *call)
{
    bool helped;
    int rc;

    if (aps_call_is_deferred(call))
        return pass_deferred(call);
    if (!aps_queue_pending())
        return pass_on(call);
    helped = aps_blocking_enter((aps_handle)call->comm);
    rc = pass_on(call);
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
    return aps_call_pass(&part);
}

int aps_call_raise(const struct aps_call *call, int rc)
{
    if (rc != MPI_SUCCESS && !aps_call_is_deferred(call))
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}
