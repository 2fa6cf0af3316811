/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/direct.h"

#include <stdlib.h>
#include <string.h>

#include "block/accumulate.h"
#include "codec/workers.h"
#include "reduce/direct_devices.h"
#include "cut/exponent.h"
#include "cut/exchange.h"
#include "wire/pipeline_sizes.h"

/* The blocks of one chunk. */
struct blocks {
    unsigned char *outgoing; /* [size]: this rank's contribution to each
                              * slice */
    unsigned char *incoming; /* [size]: each rank's contribution to this rank's
                              * slice */
    unsigned char *results;  /* [size]: sum of every slice; `direct` alone */
};

/* Scratch in one kind of memory. */
struct scratch {
    float *sum; /* sum of this rank's slice */
    struct blocks blocks[APS_DIRECT_DEPTH];
};

/* The messages of one chunk. */
struct slot {
    struct aps_exchange contributions;
    struct aps_exchange results;
    struct aps_chunk chunk; /* `direct` alone */
};

struct aps_direct {
    struct aps_algorithm algorithm; /* `reduce: direct` as an algorithm */
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    int outcome; /* outcome of the call in progress */
    /* For `direct` alone: most bytes and most elements of a message. */
    size_t room;
    size_t elements;
    enum aps_pipeline_messages messages;
    struct slot slots[APS_DIRECT_DEPTH];
    struct scratch host;
    struct aps_blocks waiting;
    struct scratch device; /* allocated on first use, if possible */
    const struct aps_device_memory *verbs; /* verbs of the device memory, or
                                            * NULL */
    void *allocation;                      /* the whole allocation */
    int number;                            /* number of the device */
    struct aps_direct_devices *steps;      /* stages on the device */
    bool refused;
};

struct aps_direct *aps_direct_create(const struct aps_vcomm *vcomm,
                                     size_t elements, size_t bytes)
{
    struct aps_direct *direct = calloc(1, sizeof *direct);

    if (!direct)
        return NULL;
    direct->vcomm = vcomm;
    direct->rank = vcomm->rank;
    direct->size = vcomm->size;
    bytes *= (size_t)direct->size;
    direct->host.sum = malloc(elements * sizeof *direct->host.sum);
    if (!direct->host.sum)
        goto destroy;
    for (int i = 0; i < APS_DIRECT_DEPTH; i++) {
        struct slot *slot = &direct->slots[i];
        struct blocks *blocks = &direct->host.blocks[i];

        blocks->outgoing = malloc(bytes);
        blocks->incoming = malloc(bytes);
        if (!blocks->outgoing || !blocks->incoming ||
            aps_exchange_init(&slot->contributions, vcomm, APS_TAG_CONTRIBUTION,
                              &direct->outcome) < 0 ||
            aps_exchange_init(&slot->results, vcomm, APS_TAG_RESULT,
                              &direct->outcome) < 0)
            goto destroy;
    }
    return direct;

destroy:
    aps_direct_destroy(direct);
    return NULL;
}

/* Returns the bytes from one block to the next, for `direct` alone. */
static size_t direct_stride_alone(const struct aps_direct *direct)
{
    return aps_block_stride_bytes(direct->room);
}

void aps_direct_destroy(struct aps_direct *direct)
{
    if (!direct)
        return;
    for (int i = 0; i < APS_DIRECT_DEPTH; i++) {
        struct blocks *blocks = &direct->host.blocks[i];

        free(blocks->outgoing);
        free(blocks->incoming);
        free(blocks->results);
        aps_exchange_clear(&direct->slots[i].contributions);
        aps_exchange_clear(&direct->slots[i].results);
    }
    free(direct->host.sum);
    aps_direct_devices_destroy(direct->steps);
    if (direct->verbs)
        direct->verbs->release(direct->allocation);
    free(direct);
}

/* --- scratch on a device ------------------------------------------------- */

