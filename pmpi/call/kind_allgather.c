/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather. Ranks may describe the same elements by different types, and
 * only together they know whether all of them have types that are for us: a call
 * is a candidate by what its elements are made of (signature.h), and the ranks
 * agree on the rest when it is its turn.
 */
#include "config.h"

#include "base/fpenv.h"
#include "call/other_kind.h"
#include "call/signature.h"
#include "progress/agree.h"
#include "scale/scale.h"

static int gather_pass(const struct aps_next_mpi *next,
                       const struct aps_call *call)
{
    const aps_handle send_type = (aps_handle)call->send_type;
    const aps_handle type = (aps_handle)call->type;
    const aps_handle comm = (aps_handle)call->comm;

    return call->large
               ? next->allgather_c(call->send, call->send_count, send_type,
                                   call->receive, call->count, type, comm)
               : next->allgather(call->send, (int)call->send_count, send_type,
                                 call->receive, (int)call->count, type, comm);
}

static void gather_count_elements(const struct aps_call *call, MPI_Count *sent,
                                  MPI_Count *received)
{
    int ranks = 0, inter = 0;

    PMPI_Comm_test_inter(call->comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(call->comm, &ranks);
    else
        PMPI_Comm_size(call->comm, &ranks);
    *sent = call->send_count;
    *received = ranks * call->count;
}

static bool gather_is_candidate(const struct aps_job *job,
                                const struct aps_call *call)
{
    return aps_abi_is_communicator(call->comm) && call->count >= 0 &&
           aps_signature_floats(job, call->type) > 0;
}

/* A rank with a type or an argument that is not for us says so to the others
 * (`good`). */
static bool gather_measure(const struct aps_context *context,
                           const struct aps_call *call,
                           struct aps_segment *segment)
{
    const struct aps_job *job = context->job;
    const size_t floats = aps_signature_floats(job, call->type);
    const bool in_place = call->send == MPI_IN_PLACE;
    float *place = NULL; /* for our own block */

    *segment = (struct aps_segment){.out = call->receive};
    if (!aps_other_elements(call->count, (MPI_Count)floats, &segment->own) ||
        !aps_other_elements((MPI_Count)segment->own, context->size,
                            &segment->count))
        return false;
    segment->good = aps_call_is_float(job, call->type) && call->send &&
                    call->receive && call->receive != MPI_IN_PLACE;
    if (segment->good)
        place = (float *)call->receive + (size_t)context->rank * segment->own;
    if (!in_place)
        segment->good = segment->good && call->send_count == call->count &&
                        aps_call_is_float(job, call->send_type) &&
                        call->send != place;
    segment->in = in_place ? place : call->send;
    return true;
}

/* With the answer comes the scale exponent of the blocks, which have one rank
 * each to contribute to them (N = 1). */
static void gather_agree(struct aps_context *context,
                         struct aps_segment *segment, bool *good)
{
    const struct aps_scale *scale = &segment->plan.scale;
    const bool agreed = aps_scale_ops_of(scale)->agreed;
    int values[2] = {!segment->good, APS_EXPONENT_ZERO};
    fenv_t environment;

    aps_fpenv_enter(&environment);
    if (agreed && segment->good)
        values[1] = aps_scale_max_exponent(
            segment->memory->magnitude(segment->in, segment->own).max, 1);
    segment->rc = aps_agree_max(aps_comm_resources_vcomm(context->resources),
                                agreed ? 2 : 1, values);
    *good = !values[0];
    segment->exponent =
        aps_scale_stage_exponent(scale, &segment->plan.format, values[1]);
    aps_fpenv_leave(&environment);
}

static int gather_run(struct aps_context *context, const struct aps_call *call,
                      const struct aps_segment *segment, struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(context, call, segment);

    return aps_allgather_run(context->related.gather, &wire, segment->rc,
                             segment->exponent, segment->in, segment->out,
                             segment->own, cost);
}

/* A rank's own block, as all ranks have decoded it. */
static int gather_sample(struct aps_context *context,
                         const struct aps_call *call,
                         const struct aps_segment *segment, int *ready)
{
    (void)call;
    aps_sample_keep(&context->sample, segment->memory, segment->in,
                    segment->own, ready);
    return MPI_SUCCESS;
}

const struct aps_kind aps_kind_allgather = {
    .which = APS_CALL_ALLGATHER,
    .counted = APS_COUNTED_ALLGATHER,
    .name = "MPI_Allgather",
    .is_candidate = gather_is_candidate,
    .pass = gather_pass,
    .count_elements = gather_count_elements,
    .place = aps_other_place,
    .measure = gather_measure,
    .segment = aps_other_segment,
    .is_possible = aps_other_is_possible,
    .agree = gather_agree,
    .run = gather_run,
    .sample = gather_sample,
    .merges = true,
};
