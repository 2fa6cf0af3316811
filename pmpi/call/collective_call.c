/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/collective_call.h"

#include <stdint.h>

#include "call/blocking.h"
#include "call/call.h"
#include "native/next_mpi.h"
#include "progress/queue.h"
#include "call/signature.h"
#include "device/bounce.h"

static int
collective_pass_reduce_scatter(const struct aps_collective_call *call)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    const aps_handle type = (aps_handle)call->type;
    const aps_handle op = (aps_handle)call->op;
    const aps_handle comm = (aps_handle)call->comm;

    if (call->listed && call->large)
        return next->reduce_scatter_c(call->send, call->receive, call->counts,
                                      type, op, comm);
    if (call->listed)
        return next->reduce_scatter(call->send, call->receive, call->counts,
                                    type, op, comm);
    if (call->large)
        return next->reduce_scatter_block_c(call->send, call->receive,
                                            call->count, type, op, comm);
    return next->reduce_scatter_block(call->send, call->receive,
                                      (int)call->count, type, op, comm);
}

static int collective_pass_allgather(const struct aps_collective_call *call)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    const aps_handle send_type = (aps_handle)call->send_type;
    const aps_handle type = (aps_handle)call->type;
    const aps_handle comm = (aps_handle)call->comm;

    if (call->large)
        return next->allgather_c(call->send, call->send_count, send_type,
                                 call->receive, call->count, type, comm);
    return next->allgather(call->send, (int)call->send_count, send_type,
                           call->receive, (int)call->count, type, comm);
}

static int collective_pass_reduce(const struct aps_collective_call *call)
{
    const struct aps_next_mpi *next = aps_next_mpi();
    const aps_handle type = (aps_handle)call->type;
    const aps_handle op = (aps_handle)call->op;
    const aps_handle comm = (aps_handle)call->comm;

    if (call->large)
        return next->reduce_c(call->send, call->receive, call->count, type, op,
                              call->root, comm);
    return next->reduce(call->send, call->receive, (int)call->count, type, op,
                        call->root, comm);
}

static int collective_pass_as_it_is(const struct aps_collective_call *call)
{
    switch (call->kind) {
    case APS_CALL_REDUCE_SCATTER:
        return collective_pass_reduce_scatter(call);
    case APS_CALL_ALLGATHER:
        return collective_pass_allgather(call);
    default:
        return collective_pass_reduce(call);
    }
}

/* --- with buffers in a GPU's memory ------------------------------------- */

static const char *collective_name_of(const struct aps_collective_call *call)
{
    switch (call->kind) {
    case APS_CALL_REDUCE_SCATTER:
        return call->listed ? "MPI_Reduce_scatter" : "MPI_Reduce_scatter_block";
    case APS_CALL_ALLGATHER:
        return "MPI_Allgather";
    default:
        return "MPI_Reduce";
    }
}

/* How many elements of its buffers the call reads and writes. */
static void collective_count_elements(const struct aps_collective_call *call,
                                      MPI_Count *sent, MPI_Count *received)
{
    const bool in_place = call->send == MPI_IN_PLACE;
    int rank, size, others, inter = 0;

    PMPI_Comm_rank(call->comm, &rank);
    PMPI_Comm_size(call->comm, &size);
    others = size;
    PMPI_Comm_test_inter(call->comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(call->comm, &others);
    switch (call->kind) {
    case APS_CALL_REDUCE_SCATTER:
        *sent = 0;
        for (int i = 0; i < size; i++)
            *sent += aps_collective_call_share(call, i);
        *received = in_place ? *sent : aps_collective_call_share(call, rank);
        break;
    case APS_CALL_ALLGATHER:
        *sent = call->send_count;
        *received = others * call->count;
        break;
    default:
        *received = call->root == (inter ? MPI_ROOT : rank) ? call->count : 0;
        *sent =
            call->root == (inter ? MPI_ROOT : MPI_PROC_NULL) ? 0 : call->count;
        break;
    }
}

static int collective_pass_on(const struct aps_collective_call *call)
{
    const bool gathers = call->kind == APS_CALL_ALLGATHER;
    struct aps_collective_call instead = *call;
    struct aps_bounce bounce;
    MPI_Count sent, received;
    int rc;

    if (!aps_bounce_is_wanted(call->send, call->receive) ||
        !aps_abi_is_communicator(call->comm) || (call->listed && !call->counts))
        return collective_pass_as_it_is(call);
    collective_count_elements(call, &sent, &received);
    rc = aps_bounce_begin(&bounce, collective_name_of(call),
                          (aps_handle)call->comm, call->send, sent,
                          (aps_handle)(gathers ? call->send_type : call->type),
                          call->receive, received, (aps_handle)call->type);
    instead.send = bounce.send;
    instead.receive = bounce.receive;
    if (rc == MPI_SUCCESS)
        rc = collective_pass_as_it_is(&instead);
    return aps_bounce_end_call(&bounce, rc);
}

int aps_collective_call_pass(const struct aps_collective_call *call)
{
    bool helped;
    int rc;

    helped = aps_blocking_enter((aps_handle)call->comm);
    rc = collective_pass_on(call);
    aps_blocking_leave(helped);
    return rc;
}

int aps_collective_call_pass_because(const struct aps_collective_call *call,
                                     enum aps_reason reason)
{
    aps_count(&aps_other_counters[call->kind].passed[reason], 1);
    return aps_collective_call_pass(call);
}

/* A rank of an intracommunicator. */
static bool collective_is_root(int root, MPI_Comm comm)
{
    int size;

    return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && root >= 0 &&
           root < size;
}

bool aps_collective_call_is_candidate(const struct aps_job *job,
                                      const struct aps_collective_call *call)
{
    if (!aps_abi_is_communicator(call->comm))
        return false;
    if (call->kind == APS_CALL_ALLGATHER)
        return call->count > 0 && aps_signature_floats(job, call->type) > 0;
    if (!aps_call_is_float(job, call->type) || call->op != MPI_SUM)
        return false;
    if (call->listed)
        return call->counts != NULL;
    /* One buffer for both, or a root that is none, is an error, of one rank
     * perhaps. */
    if (call->kind == APS_CALL_REDUCE)
        return call->count > 0 && collective_is_root(call->root, call->comm);
    return call->count > 0 && call->send != call->receive;
}

/* --- what it moves ------------------------------------------------------- */

/* a * b elements of FP32, if that many bytes can be. */
static bool collective_elements(MPI_Count a, MPI_Count b, size_t *product)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, product) &&
           *product <= PTRDIFF_MAX / sizeof(float);
}