/* Allocates the sum and all blocks at once. Returns false if that fails. */
static bool direct_allocate_on_device(struct aps_direct *direct,
                                      const struct aps_memory *memory,
                                      const float *near, int device)
{
    const size_t blocks = (size_t)direct->size * direct_stride_alone(direct);
    const size_t sum = aps_block_stride_widest(direct->elements);
    unsigned char *next;

    direct->steps = aps_direct_devices_create(direct->rank, direct->size);
    direct->allocation = aps_direct_devices_allocate(
        direct->steps, aps_vcomm_rank(direct->vcomm, direct->rank),
        memory->device, near, sum + 3 * APS_DIRECT_DEPTH * blocks + 16);
    if (!direct->allocation)
        return false;
    direct->verbs = memory->device;
    direct->number = device;
    direct->device.sum = direct->allocation;
    next = (unsigned char *)direct->allocation + sum + APS_BLOCK_SKEW;
    for (int i = 0; i < APS_DIRECT_DEPTH; i++, next += 3 * blocks)
        direct->device.blocks[i] = (struct blocks){
            .outgoing = next,
            .incoming = next + blocks,
            .results = next + 2 * blocks,
        };
    return true;
}

/* True if the blocks of this call can be in the memory of the device that holds
 * its vectors. Ranks may decide differently, because the other ranks receive
 * the same bytes. */
static bool direct_goes_by_device(struct aps_direct *direct,
                                  const struct aps_wire *wire, const void *in,
                                  const void *out)
{
    int device;

    if (!wire->memory->device || wire->records ||
        !aps_device_takes(&wire->codec.format) ||
        wire->accumulate != APS_ACCUMULATE_FP32 || direct->refused ||
        !aps_device_mpi_is_aware())
        return false;
    device = aps_device_of(in, out);
    if (device < 0 || !aps_device_is_current(device))
        return false;
    if (!direct->verbs)
        direct->refused =
            !direct_allocate_on_device(direct, wire->memory, in, device);
    /* The program may have reset the device since the allocation. */
    if (!direct->refused && !direct->verbs->holds(direct->allocation))
        direct->refused = true;
    return !direct->refused && device == direct->number;
}

/* True if this rank's device has lost values of this call. No rank may get the
 * data in their place: the host sends zeros, which the other ranks add. */
static bool direct_is_lost(const struct aps_wire *wire)
{
    return wire->device && *wire->lost;
}

static struct scratch *direct_scratch_of(struct aps_direct *direct,
                                         const struct aps_wire *wire)
{
    return wire->device ? &direct->device : &direct->host;
}

/* --- the stages ---------------------------------------------------------- */

void aps_direct_begin(struct aps_direct *direct)
{
    direct->outcome = MPI_SUCCESS;
}

void aps_direct_fail(struct aps_direct *direct, int rc)
{
    if (direct->outcome == MPI_SUCCESS)
        direct->outcome = rc;
}

/* Argument of the exchange's callbacks: the cut of a chunk's results. */
struct shape {
    const struct aps_chunk *chunk;
    const struct aps_wire *wire;
    int size;
};

static size_t direct_slice_bytes(const void *state, int rank)
{
    const struct shape *shape = state;

    return aps_chunk_slice_bytes(shape->chunk, shape->wire, shape->size, rank);
}

/* Returns the address of this rank's values of a rank's slice; its own slice is
 * not sent. */
static unsigned char *direct_outgoing(const struct aps_direct *direct,
                                      const struct blocks *blocks, int owner,
                                      size_t stride)
{
    return (owner == direct->rank ? blocks->incoming : blocks->outgoing) +
           (size_t)owner * stride;
}

/* Encodes this rank's values of one rank's slice. */
static void direct_encode_slice(struct aps_direct *direct,
                                const struct aps_chunk *chunk, int owner,
                                const struct blocks *blocks)
{
    if (direct->outcome == MPI_SUCCESS)
        aps_chunk_encode_slice(
            chunk, &direct->waiting, direct->rank, direct->size, owner,
            direct_outgoing(direct, blocks, owner,
                            aps_chunk_scratch_stride(chunk)));
}

int aps_direct_send_contributions(struct aps_direct *direct,
                                  const struct aps_wire *wire, size_t k,
                                  const struct aps_chunk *chunk,
                                  struct aps_cost *cost)
{
    const size_t turn = k % APS_DIRECT_DEPTH;
    struct slot *slot = &direct->slots[turn];
    const struct blocks *blocks =
        &direct_scratch_of(direct, wire)->blocks[turn];
    const struct shape shape = {chunk, wire, direct->size};
    const size_t stride = aps_chunk_scratch_stride(chunk);
    const bool shared =
        aps_workers_prefer_list((size_t)direct->size, chunk->elements);
    const bool together =
        !wire->device && (shared || aps_chunk_waits_for_gpu(chunk));

