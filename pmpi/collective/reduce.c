/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce and MPI_Ireduce.
 */
#include "config.h"

#include "collective/common.h"

static int reduce_pass(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Reduce, arguments->send,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->op, arguments->root, arguments->comm);
}

static int reduce_start(const struct aps_call_arguments *arguments,
                        MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Ireduce, arguments->send,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->op, arguments->root, arguments->comm,
                         request);
}

static void reduce_count_elements(const struct aps_call_arguments *arguments,
                                  MPI_Count *sent, MPI_Count *received)
{
    int rank = MPI_PROC_NULL, inter = 0;

    PMPI_Comm_rank(arguments->comm, &rank);
    PMPI_Comm_test_inter(arguments->comm, &inter);
    *received =
        arguments->root == (inter ? MPI_ROOT : rank) ? arguments->count : 0;
    *sent = arguments->root == (inter ? MPI_ROOT : MPI_PROC_NULL)
                ? 0
                : arguments->count;
}

/* The same buffer for both, or an invalid root, is an error, perhaps of one
 * rank only. */
static bool reduce_is_eligible(const struct aps_job *job,
                               const struct aps_call_arguments *arguments)
{
    int size;

    return aps_other_is_sum(job, arguments) && arguments->count >= 0 &&
           PMPI_Comm_size(arguments->comm, &size) == MPI_SUCCESS &&
           arguments->root >= 0 && arguments->root < size;
}

static bool reduce_measure(const struct aps_call *call, struct aps_layer *layer)
{
    const bool root = call->context->rank == call->arguments.root;
    const bool in_place = root && call->arguments.send == MPI_IN_PLACE;

    *layer = (struct aps_layer){
        .key.element = call->element,
        .good = true,
        .in = in_place ? call->arguments.receive : call->arguments.send,
        .out = root ? call->arguments.receive : NULL,
    };
    if (call->arguments.root < 0 ||
        call->arguments.root >= call->context->size ||
        !aps_other_elements(call->arguments.count, 1, &layer->count))
        return false;
    layer->own = root ? layer->count : 0;
    if (!root)
        return call->arguments.send && call->arguments.send != MPI_IN_PLACE;
    return call->arguments.send && call->arguments.receive &&
           call->arguments.receive != MPI_IN_PLACE &&
           call->arguments.send != call->arguments.receive;
}

static int reduce_run(struct aps_call *call, const struct aps_layer *layer,
                      struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(call, layer);

    return aps_reduce_root_run(call->context->other_collectives.rooted, &wire,
                               call->arguments.root, layer->in, layer->out,
                               layer->count, cost);
}

static int reduce_reference(struct aps_call *call,
                            const struct aps_layer *layer, int *ready)
{
    *ready = 1;
    return aps_sample_reference(
        &call->context->sample,
        aps_comm_resources_vcomm(call->context->resources),
        call->arguments.root, layer->memory, layer->in, layer->count, ready);
}

const struct aps_collective aps_collective_reduce = {
    .counted = APS_COUNTED_REDUCE,
    .nonblocking = "MPI_Ireduce",
    .is_eligible = reduce_is_eligible,
    .pass = reduce_pass,
    .start = reduce_start,
    .count_elements = reduce_count_elements,
    .number = aps_other_number,
    .note_passed = aps_other_note_passed,
    .measure = reduce_measure,
    .describe = aps_other_describe,
    .prepare = aps_other_prepare,
    .run = reduce_run,
    .reference = reduce_reference,
    .merges = true,
};
