/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather and MPI_Iallgather.
 *
 * Ranks may describe the same elements by different types, and only together
 * they know whether all types are supported. A call is eligible by the contents
 * of its elements (signature.h), and the ranks agree on the rest when the call
 * is carried out. If they refuse a nonblocking call, the library's messages
 * carry its elements unrounded.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "collective/derived.h"
#include "collective/common.h"
#include "call/signature.h"

static int gather_pass(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Allgather, arguments->send,
                         arguments->send_count, arguments->send_type,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->comm);
}

static int gather_start(const struct aps_call_arguments *arguments,
                        MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Iallgather, arguments->send,
                         arguments->send_count, arguments->send_type,
                         arguments->receive, arguments->count, arguments->type,
                         arguments->comm, request);
}

static void gather_count_elements(const struct aps_call_arguments *arguments,
                                  MPI_Count *sent, MPI_Count *received)
{
    int ranks = 0, inter = 0;

    PMPI_Comm_test_inter(arguments->comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(arguments->comm, &ranks);
    else
        PMPI_Comm_size(arguments->comm, &ranks);
    *sent = arguments->send_count;
    *received = ranks * arguments->count;
}

/* True for arguments of a nonblocking call that MPI rejects at once. The ranks
 * agree on the call too late for MPI's message. */
static bool gather_is_wrong(const struct aps_job *job,
                            const struct aps_call_arguments *arguments)
{
    if (arguments->count > 0 &&
        (arguments->receive == MPI_IN_PLACE ||
         aps_derived_is_missing(job, arguments->receive, arguments->type)))
        return true;
    return arguments->send != MPI_IN_PLACE &&
           (arguments->send_count < 0 ||
            aps_signature_of(job, arguments->send_type).count == 0 ||
            (arguments->send_count > 0 &&
             aps_derived_is_missing(job, arguments->send,
                                    arguments->send_type)));
}

static bool gather_is_eligible(const struct aps_job *job,
                               const struct aps_call_arguments *arguments)
{
    return aps_abi_is_communicator(arguments->comm) && arguments->count >= 0 &&
           aps_signature_of(job, arguments->type).count > 0 &&
           !(arguments->form != APS_BLOCKING &&
             gather_is_wrong(job, arguments));
}

/* Fills in the layer. A rank with an unsupported type or argument clears `good`,
 * which refuses the call for all ranks. */
static bool gather_measure(const struct aps_call *call, struct aps_layer *layer)
{
    const struct aps_job *job = call->context->job;
    const struct aps_signature values =
        aps_signature_of(job, call->arguments.type);
    const bool in_place = call->arguments.send == MPI_IN_PLACE;
    const void *place = NULL; /* position of this rank's block */

    *layer = (struct aps_layer){.key.element = values.element,
                                .out = call->arguments.receive};
    if (!aps_other_elements(call->arguments.count, (MPI_Count)values.count,
                            &layer->own) ||
        !aps_other_elements((MPI_Count)layer->own, call->context->size,
                            &layer->count))
        return false;
    layer->good = aps_call_takes_type(job, call->arguments.type) &&
                  call->arguments.send && call->arguments.receive &&
                  call->arguments.receive != MPI_IN_PLACE;
    if (layer->good)
        place = aps_element_at(values.element, call->arguments.receive,
                               (size_t)call->context->rank * layer->own);
    if (!in_place)
        layer->good =
            layer->good &&
            call->arguments.send_count == call->arguments.count &&
            aps_element_of(call->arguments.send_type) == values.element &&
            call->arguments.send != place;
    layer->in = in_place ? place : call->arguments.send;
    return true;
}

static int gather_run(struct aps_call *call, const struct aps_layer *layer,
                      struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(call, layer);

    return aps_allgather_run(call->context->other_collectives.gather, &wire,
                             layer->rc, layer->exponent, layer->in, layer->out,
                             layer->own, cost);
}

/* --- unchanged ----------------------------------------------------------- */

static int gather_hold(struct aps_call_arguments *arguments)
{
    const struct aps_job *job = aps_job();
    const bool holds = !aps_call_takes_type(job, arguments->type);
    const void *receive = arguments->receive;
    int rc = holds ? aps_derived_hold(&receive, &arguments->type) : MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        return rc;
    arguments->receive = (void *)(uintptr_t)receive;
    if (arguments->send == MPI_IN_PLACE ||
        aps_call_takes_type(job, arguments->send_type))
        return rc;
    rc = aps_derived_hold(&arguments->send, &arguments->send_type);
    if (rc != MPI_SUCCESS && holds)
        PMPI_Type_free(&arguments->type);
    return rc;
}

static void gather_release(struct aps_call_arguments *arguments)
{
    const struct aps_job *job = aps_job();

    if (!aps_call_takes_type(job, arguments->type))
        PMPI_Type_free(&arguments->type);
    if (arguments->send != MPI_IN_PLACE &&
        !aps_call_takes_type(job, arguments->send_type))
        PMPI_Type_free(&arguments->send_type);
}

/* Packs this rank's block into packed[size]. */
static int gather_pack(const struct aps_call *call, size_t size,
                       unsigned char *packed)
{
    const bool in_place = call->arguments.send == MPI_IN_PLACE;
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(call->context->resources);
    const char *from = call->arguments.send;
    MPI_Aint low, extent;

    if (in_place) {
        int rc = PMPI_Type_get_extent(call->arguments.type, &low, &extent);

        if (rc != MPI_SUCCESS)
            return rc;
        from = (char *)call->arguments.receive +
               call->context->rank * call->arguments.count * extent;
    }
    return aps_derived_pack(
        from, in_place ? call->arguments.count : call->arguments.send_count,
        in_place ? call->arguments.type : call->arguments.send_type, packed,
        size, vcomm->comm);
}

/* Unpacks the packed[size] of every rank into the program's buffer. */
static int gather_unpack(const struct aps_call *call, size_t size,
                         const unsigned char *packed)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(call->context->resources);
    MPI_Aint low, extent;
    int rc = PMPI_Type_get_extent(call->arguments.type, &low, &extent);

    for (int i = 0; i < call->context->size && rc == MPI_SUCCESS; i++)
        rc = aps_derived_unpack(packed + (size_t)i * size, size,
                                (char *)call->arguments.receive +
                                    i * call->arguments.count * extent,
                                call->arguments.count, call->arguments.type,
                                vcomm->comm);
    return rc;
}