    aps_exchange_receive_alike(&slot->contributions, blocks->incoming, stride,
                               direct_slice_bytes(&shape, direct->rank));
    aps_exchange_receive(&slot->results, chunk->blocks, chunk->stride,
                         direct_slice_bytes, &shape);
    aps_blocks_begin(&direct->waiting, wire, cost);
    direct->waiting.shared = shared;
    if (wire->device && direct->outcome == MPI_SUCCESS)
        aps_direct_devices_encode(direct->steps, wire, chunk, blocks->outgoing,
                                  blocks->incoming, cost);
    for (int i = 0; i < direct->size && together; i++)
        direct_encode_slice(direct, chunk, i, blocks);
    aps_blocks_run(&direct->waiting);
    for (int i = 1; i <= direct->size; i++) {
        const int peer = aps_exchange_peer(&slot->contributions, i);
        const size_t bytes = direct_slice_bytes(&shape, peer);
        unsigned char *to = direct_outgoing(direct, blocks, peer, stride);

        if (!wire->device && !together)
            direct_encode_slice(direct, chunk, peer, blocks);
        if (peer == direct->rank)
            continue;
        if (direct_is_lost(wire))
            to = memset(direct->host.blocks[turn].outgoing +
                            (size_t)peer * stride,
                        0, bytes);
        aps_exchange_send(&slot->contributions, peer, to, bytes);
    }
    return direct->outcome;
}

/* Sums and encodes this rank's slice. */
static void direct_sum_slice(const struct aps_direct *direct,
                             const struct aps_wire *wire,
                             const struct scratch *scratch,
                             const unsigned char *incoming,
                             const struct aps_chunk *chunk, unsigned char *to,
                             struct aps_cost *cost)
{
    const size_t stride = aps_chunk_scratch_stride(chunk);

    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_slice slice =
            aps_piece_slice(piece, direct->size, direct->rank);
        bool decoded;

        if (slice.length == 0)
            continue;
        (void)aps_accumulate_encode(
            wire, direct->size, incoming + piece->offset, stride,
            aps_piece_sum(piece, wire, slice, direct->rank), scratch->sum,
            to + piece->offset, NULL, &decoded);
        aps_cost_add(cost, wire, slice.length, direct->size - 1);
    }
}

int aps_direct_reduce_slice(struct aps_direct *direct,
                            const struct aps_wire *wire, size_t k,
                            const struct aps_chunk *chunk,
                            struct aps_cost *cost)
{
    const size_t turn = k % APS_DIRECT_DEPTH;
    struct slot *slot = &direct->slots[turn];
    const struct scratch *scratch = direct_scratch_of(direct, wire);
    const unsigned char *incoming = scratch->blocks[turn].incoming;
    const size_t bytes =
        aps_chunk_slice_bytes(chunk, wire, direct->size, direct->rank);
    unsigned char *to = chunk->blocks + (size_t)direct->rank * chunk->stride;
    int rc;

    aps_chunk_clear_gaps(chunk, to, bytes);
    rc = aps_exchange_wait(&slot->contributions);
    if (rc == MPI_SUCCESS && wire->device)
        aps_direct_devices_sum(direct->steps, wire, chunk, incoming,
                               scratch->sum, to, cost);
    else if (rc == MPI_SUCCESS)
        direct_sum_slice(direct, wire, scratch, incoming, chunk, to, cost);
    if (direct_is_lost(wire))
        to = memset(direct->host.blocks[turn].results, 0, bytes);
    aps_exchange_send_all(&slot->results, to, bytes);
    return direct->outcome;
}

int aps_direct_receive_results(struct aps_direct *direct, size_t k)
{
    return aps_exchange_wait(&direct->slots[k % APS_DIRECT_DEPTH].results);
}

/* --- the reduction ------------------------------------------------------- */

struct run {
    struct aps_direct *direct;
    struct aps_wire wire;
    bool lost; /* values that the device has lost */
    struct aps_chunks chunks;
    struct aps_cost *cost;
};

static struct aps_chunk *direct_chunk_of(const struct run *run, size_t k)
{
    return &run->direct->slots[k % APS_DIRECT_DEPTH].chunk;
}

static void direct_stage_send(void *state, size_t k)
{
    struct run *run = state;
    struct aps_direct *direct = run->direct;
    struct aps_chunk *chunk = direct_chunk_of(run, k);

    aps_chunk_next(&run->chunks, chunk);
    chunk->blocks = direct_scratch_of(direct, &run->wire)
                        ->blocks[k % APS_DIRECT_DEPTH]
                        .results;
    chunk->stride = aps_chunk_scratch_stride(chunk);
    (void)aps_direct_send_contributions(direct, &run->wire, k, chunk,
                                        run->cost);
}