MPI_Count aps_collective_call_share(const struct aps_collective_call *call,
                                    int i)
{
    if (!call->listed)
        return call->count;
    return call->large ? ((const MPI_Count *)call->counts)[i]
                       : ((const int *)call->counts)[i];
}

/* A share may be empty, and then there need be no room for it. */
static bool
collective_measure_reduce_scatter(const struct aps_context *context,
                                  const struct aps_collective_call *call,
                                  struct aps_volume *volume)
{
    const MPI_Count own = aps_collective_call_share(call, context->rank);
    size_t count = 0;

    for (int i = 0; i < context->size; i++) {
        const MPI_Count share = aps_collective_call_share(call, i);

        if (share < 0 || __builtin_add_overflow(count, share, &count) ||
            count > PTRDIFF_MAX / sizeof(float))
            return false;
    }
    if (count == 0)
        return false;
    *volume = (struct aps_volume){
        .count = count,
        .own = (size_t)own,
        .good = true,
        .in = call->send == MPI_IN_PLACE ? call->receive : call->send,
        .out = call->receive,
    };
    if (call->send == MPI_IN_PLACE)
        return call->receive && call->receive != MPI_IN_PLACE;
    return call->send && call->send != call->receive &&
           call->receive != MPI_IN_PLACE && (own == 0 || call->receive);
}

static bool collective_measure_reduce(const struct aps_context *context,
                                      const struct aps_collective_call *call,
                                      struct aps_volume *volume)
{
    const bool root = context->rank == call->root;
    const bool in_place = root && call->send == MPI_IN_PLACE;

    if (call->root < 0 || call->root >= context->size ||
        !collective_elements(call->count, 1, &volume->count))
        return false;
    volume->own = root ? volume->count : 0;
    volume->good = true;
    volume->in = in_place ? call->receive : call->send;
    volume->out = root ? call->receive : NULL;
    if (!root)
        return call->send && call->send != MPI_IN_PLACE;
    return call->send && call->receive && call->receive != MPI_IN_PLACE &&
           call->send != call->receive;
}

/* Here a rank with a type or an argument that is not for us says so to the
 * others (`good`). */
static bool collective_measure_allgather(const struct aps_context *context,
                                         const struct aps_collective_call *call,
                                         struct aps_volume *volume)
{
    const struct aps_job *job = context->job;
    const size_t floats = aps_signature_floats(job, call->type);
    const bool in_place = call->send == MPI_IN_PLACE;
    float *place = NULL; /* for our own block */

    if (!collective_elements(call->count, (MPI_Count)floats, &volume->own) ||
        !collective_elements((MPI_Count)volume->own, context->size,
                             &volume->count))
        return false;
    volume->good = aps_call_is_float(job, call->type) && call->send &&
                   call->receive && call->receive != MPI_IN_PLACE;
    if (volume->good)
        place = (float *)call->receive + (size_t)context->rank * volume->own;
    if (!in_place)
        volume->good = volume->good && call->send_count == call->count &&
                       aps_call_is_float(job, call->send_type) &&
                       call->send != place;
    volume->in = in_place ? place : call->send;
    volume->out = call->receive;
    return true;
}

bool aps_collective_call_measure(const struct aps_context *context,
                                 const struct aps_collective_call *call,
                                 struct aps_volume *volume)
{
    switch (call->kind) {
    case APS_CALL_REDUCE_SCATTER:
        return collective_measure_reduce_scatter(context, call, volume);
    case APS_CALL_ALLGATHER:
        return collective_measure_allgather(context, call, volume);
    default:
        return collective_measure_reduce(context, call, volume);
    }
}
