/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Bcast and MPI_Ibcast.
 *
 * The root encodes, and all ranks, including the root, decode: the root's
 * buffer is rounded, so that all ranks hold the same bits. MPI does not write
 * the root's buffer, and a program may broadcast from memory that it cannot
 * write; such a call is not rewritten. Only the root knows that, and ranks may
 * describe the elements by different types, as in an all-gather. So the ranks
 * agree at every call.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/writable.h"
#include "collective/derived.h"
#include "collective/common.h"
#include "call/signature.h"

/* True if this rank sends. On an intercommunicator the root passes MPI_ROOT. */
static bool bcast_sends(const struct aps_call_arguments *arguments)
{
    int rank = MPI_PROC_NULL, inter = 0;

    PMPI_Comm_rank(arguments->comm, &rank);
    PMPI_Comm_test_inter(arguments->comm, &inter);
    return arguments->root == (inter ? MPI_ROOT : rank);
}

/* Returns the buffer for MPI. A bounce buffer replaces `send` on the root, and
 * `receive` on other ranks. */
static void *bcast_buffer(const struct aps_call_arguments *arguments)
{
    return arguments->send == arguments->receive || !bcast_sends(arguments)
               ? arguments->receive
               : (void *)(uintptr_t)arguments->send;
}

static int bcast_pass(const struct aps_call_arguments *arguments)
{
    return APS_NEXT_CALL(arguments->large, Bcast, bcast_buffer(arguments),
                         arguments->count, arguments->type, arguments->root,
                         arguments->comm);
}

static int bcast_start(const struct aps_call_arguments *arguments,
                       MPI_Request *request)
{
    return APS_NEXT_CALL(arguments->large, Ibcast, bcast_buffer(arguments),
                         arguments->count, arguments->type, arguments->root,
                         arguments->comm, request);
}

/* In the root's group of an intercommunicator the other ranks take no part. */
static void bcast_count_elements(const struct aps_call_arguments *arguments,
                                 MPI_Count *sent, MPI_Count *received)
{
    const bool sends = bcast_sends(arguments);

    *sent = sends ? arguments->count : 0;
    *received =
        sends || arguments->root == MPI_PROC_NULL ? 0 : arguments->count;
}

static bool bcast_is_eligible(const struct aps_job *job,
                              const struct aps_call_arguments *arguments)
{
    int size;

    return arguments->count >= 0 &&
           aps_signature_of(job, arguments->type).count > 0 &&
           aps_abi_is_communicator(arguments->comm) &&
           PMPI_Comm_size(arguments->comm, &size) == MPI_SUCCESS &&
           arguments->root >= 0 && arguments->root < size &&
           !(arguments->form != APS_BLOCKING && arguments->count > 0 &&
             aps_derived_is_missing(job, arguments->receive, arguments->type));
}

static bool bcast_measure(const struct aps_call *call, struct aps_layer *layer)
{
    const struct aps_job *job = call->context->job;
    const struct aps_signature values =
        aps_signature_of(job, call->arguments.type);
    const bool root = call->context->rank == call->arguments.root;

    *layer = (struct aps_layer){.key.element = values.element,
                                .in = call->arguments.receive,
                                .out = call->arguments.receive};
    if (call->arguments.root < 0 ||
        call->arguments.root >= call->context->size ||
        !aps_other_elements(call->arguments.count, (MPI_Count)values.count,
                            &layer->count))
        return false;
    layer->own = root ? layer->count : 0;
    layer->good = aps_call_takes_type(job, call->arguments.type) &&
                  call->arguments.receive;
    return true;
}

/* The root checks that it can write its values. GPUs have no read-only
 * memory. */
static void bcast_agree(struct aps_call *call, struct aps_layer *layer,
                        bool *good)
{
    if (layer->own > 0 && layer->good && !call->gpu.receive &&
        !aps_memory_is_writable(layer->out,
                                layer->own * layer->memory->element))
        layer->good = false;
    aps_other_agree_blocks(call, layer, good);
}

static int bcast_run(struct aps_call *call, const struct aps_layer *layer,
                     struct aps_cost *cost)
{
    const struct aps_wire wire = aps_other_wire(call, layer);

    return aps_broadcast_run(call->context->other_collectives.broadcast, &wire,
                             call->arguments.root, layer->rc, layer->exponent,
                             layer->out, layer->count, cost);
}

/* --- unchanged ----------------------------------------------------------- */

static int bcast_hold(struct aps_call_arguments *arguments)
{
    const void *buffer = arguments->receive;
    int rc;

    if (aps_call_takes_type(aps_job(), arguments->type))
        return MPI_SUCCESS;
    rc = aps_derived_hold(&buffer, &arguments->type);
    if (rc == MPI_SUCCESS)
        arguments->send = arguments->receive = (void *)(uintptr_t)buffer;
    return rc;
}

static void bcast_release(struct aps_call_arguments *arguments)
{
    if (!aps_call_takes_type(aps_job(), arguments->type))
        PMPI_Type_free(&arguments->type);
}

/* If this rank fails, the call fails on all ranks that it sends to: they get
 * empty messages. MPI packs in host memory. The program's communicator may be
 * freed. */
static int bcast_run_unchanged(struct aps_call *call,
                               const struct aps_layer *layer)
{
    const struct aps_vcomm *vcomm =
        aps_comm_resources_vcomm(call->context->resources);
    const bool root = call->context->rank == call->arguments.root;
    const size_t size = layer->count * layer->memory->element;
    unsigned char *bytes = malloc(size);
    struct aps_bounce bounce;
    int rc = aps_bounce_begin(
        &bounce, aps_call_function(call), vcomm->comm, call->gpu,
        call->arguments.send, root ? call->arguments.count : 0,
        call->arguments.type, call->arguments.receive,
        root ? 0 : call->arguments.count, call->arguments.type);

    if (rc == MPI_SUCCESS && !bytes)
        rc = MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS && root)
        rc = aps_derived_pack(bounce.send, call->arguments.count,
                              call->arguments.type, bytes, size, vcomm->comm);
    rc = aps_broadcast_run_bytes(call->context->other_collectives.broadcast,
                                 call->arguments.root, rc, bytes, size);
    if (rc == MPI_SUCCESS && !root)
        rc = aps_derived_unpack(bytes, size, bounce.receive,
                                call->arguments.count, call->arguments.type,
                                vcomm->comm);
    rc = aps_bounce_end(&bounce, rc);
    free(bytes);
    return rc;
}

const struct aps_collective aps_collective_bcast = {
    .counted = APS_COUNTED_BCAST,
    .nonblocking = "MPI_Ibcast",
    .is_eligible = bcast_is_eligible,
    .pass = bcast_pass,
    .start = bcast_start,
    .count_elements = bcast_count_elements,
    .number = aps_other_number,
    .note_passed = aps_other_note_passed,
    .measure = bcast_measure,
    .describe = aps_other_describe,
    .prepare = aps_other_prepare,
    .agree = bcast_agree,
    .hold = bcast_hold,
    .release = bcast_release,
    .run_unchanged = bcast_run_unchanged,
    .run = bcast_run,
    .reference = aps_other_reference_block,
    .merges = true,
};