/* If this rank fails, the call fails on all ranks: the others get empty
 * messages. MPI packs in host memory. */
static int gather_run_unchanged(struct aps_call *call,
                                const struct aps_layer *layer)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(call->context->resources);
    const size_t size = layer->own * layer->memory->element;
    unsigned char *in = malloc(size);
    unsigned char *out = malloc(layer->count * layer->memory->element);
    struct aps_call packed = *call;
    struct aps_bounce bounce;
    int rc = aps_bounce_begin(
        &bounce, aps_call_function(call), vcomm->comm, call->gpu,
        call->arguments.send, call->arguments.send_count,
        call->arguments.send_type, call->arguments.receive,
        call->context->size * call->arguments.count, call->arguments.type);

    packed.arguments.send = bounce.send;
    packed.arguments.receive = bounce.receive;
    if (rc == MPI_SUCCESS)
        rc = in && out ? gather_pack(&packed, size, in) : MPI_ERR_NO_MEM;
    rc = aps_allgather_run_bytes(call->context->other_collectives.gather, rc,
                                 in, out, size);
    if (rc == MPI_SUCCESS)
        rc = gather_unpack(&packed, size, out);
    rc = aps_bounce_end(&bounce, rc);
    free(in);
    free(out);
    return rc;
}

const struct aps_collective aps_collective_allgather = {
    .counted = APS_COUNTED_ALLGATHER,
    .nonblocking = "MPI_Iallgather",
    .is_eligible = gather_is_eligible,
    .pass = gather_pass,
    .start = gather_start,
    .count_elements = gather_count_elements,
    .number = aps_other_number,
    .note_passed = aps_other_note_passed,
    .measure = gather_measure,
    .describe = aps_other_describe,
    .prepare = aps_other_prepare,
    .agree = aps_other_agree_blocks,
    .hold = gather_hold,
    .release = gather_release,
    .run_unchanged = gather_run_unchanged,
    .run = gather_run,
    .reference = aps_other_reference_block,
    .merges = true,
};