static void direct_stage_reduce(void *state, size_t k)
{
    struct run *run = state;

    (void)aps_direct_reduce_slice(run->direct, &run->wire, k,
                                  direct_chunk_of(run, k), run->cost);
}

static void direct_stage_receive(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk *chunk = direct_chunk_of(run, k);

    if (aps_direct_receive_results(run->direct, k) != MPI_SUCCESS)
        return;
    if (run->wire.device)
        aps_direct_devices_decode(run->direct->steps, &run->wire, chunk);
    else
        aps_chunk_decode(chunk, &run->wire, run->direct->size,
                         &run->direct->waiting);
}

static size_t direct_message_elements(const struct aps_direct *direct,
                                      const struct aps_wire *wire)
{
    return aps_pipeline_elements_of(
        &wire->codec, direct->size,
        aps_wire_has_own_blocks(wire) ? APS_PIPELINE_HOST : direct->messages);
}

static int direct_run(struct aps_algorithm *algorithm,
                      const struct aps_plan *plan, const struct aps_wire *wire,
                      int count, struct aps_vector vectors[],
                      struct aps_cost *cost)
{
    struct aps_direct *direct = (struct aps_direct *)algorithm;
    static const struct aps_pipeline_stage stages[] = {
        {direct_stage_send, 0},
        {direct_stage_reduce, APS_PIPELINE_WIRE_LAG},
        {direct_stage_receive, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .direct = direct,
        .wire = *wire,
        .chunks = {.wire = &run.wire,
                   .vectors = vectors,
                   .count = count,
                   .length = (size_t)direct->size *
                             direct_message_elements(direct, wire),
                   .parts = direct->size,
                   .inner = 1},
        .cost = cost,
    };

    (void)plan;
    if (count == 1 &&
        direct_goes_by_device(direct, wire, vectors[0].in, vectors[0].out)) {
        run.wire.device = wire->memory->device;
        run.wire.lost = &run.lost;
    }
    aps_direct_begin(direct);
    direct->outcome =
        aps_exponent_vectors(direct->vcomm, wire, true, count, vectors, cost);
    aps_pipeline_run(aps_chunk_count(&run.chunks), 3, stages, &run);
    direct->refused |= run.lost;
    return direct->outcome;
}

static void direct_destroy(struct aps_algorithm *algorithm)
{
    aps_direct_destroy((struct aps_direct *)algorithm);
}

/* Local. Creates the reduction by itself, which also needs room for results.
 * Returns NULL if out of memory. */
static struct aps_direct *
direct_create_alone(const struct aps_algorithm_params *params)
{
    const struct aps_vcomm *vcomm = params->vcomm;
    const int ranks = vcomm->size;
    const enum aps_pipeline_messages messages =
        params->devices == APS_DEVICES_AWARE ? APS_PIPELINE_DEVICES
        : params->divides                    ? APS_PIPELINE_THREADS
                                             : APS_PIPELINE_HOST;
    const size_t room = aps_pipeline_room_of(ranks, params->granule, messages);
    const size_t bytes = aps_block_stride_bytes(room);
    const size_t elements = aps_codec_elements_max(room);
    struct aps_direct *direct = aps_direct_create(vcomm, elements, bytes);

    if (direct) {
        direct->room = room;
        direct->elements = elements;
        direct->messages = messages;
    }
    for (int i = 0; i < APS_DIRECT_DEPTH && direct; i++) {
        direct->host.blocks[i].results = malloc(bytes * (size_t)ranks);
        if (!direct->host.blocks[i].results) {
            aps_direct_destroy(direct);
            direct = NULL;
        }
    }
    return direct;
}

int aps_direct_algorithm(const struct aps_algorithm_params *params,
                         struct aps_algorithm **algorithm, char *cause,
                         size_t size)
{
    static const struct aps_algorithm_ops ops = {.run = direct_run,
                                                 .destroy = direct_destroy};
    struct aps_direct *direct = direct_create_alone(params);

    (void)cause;
    (void)size;
    if (!direct)
        return MPI_ERR_NO_MEM;
    direct->algorithm.ops = &ops;
    *algorithm = &direct->algorithm;
    return MPI_SUCCESS;
}
