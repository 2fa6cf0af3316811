/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block, and their nonblocking forms.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call/other_kind.h"

/* How many elements go to rank i. */
static MPI_Count scatter_share(const struct aps_call *call, int i)
{
    if (call->kind == &aps_kind_reduce_scatter_block)
        return call->count;
    return call->large ? ((const MPI_Count *)call->counts)[i]
                       : ((const int *)call->counts)[i];
}

static int scatter_pass(const struct aps_call *call)
{
    return APS_NEXT_CALL(call->large, Reduce_scatter, call->send, call->receive,
                         call->counts, call->type, call->op, call->comm);
}

static int scatter_pass_block(const struct aps_call *call)
{
    return APS_NEXT_CALL(call->large, Reduce_scatter_block, call->send,
                         call->receive, call->count, call->type, call->op,
                         call->comm);
}

static int scatter_start(const struct aps_call *call, MPI_Request *request)
{
    return APS_NEXT_CALL(call->large, Ireduce_scatter, call->send,
                         call->receive, call->counts, call->type, call->op,
                         call->comm, request);
}

static int scatter_start_block(const struct aps_call *call,
                               MPI_Request *request)
{
    return APS_NEXT_CALL(call->large, Ireduce_scatter_block, call->send,
                         call->receive, call->count, call->type, call->op,
                         call->comm, request);
}

static void scatter_count_elements(const struct aps_call *call, MPI_Count *sent,
                                   MPI_Count *received)
{
    int rank, size;

    *sent = *received = 0;
    if (call->kind == &aps_kind_reduce_scatter && !call->counts)
        return;
    PMPI_Comm_rank(call->comm, &rank);
    PMPI_Comm_size(call->comm, &size);
    for (int i = 0; i < size; i++)
        *sent += scatter_share(call, i);
    *received = call->send == MPI_IN_PLACE ? *sent : scatter_share(call, rank);
}

static bool scatter_is_candidate(const struct aps_job *job,
                                 const struct aps_call *call)
{
    return aps_other_is_sum(job, call) && call->counts != NULL;
}

static bool scatter_is_candidate_block(const struct aps_job *job,
                                       const struct aps_call *call)
{
    return aps_other_is_sum(job, call) && call->count >= 0 &&
           (call->count == 0 || call->send != call->receive);
}

/* A share may be empty, and then its place may be anything, as Open MPI has it. */
static bool scatter_measure(const struct aps_context *context,
                            const struct aps_call *call,
                            struct aps_segment *segment)
{
    const MPI_Count own = scatter_share(call, context->rank);
    size_t count = 0;

    for (int i = 0; i < context->size; i++) {
        const MPI_Count share = scatter_share(call, i);

        if (share < 0 || __builtin_add_overflow(count, share, &count) ||
            count > PTRDIFF_MAX / sizeof(float))
            return false;
    }
    *segment = (struct aps_segment){
        .count = count,
        .own = (size_t)own,
        .good = true,
        .in = call->send == MPI_IN_PLACE ? call->receive : call->send,
        .out = call->receive,
    };
    if (count == 0)
        return true;
    if (call->send == MPI_IN_PLACE)
        return call->receive && call->receive != MPI_IN_PLACE;
    return call->send &&
           (own == 0 || (call->receive && call->receive != MPI_IN_PLACE &&
                         call->send != call->receive));
}

/* MPI has read the counts when such a call returns, and programs let them go
 * then, although they must not. */
static int scatter_hold(struct aps_call *call)
{
    const size_t size = call->large ? sizeof(MPI_Count) : sizeof(int);
    int ranks = 0;
    void *counts;

    PMPI_Comm_size(call->comm, &ranks);
    counts = malloc((size_t)ranks * size);
    if (!counts)
        return MPI_ERR_NO_MEM;
    memcpy(counts, call->counts, (size_t)ranks * size);
    call->counts = counts;
    return MPI_SUCCESS;
}

static void scatter_release(struct aps_call *call)
{
    free((void *)(uintptr_t)call->counts);
}

/* Where the shares begin, and the last one ends. */
static const size_t *scatter_bounds_of(struct aps_context *context,
                                       const struct aps_call *call)
{
    size_t *bounds = context->other_collectives.bounds;

    bounds[0] = 0;
    for (int i = 0; i < context->size; i++)
        bounds[i + 1] = bounds[i] + (size_t)scatter_share(call, i);
    return bounds;
}

static int scatter_run(struct aps_context *context, const struct aps_call *call,
                       const struct aps_segment *segment, struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(context, call, segment);

    return aps_reduce_scatter_run(context->other_collectives.scatter, &wire,
                                  segment->in, scatter_bounds_of(context, call),
                                  segment->out, cost);
}

static int scatter_sample(struct aps_context *context,
                          const struct aps_call *call,
                          const struct aps_segment *segment, int *ready)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const size_t *bounds = scatter_bounds_of(context, call);
    int rc = MPI_SUCCESS;

    *ready = 1;
    for (int i = 0; i < context->size; i++) {
        int there = 1;
        const int now = aps_sample_reference(
            &context->sample, vcomm, i, segment->memory,
            segment->in + bounds[i], bounds[i + 1] - bounds[i], &there);

        *ready &= there;
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

const struct aps_kind aps_kind_reduce_scatter = {
    .which = APS_CALL_REDUCE_SCATTER,
    .counted = APS_COUNTED_REDUCE_SCATTER,
    .name = "MPI_Reduce_scatter",
    .nonblocking = "MPI_Ireduce_scatter",
    .is_candidate = scatter_is_candidate,
    .pass = scatter_pass,
    .start = scatter_start,
    .count_elements = scatter_count_elements,
    .place = aps_other_place,
    .measure = scatter_measure,
    .segment = aps_other_segment,
    .is_possible = aps_other_is_possible,
    .hold = scatter_hold,
    .release = scatter_release,
    .run = scatter_run,
    .sample = scatter_sample,
    .merges = true,
};

const struct aps_kind aps_kind_reduce_scatter_block = {
    .which = APS_CALL_REDUCE_SCATTER,
    .counted = APS_COUNTED_REDUCE_SCATTER_BLOCK,
    .name = "MPI_Reduce_scatter_block",
    .nonblocking = "MPI_Ireduce_scatter_block",
    .is_candidate = scatter_is_candidate_block,
    .pass = scatter_pass_block,
    .start = scatter_start_block,
    .count_elements = scatter_count_elements,
    .place = aps_other_place,
    .measure = scatter_measure,
    .segment = aps_other_segment,
    .is_possible = aps_other_is_possible,
    .run = scatter_run,
    .sample = scatter_sample,
    .merges = true,
};
