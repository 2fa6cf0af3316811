/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce and MPI_Ireduce.
 */
#include "config.h"

#include "call/other_kind.h"

static int reduce_pass(const struct aps_call *call)
{
    return APS_NEXT_CALL(call->large, Reduce, call->send, call->receive,
                         call->count, call->type, call->op, call->root,
                         call->comm);
}

static int reduce_start(const struct aps_call *call, MPI_Request *request)
{
    return APS_NEXT_CALL(call->large, Ireduce, call->send, call->receive,
                         call->count, call->type, call->op, call->root,
                         call->comm, request);
}

static void reduce_count_elements(const struct aps_call *call, MPI_Count *sent,
                                  MPI_Count *received)
{
    int rank = MPI_PROC_NULL, inter = 0;

    PMPI_Comm_rank(call->comm, &rank);
    PMPI_Comm_test_inter(call->comm, &inter);
    *received = call->root == (inter ? MPI_ROOT : rank) ? call->count : 0;
    *sent = call->root == (inter ? MPI_ROOT : MPI_PROC_NULL) ? 0 : call->count;
}

/* One buffer for both, or a root that is none, is an error, of one rank
 * perhaps. */
static bool reduce_is_candidate(const struct aps_job *job,
                                const struct aps_call *call)
{
    int size;

    return aps_other_is_sum(job, call) && call->count >= 0 &&
           PMPI_Comm_size(call->comm, &size) == MPI_SUCCESS &&
           call->root >= 0 && call->root < size;
}

static bool reduce_measure(const struct aps_context *context,
                           const struct aps_call *call,
                           struct aps_segment *segment)
{
    const bool root = context->rank == call->root;
    const bool in_place = root && call->send == MPI_IN_PLACE;

    *segment = (struct aps_segment){
        .good = true,
        .in = in_place ? call->receive : call->send,
        .out = root ? call->receive : NULL,
    };
    if (call->root < 0 || call->root >= context->size ||
        !aps_other_elements(call->count, 1, &segment->count))
        return false;
    segment->own = root ? segment->count : 0;
    if (!root)
        return call->send && call->send != MPI_IN_PLACE;
    return call->send && call->receive && call->receive != MPI_IN_PLACE &&
           call->send != call->receive;
}

static int reduce_run(struct aps_context *context, const struct aps_call *call,
                      const struct aps_segment *segment, struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(context, call, segment);

    return aps_reduce_root_run(context->other_collectives.rooted, &wire,
                               call->root, segment->in, segment->out,
                               segment->count, cost);
}

static int reduce_sample(struct aps_context *context,
                         const struct aps_call *call,
                         const struct aps_segment *segment, int *ready)
{
    *ready = 1;
    return aps_sample_reference(
        &context->sample, aps_comm_resources_vcomm(context->resources),
        call->root, segment->memory, segment->in, segment->count, ready);
}

const struct aps_kind aps_kind_reduce = {
    .which = APS_CALL_REDUCE,
    .counted = APS_COUNTED_REDUCE,
    .name = "MPI_Reduce",
    .nonblocking = "MPI_Ireduce",
    .is_candidate = reduce_is_candidate,
    .pass = reduce_pass,
    .start = reduce_start,
    .count_elements = reduce_count_elements,
    .place = aps_other_place,
    .measure = reduce_measure,
    .segment = aps_other_segment,
    .is_possible = aps_other_is_possible,
    .run = reduce_run,
    .sample = reduce_sample,
    .merges = true,
};
