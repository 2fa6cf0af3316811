/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather and MPI_Iallgather. Ranks may describe the same elements by
 * different types, and only together they know whether all of them have types
 * that are for us: a call is a candidate by what its elements are made of
 * (signature.h), and the ranks agree on the rest when it is its turn. A
 * nonblocking call that is not for us after all is carried by messages of ours,
 * unrounded.
 */
#include "config.h"

#include <stdlib.h>

#include "base/fpenv.h"
#include "call/other_kind.h"
#include "call/signature.h"
#include "progress/agree.h"
#include "number/format.h"
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

static int gather_start(const struct aps_next_mpi *next,
                        const struct aps_call *call, MPI_Request *request)
{
    const aps_handle send_type = (aps_handle)call->send_type;
    const aps_handle type = (aps_handle)call->type;
    const aps_handle comm = (aps_handle)call->comm;

    return call->large
               ? next->iallgather_c(call->send, call->send_count, send_type,
                                    call->receive, call->count, type, comm,
                                    request)
               : next->iallgather(call->send, (int)call->send_count, send_type,
                                  call->receive, (int)call->count, type, comm,
                                  request);
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

/* Of a nonblocking call, what MPI finds wrong at once: the ranks come together
 * too late for its message. */
static bool gather_is_wrong(const struct aps_job *job,
                            const struct aps_call *call)
{
    if (call->count > 0 && (!call->receive || call->receive == MPI_IN_PLACE))
        return true;
    return call->send != MPI_IN_PLACE &&
           (call->send_count < 0 || (call->send_count > 0 && !call->send) ||
            aps_signature_floats(job, call->send_type) == 0);
}

static bool gather_is_candidate(const struct aps_job *job,
                                const struct aps_call *call)
{
    if (call->nonblocking && gather_is_wrong(job, call))
        return false;
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

/* --- unchanged ----------------------------------------------------------- */

#ifdef HAVE_PMPI_ISEND_C
#define SIZED(name) PMPI_##name##_c
#define AS_COUNT(count) ((MPI_Count)(count))
typedef MPI_Count sized_t;
#else
#define SIZED(name) PMPI_##name
#define AS_COUNT(count) ((int)(count))
typedef int sized_t;
#endif

/* Types that a program may free while the call waits. */
static int gather_hold(struct aps_call *call)
{
    const struct aps_job *job = aps_job();
    const bool dups = !aps_call_is_float(job, call->type);
    int rc = dups ? PMPI_Type_dup(call->type, &call->type) : MPI_SUCCESS;

    if (rc != MPI_SUCCESS || call->send == MPI_IN_PLACE ||
        aps_call_is_float(job, call->send_type))
        return rc;
    rc = PMPI_Type_dup(call->send_type, &call->send_type);
    if (rc != MPI_SUCCESS && dups)
        PMPI_Type_free(&call->type);
    return rc;
}

static void gather_release(struct aps_call *call)
{
    const struct aps_job *job = aps_job();

    if (!aps_call_is_float(job, call->type))
        PMPI_Type_free(&call->type);
    if (call->send != MPI_IN_PLACE && !aps_call_is_float(job, call->send_type))
        PMPI_Type_free(&call->send_type);
}

/* The block of this rank as packed[own]. */
static int gather_pack(const struct aps_context *context,
                       const struct aps_call *call, size_t own, float *packed)
{
    const bool in_place = call->send == MPI_IN_PLACE;
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const char *from = call->send;
    MPI_Aint low, extent;
    sized_t place = 0;

    if (in_place) {
        int rc = PMPI_Type_get_extent(call->type, &low, &extent);

        if (rc != MPI_SUCCESS)
            return rc;
        from = (char *)call->receive + context->rank * call->count * extent;
    }
    return SIZED(Pack)(from,
                       AS_COUNT(in_place ? call->count : call->send_count),
                       in_place ? call->type : call->send_type, packed,
                       AS_COUNT(own * sizeof *packed), &place, vcomm->comm);
}

/* packed[own] of every rank, to where the program wants it. */
static int gather_unpack(const struct aps_context *context,
                         const struct aps_call *call, size_t own,
                         const float *packed)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    MPI_Aint low, extent;
    int rc = PMPI_Type_get_extent(call->type, &low, &extent);

    for (int i = 0; i < context->size && rc == MPI_SUCCESS; i++) {
        sized_t place = 0;

        rc = SIZED(Unpack)(packed + (size_t)i * own,
                           AS_COUNT(own * sizeof *packed), &place,
                           (char *)call->receive + i * call->count * extent,
                           AS_COUNT(call->count), call->type, vcomm->comm);
    }
    return rc;
}

/* What this rank cannot do, on a GPU or without memory, is an error of all: they
 * get empty messages. */
static int gather_run_unchanged(struct aps_context *context,
                                const struct aps_call *call,
                                const struct aps_segment *segment)
{
    struct aps_segment plain = *segment;
    struct aps_cost cost = {0};
    struct aps_wire wire;
    fenv_t environment;
    float *in = NULL, *out = NULL;
    int rc = MPI_ERR_NO_MEM;

    plain.memory = &aps_memory_host;
    plain.plan.scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    (void)aps_format_parse("e8m23", &plain.plan.format, NULL);
    if (!aps_other_is_possible(context, call, &plain.plan))
        return rc;
    in = malloc(segment->own * sizeof *in);
    out = malloc(segment->count * sizeof *out);
    if (call->gpu.send || call->gpu.receive)
        rc = MPI_ERR_TYPE;
    else if (in && out)
        rc = gather_pack(context, call, segment->own, in);
    aps_fpenv_enter(&environment);
    wire = aps_other_wire(context, call, &plain);
    rc = aps_allgather_run(context->related.gather, &wire, rc, 0, in, out,
                           segment->own, &cost);
    aps_fpenv_leave(&environment);
    if (rc == MPI_SUCCESS)
        rc = gather_unpack(context, call, segment->own, out);
    free(in);
    free(out);
    return rc;
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
    .nonblocking = "MPI_Iallgather",
    .is_candidate = gather_is_candidate,
    .pass = gather_pass,
    .start = gather_start,
    .count_elements = gather_count_elements,
    .place = aps_other_place,
    .measure = gather_measure,
    .segment = aps_other_segment,
    .is_possible = aps_other_is_possible,
    .agree = gather_agree,
    .hold = gather_hold,
    .release = gather_release,
    .run_unchanged = gather_run_unchanged,
    .run = gather_run,
    .sample = gather_sample,
    .merges = true,
};
