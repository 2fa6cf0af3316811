/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block, and their nonblocking forms.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collective/common.h"

/* Returns the number of elements of rank i's share. */
static MPI_Count scatter_share(const struct aps_call_arguments *arguments,
                               int i)
{
    if (arguments->collective == &aps_collective_reduce_scatter_block)
        return arguments->count;
    return arguments->large ? ((const MPI_Count *)arguments->counts)[i]
                            : ((const int *)arguments->counts)[i];
}

static int scatter_pass(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Reduce_scatter, arguments->send,
                         arguments->receive, arguments->counts, arguments->type,
                         arguments->op, arguments->comm);
}

static int scatter_pass_block(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Reduce_scatter_block,
                         arguments->send, arguments->receive, arguments->count,
                         arguments->type, arguments->op, arguments->comm);
}

static int scatter_start(const struct aps_call_arguments *arguments,
                         MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Ireduce_scatter, arguments->send,
                         arguments->receive, arguments->counts, arguments->type,
                         arguments->op, arguments->comm, request);
}

static int scatter_start_block(const struct aps_call_arguments *arguments,
                               MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Ireduce_scatter_block,
                         arguments->send, arguments->receive, arguments->count,
                         arguments->type, arguments->op, arguments->comm,
                         request);
}

static void scatter_count_elements(const struct aps_call_arguments *arguments,
                                   MPI_Count *sent, MPI_Count *received)
{
    int rank, size;

    *sent = *received = 0;
    if (arguments->collective == &aps_collective_reduce_scatter &&
        !arguments->counts)
        return;
    PMPI_Comm_rank(arguments->comm, &rank);
    PMPI_Comm_size(arguments->comm, &size);
    for (int i = 0; i < size; i++)
        *sent += scatter_share(arguments, i);
    *received = arguments->send == MPI_IN_PLACE
                    ? *sent
                    : scatter_share(arguments, rank);
}

static bool scatter_is_eligible(const struct aps_job *job,
                                const struct aps_call_arguments *arguments)
{
    return aps_other_is_sum(job, arguments) && arguments->counts != NULL;
}

static bool
scatter_is_eligible_block(const struct aps_job *job,
                          const struct aps_call_arguments *arguments)
{
    return aps_other_is_sum(job, arguments) && arguments->count >= 0 &&
           (arguments->count == 0 || arguments->send != arguments->receive);
}

/* If a share is empty, its buffer may be any address; Open MPI allows that. */
static bool scatter_measure(const struct aps_call *call,
                            struct aps_layer *layer)
{
    const MPI_Count own = scatter_share(&call->arguments, call->context->rank);
    size_t count = 0;

    for (int i = 0; i < call->context->size; i++) {
        const MPI_Count share = scatter_share(&call->arguments, i);

        if (share < 0 || __builtin_add_overflow(count, share, &count) ||
            count > PTRDIFF_MAX / sizeof(double))
            return false;
    }
    *layer = (struct aps_layer){
        .key.element = call->element,
        .count = count,
        .own = (size_t)own,
        .good = true,
        .in = call->arguments.send == MPI_IN_PLACE ? call->arguments.receive
                                                   : call->arguments.send,
        .out = call->arguments.receive,
    };
    if (count == 0)
        return true;
    if (call->arguments.send == MPI_IN_PLACE)
        return call->arguments.receive &&
               call->arguments.receive != MPI_IN_PLACE;
    return call->arguments.send &&
           (own == 0 || (call->arguments.receive &&
                         call->arguments.receive != MPI_IN_PLACE &&
                         call->arguments.send != call->arguments.receive));
}

/* MPI has read the counts when such a call returns. Programs free them then,
 * although the standard forbids it. */
static int scatter_hold(struct aps_call_arguments *arguments)
{
    const size_t size = arguments->large ? sizeof(MPI_Count) : sizeof(int);
    int ranks = 0;
    void *counts;

    PMPI_Comm_size(arguments->comm, &ranks);
    counts = malloc((size_t)ranks * size);
    if (!counts)
        return MPI_ERR_NO_MEM;
    memcpy(counts, arguments->counts, (size_t)ranks * size);
    arguments->counts = counts;
    return MPI_SUCCESS;
}

static void scatter_release(struct aps_call_arguments *arguments)
{
    free((void *)(uintptr_t)arguments->counts);
}

/* Returns the index of the first element of each share, and the end of the
 * last. */
static const size_t *scatter_bounds_of(const struct aps_call *call)
{
    size_t *bounds = call->context->other_collectives.bounds;

    bounds[0] = 0;
    for (int i = 0; i < call->context->size; i++)
        bounds[i + 1] = bounds[i] + (size_t)scatter_share(&call->arguments, i);
    return bounds;
}

static int scatter_run(struct aps_call *call, const struct aps_layer *layer,
                       struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(call, layer);

    return aps_reduce_scatter_run(call->context->other_collectives.scatter,
                                  &wire, layer->in, scatter_bounds_of(call),
                                  layer->out, cost);
}

static int scatter_reference(struct aps_call *call,
                             const struct aps_layer *layer, int *ready)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(call->context->resources);
    const size_t *bounds = scatter_bounds_of(call);
    int rc = MPI_SUCCESS;

    *ready = 1;
    for (int i = 0; i < call->context->size; i++) {
        int there = 1;
        const int now = aps_sample_reference(
            &call->context->sample, vcomm, i, layer->memory,
            aps_memory_at(layer->memory, layer->in, bounds[i]),
            bounds[i + 1] - bounds[i], &there);

        *ready &= there;
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

const struct aps_collective aps_collective_reduce_scatter = {
    .counted = APS_COUNTED_REDUCE_SCATTER,
    .nonblocking = "MPI_Ireduce_scatter",
    .is_eligible = scatter_is_eligible,
    .pass = scatter_pass,
    .start = scatter_start,
    .count_elements = scatter_count_elements,
    .number = aps_other_number,
    .measure = scatter_measure,
    .describe = aps_other_describe,
    .prepare = aps_other_prepare,
    .hold = scatter_hold,
    .release = scatter_release,
    .run = scatter_run,
    .reference = scatter_reference,
    .merges = true,
};

const struct aps_collective aps_collective_reduce_scatter_block = {
    .counted = APS_COUNTED_REDUCE_SCATTER_BLOCK,
    .nonblocking = "MPI_Ireduce_scatter_block",
    .is_eligible = scatter_is_eligible_block,
    .pass = scatter_pass_block,
    .start = scatter_start_block,
    .count_elements = scatter_count_elements,
    .number = aps_other_number,
    .note_passed = aps_other_note_passed,
    .measure = scatter_measure,
    .describe = aps_other_describe,
    .prepare = aps_other_prepare,
    .run = scatter_run,
    .reference = scatter_reference,
    .merges = true,
};
