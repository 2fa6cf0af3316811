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

#include <stdint.h>
#include <stdlib.h>

#include "call/derived.h"
#include "call/other_kind.h"
#include "call/signature.h"

static int gather_pass(const struct aps_call *call)
{
    return APS_NEXT_CALL(call->large, Allgather, call->send, call->send_count,
                         call->send_type, call->receive, call->count,
                         call->type, call->comm);
}

static int gather_start(const struct aps_call *call, MPI_Request *request)
{
    return APS_NEXT_CALL(call->large, Iallgather, call->send, call->send_count,
                         call->send_type, call->receive, call->count,
                         call->type, call->comm, request);
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
    if (call->count > 0 &&
        (call->receive == MPI_IN_PLACE ||
         aps_derived_is_missing(job, call->receive, call->type)))
        return true;
    return call->send != MPI_IN_PLACE &&
           (call->send_count < 0 ||
            aps_signature_floats(job, call->send_type) == 0 ||
            (call->send_count > 0 &&
             aps_derived_is_missing(job, call->send, call->send_type)));
}

static bool gather_is_candidate(const struct aps_job *job,
                                const struct aps_call *call)
{
    return aps_abi_is_communicator(call->comm) && call->count >= 0 &&
           aps_signature_floats(job, call->type) > 0 &&
           !(call->nonblocking && gather_is_wrong(job, call));
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

static int gather_run(struct aps_context *context, const struct aps_call *call,
                      const struct aps_segment *segment, struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(context, call, segment);

    return aps_allgather_run(context->other_collectives.gather, &wire,
                             segment->rc, segment->exponent, segment->in,
                             segment->out, segment->own, cost);
}

/* --- unchanged ----------------------------------------------------------- */

static int gather_hold(struct aps_call *call)
{
    const struct aps_job *job = aps_job();
    const bool holds = !aps_call_is_float(job, call->type);
    const void *receive = call->receive;
    int rc = holds ? aps_derived_hold(&receive, &call->type) : MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        return rc;
    call->receive = (void *)(uintptr_t)receive;
    if (call->send == MPI_IN_PLACE || aps_call_is_float(job, call->send_type))
        return rc;
    rc = aps_derived_hold(&call->send, &call->send_type);
    if (rc != MPI_SUCCESS && holds)
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

/* The block of this rank as packed[size]. */
static int gather_pack(const struct aps_context *context,
                       const struct aps_call *call, size_t size,
                       unsigned char *packed)
{
    const bool in_place = call->send == MPI_IN_PLACE;
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const char *from = call->send;
    MPI_Aint low, extent;

    if (in_place) {
        int rc = PMPI_Type_get_extent(call->type, &low, &extent);

        if (rc != MPI_SUCCESS)
            return rc;
        from = (char *)call->receive + context->rank * call->count * extent;
    }
    return aps_derived_pack(from, in_place ? call->count : call->send_count,
                            in_place ? call->type : call->send_type, packed,
                            size, vcomm->comm);
}

/* packed[size] of every rank, to where the program wants it. */
static int gather_unpack(const struct aps_context *context,
                         const struct aps_call *call, size_t size,
                         const unsigned char *packed)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    MPI_Aint low, extent;
    int rc = PMPI_Type_get_extent(call->type, &low, &extent);

    for (int i = 0; i < context->size && rc == MPI_SUCCESS; i++)
        rc =
            aps_derived_unpack(packed + (size_t)i * size, size,
                               (char *)call->receive + i * call->count * extent,
                               call->count, call->type, vcomm->comm);
    return rc;
}

/* What this rank cannot do is an error of all: they get empty messages. MPI packs
 * in host memory. */
static int gather_run_unchanged(struct aps_context *context,
                                const struct aps_call *call,
                                const struct aps_segment *segment)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(context->resources);
    const size_t size = segment->own * sizeof(float);
    unsigned char *in = malloc(size);
    unsigned char *out = malloc(segment->count * sizeof(float));
    struct aps_call packed = *call;
    struct aps_bounce bounce;
    int rc = aps_bounce_begin(&bounce, aps_call_function(call), vcomm->comm,
                              call->gpu, call->send, call->send_count,
                              call->send_type, call->receive,
                              context->size * call->count, call->type);

    packed.send = bounce.send;
    packed.receive = bounce.receive;
    if (rc == MPI_SUCCESS)
        rc = in && out ? gather_pack(context, &packed, size, in)
                       : MPI_ERR_NO_MEM;
    rc = aps_allgather_run_bytes(context->other_collectives.gather, rc, in, out,
                                 size);
    if (rc == MPI_SUCCESS)
        rc = gather_unpack(context, &packed, size, out);
    rc = aps_bounce_end(&bounce, rc);
    free(in);
    free(out);
    return rc;
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
    .agree = aps_other_agree_blocks,
    .hold = gather_hold,
    .release = gather_release,
    .run_unchanged = gather_run_unchanged,
    .run = gather_run,
    .sample = aps_other_sample_block,
    .merges = true,
};
