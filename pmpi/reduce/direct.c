/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/accumulate.h"
#include "base/message.h"
#include "reduce/exponent.h"
#include "progress/messages.h"

/* The blocks of one chunk. */
struct blocks {
    unsigned char *outgoing; /* [size]: our contribution to each slice */
    unsigned char *incoming; /* [size]: each rank's contribution to ours */
    unsigned char *results;  /* [size]: every slice's sum, for `direct` alone */
};

/* In one kind of memory. */
struct scratch {
    float *sum; /* our slice */
    struct blocks blocks[APS_DIRECT_SLOTS];
};

/* The messages of one chunk. */
struct slot {
    struct aps_messages contributions;
    struct aps_messages results;
};

struct aps_direct {
    struct aps_algorithm algorithm; /* of aps_direct_algorithm */
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    size_t message; /* bytes of packed values, for `direct` alone */
    struct slot slots[APS_DIRECT_SLOTS];
    struct scratch host;
    struct scratch device; /* as soon as it is needed, if it can be had */
    const struct aps_device_memory *verbs; /* that it is of, or NULL */
    void *allocation;                      /* all of it */
    int number;                            /* of the device */
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
    for (int i = 0; i < APS_DIRECT_SLOTS; i++) {
        struct slot *slot = &direct->slots[i];
        struct blocks *blocks = &direct->host.blocks[i];

        blocks->outgoing = malloc(bytes);
        blocks->incoming = malloc(bytes);
        if (!blocks->outgoing || !blocks->incoming ||
            aps_messages_init(&slot->contributions, vcomm, 2 * direct->size) <
                0 ||
            aps_messages_init(&slot->results, vcomm, 2 * direct->size) < 0)
            goto destroy;
    }
    return direct;

destroy:
    aps_direct_destroy(direct);
    return NULL;
}

/* Between the blocks of `direct` alone. */
static size_t direct_stride_alone(const struct aps_direct *direct)
{
    return aps_block_stride_bytes(direct->message);
}

struct aps_direct *aps_direct_create_alone(const struct aps_vcomm *vcomm,
                                           enum aps_devices devices)
{
    struct aps_direct *direct;
    size_t message, bytes;
    int ranks;

    ranks = vcomm->size;
    message = devices == APS_DEVICES_AWARE
                  ? aps_pipeline_bytes_of_devices(ranks)
                  : aps_pipeline_bytes(ranks);
    bytes = aps_block_stride_bytes(message);
    direct =
        aps_direct_create(vcomm, aps_pipeline_elements_in(message, 2), bytes);
    if (direct)
        direct->message = message;
    for (int i = 0; i < APS_DIRECT_SLOTS && direct; i++) {
        direct->host.blocks[i].results = malloc(bytes * (size_t)ranks);
        if (!direct->host.blocks[i].results) {
            aps_direct_destroy(direct);
            direct = NULL;
        }
    }
    return direct;
}

void aps_direct_destroy(struct aps_direct *direct)
{
    if (!direct)
        return;
    for (int i = 0; i < APS_DIRECT_SLOTS; i++) {
        struct blocks *blocks = &direct->host.blocks[i];

        free(blocks->outgoing);
        free(blocks->incoming);
        free(blocks->results);
        aps_messages_clear(&direct->slots[i].contributions);
        aps_messages_clear(&direct->slots[i].results);
    }
    free(direct->host.sum);
    if (direct->verbs)
        direct->verbs->release(direct->allocation);
    free(direct);
}

/* --- scratch on a device ------------------------------------------------- */

/* One allocation: the sum, then all blocks. */
static bool direct_allocate_on_device(struct aps_direct *direct,
                                      const struct aps_memory *memory,
                                      const float *near, int device)
{
    const size_t blocks = (size_t)direct->size * direct_stride_alone(direct);
    const size_t sum = aps_block_stride_bytes(
        aps_pipeline_elements_in(direct->message, 2) * sizeof(float));
    char cause[256];
    unsigned char *next;

    direct->allocation = memory->device->allocate(
        near, sum + 3 * APS_DIRECT_SLOTS * blocks + 16, cause, sizeof cause);
    if (direct->allocation &&
        memory->device->try(direct->allocation, cause, sizeof cause) < 0) {
        memory->device->release(direct->allocation);
        direct->allocation = NULL;
    }
    if (!direct->allocation) {
        aps_message(direct->rank,
                    "no wire bytes in the GPU's memory: %s: MPI gets them in "
                    "the host's",
                    cause);
        return false;
    }
    direct->verbs = memory->device;
    direct->number = device;
    direct->device.sum = direct->allocation;
    next = (unsigned char *)direct->allocation + sum + APS_BLOCK_SKEW;
    for (int i = 0; i < APS_DIRECT_SLOTS; i++, next += 3 * blocks)
        direct->device.blocks[i] = (struct blocks){
            .outgoing = next,
            .incoming = next + blocks,
            .results = next + 2 * blocks,
        };
    return true;
}

/* May the blocks of this call be in the memory of the device that its vectors
 * are in? A matter of this rank alone: the others receive the same bytes. */
static bool direct_goes_by_device(struct aps_direct *direct,
                                  const struct aps_wire *wire, const float *in,
                                  const float *out)
{
    int device;

    if (!wire->memory->device || wire->accumulate != APS_ACCUMULATE_FP32 ||
        direct->refused || !aps_device_mpi_is_aware())
        return false;
    device = aps_device_of(in, out);
    if (device < 0 || !aps_device_is_current(device))
        return false;
    if (!direct->verbs)
        direct->refused =
            !direct_allocate_on_device(direct, wire->memory, in, device);
    return !direct->refused && device == direct->number;
}

/* Has this rank's device lost values of this call? What is there in their place
 * nobody must get: zeros, from the host, are what the others count. */
static bool direct_is_lost(const struct aps_wire *wire)
{
    return wire->device && *wire->lost;
}

static unsigned char *direct_zeros(const struct aps_wire *wire, size_t n,
                                   unsigned char *block)
{
    memset(block, 0, aps_block_bytes(wire, n));
    return block;
}

static struct scratch *direct_scratch_of(struct aps_direct *direct,
                                         const struct aps_wire *wire)
{
    return wire->device ? &direct->device : &direct->host;
}

/* --- the stages ---------------------------------------------------------- */

int aps_direct_send_contributions(struct aps_direct *direct,
                                  const struct aps_wire *wire, size_t k,
                                  const struct aps_chunk *chunk,
                                  struct aps_cost *cost)
{
    struct slot *slot = &direct->slots[k % APS_DIRECT_SLOTS];
    const struct blocks *blocks =
        &direct_scratch_of(direct, wire)->blocks[k % APS_DIRECT_SLOTS];
    const int size = direct->size;
    const size_t n = chunk->n;
    const size_t stride = aps_block_stride(wire, aps_slice_longest(n, size));
    const size_t own =
        aps_block_bytes(wire, aps_slice_of(n, size, direct->rank).length);

    for (int i = 1; i < size; i++) {
        int peer = (direct->rank + size - i) % size;

        aps_messages_receive(&slot->contributions,
                             blocks->incoming + (size_t)peer * stride, own,
                             peer, APS_TAG_CONTRIBUTION);
        aps_messages_receive(
            &slot->results, chunk->blocks + (size_t)peer * chunk->stride,
            aps_block_bytes(wire, aps_slice_of(n, size, peer).length), peer,
            APS_TAG_RESULT);
    }
    for (int i = 1; i <= size; i++) {
        int peer = (direct->rank + i) % size;
        struct aps_slice slice = aps_slice_of(n, size, peer);
        bool ours = peer == direct->rank;
        unsigned char *block = (ours ? blocks->incoming : blocks->outgoing) +
                               (size_t)peer * stride;

        if (slice.length == 0)
            continue;
        aps_cost_note(
            cost, aps_block_encode(wire, chunk->memory, chunk->in + slice.begin,
                                   slice.length, chunk->exponent, block));
        if (ours)
            continue;
        if (direct_is_lost(wire))
            block = direct_zeros(
                wire, slice.length,
                direct->host.blocks[k % APS_DIRECT_SLOTS].outgoing +
                    (size_t)peer * stride);
        aps_messages_send(&slot->contributions, block,
                          aps_block_bytes(wire, slice.length), peer,
                          APS_TAG_CONTRIBUTION);
        aps_cost_add(cost, wire, slice.length, 1);
    }
    return slot->contributions.rc != MPI_SUCCESS ? slot->contributions.rc
                                                 : slot->results.rc;
}

int aps_direct_reduce_slice(struct aps_direct *direct,
                            const struct aps_wire *wire, size_t k,
                            const struct aps_chunk *chunk,
                            struct aps_cost *cost)
{
    struct slot *slot = &direct->slots[k % APS_DIRECT_SLOTS];
    const int size = direct->size;
    const size_t n = chunk->n;
    const struct aps_slice own = aps_slice_of(n, size, direct->rank);
    unsigned char *block = chunk->blocks + (size_t)direct->rank * chunk->stride;
    const bool tight = wire->scale == APS_SCALE_APS_TIGHT;
    struct scratch *scratch = direct_scratch_of(direct, wire);
    const unsigned char *incoming =
        scratch->blocks[k % APS_DIRECT_SLOTS].incoming;
    const size_t stride = aps_block_stride(wire, aps_slice_longest(n, size));
    struct aps_magnitude magnitude = {0, false};
    int rc = aps_messages_wait(&slot->contributions);

    if (rc != MPI_SUCCESS || own.length == 0)
        return rc;
    aps_accumulate(wire, size, incoming, stride, own.length, scratch->sum,
                   tight ? &magnitude : NULL);
    aps_block_encode_known(wire, &aps_memory_host, scratch->sum, own.length,
                           magnitude, chunk->exponent, block);
    if (direct_is_lost(wire))
        block = direct_zeros(wire, own.length,
                             direct->host.blocks[k % APS_DIRECT_SLOTS].results);
    for (int i = 1; i < size; i++)
        aps_messages_send(&slot->results, block,
                          aps_block_bytes(wire, own.length),
                          (direct->rank + i) % size, APS_TAG_RESULT);
    aps_cost_add(cost, wire, own.length, size - 1);
    return slot->results.rc;
}

int aps_direct_receive_results(struct aps_direct *direct, size_t k)
{
    return aps_messages_wait(&direct->slots[k % APS_DIRECT_SLOTS].results);
}

void aps_direct_cancel(struct aps_direct *direct)
{
    for (int i = 0; i < APS_DIRECT_SLOTS; i++) {
        aps_messages_cancel(&direct->slots[i].contributions);
        aps_messages_cancel(&direct->slots[i].results);
    }
}

/* --- the reduction ------------------------------------------------------- */

struct run {
    struct aps_direct *direct;
    struct aps_wire wire;
    bool lost; /* by the device */
    const float *in;
    float *out;
    size_t n;
    size_t chunk; /* elements */
    int exponent;
    struct aps_cost *cost;
    int rc; /* the first error: nothing is done after it */
};

static struct aps_chunk direct_chunk_of(const struct run *run, size_t k)
{
    const struct aps_direct *direct = run->direct;
    const size_t n = aps_chunk_length(run->n, run->chunk, k);

    return (struct aps_chunk){
        .in = run->in + k * run->chunk,
        .memory = run->wire.memory,
        .n = n,
        .exponent = run->exponent,
        .blocks = direct_scratch_of(run->direct, &run->wire)
                      ->blocks[k % APS_DIRECT_SLOTS]
                      .results,
        .stride =
            aps_block_stride(&run->wire, aps_slice_longest(n, direct->size)),
    };
}

static void direct_offer(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = direct_chunk_of(run, k);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_send_contributions(run->direct, &run->wire, k,
                                                &chunk, run->cost);
}

static void direct_turn(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = direct_chunk_of(run, k);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_reduce_slice(run->direct, &run->wire, k, &chunk,
                                          run->cost);
}

static void direct_finish(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = direct_chunk_of(run, k);
    float *out = run->out + k * run->chunk;

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_receive_results(run->direct, k);
    if (run->rc == MPI_SUCCESS)
        aps_blocks_decode(&run->wire, run->wire.memory, run->direct->size,
                          chunk.blocks, chunk.stride, chunk.n, out);
}

static size_t direct_message_elements(const struct aps_direct *direct,
                                      const struct aps_wire *wire)
{
    const size_t bytes = aps_wire_has_own_blocks(wire)
                             ? aps_pipeline_bytes(direct->size)
                             : direct->message;

    return aps_pipeline_elements_in(bytes, wire->codec.format.width);
}

int aps_direct_run(struct aps_direct *direct, const struct aps_wire *wire,
                   const float *in, float *out, size_t n, struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {direct_offer, 0},
        {direct_turn, APS_PIPELINE_WIRE_LAG},
        {direct_finish, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .direct = direct,
        .wire = *wire,
        .in = in,
        .out = out,
        .n = n,
        .chunk = (size_t)direct->size * direct_message_elements(direct, wire),
        .cost = cost,
    };

    if (direct_goes_by_device(direct, wire, in, out)) {
        run.wire.device = wire->memory->device;
        run.wire.lost = &run.lost;
    }
    run.rc = aps_exponent_agree(direct->vcomm, wire, in, n, &run.exponent);
    aps_pipeline_run((n + run.chunk - 1) / run.chunk, 3, stages, &run);
    if (run.rc != MPI_SUCCESS)
        aps_direct_cancel(direct);
    direct->refused |= run.lost;
    return run.rc;
}

static int direct_run(struct aps_algorithm *algorithm,
                      const struct aps_plan *plan, const struct aps_wire *wire,
                      const float *in, float *out, size_t n,
                      struct aps_cost *cost)
{
    (void)plan;
    return aps_direct_run((struct aps_direct *)algorithm, wire, in, out, n,
                          cost);
}

static void direct_destroy(struct aps_algorithm *algorithm)
{
    aps_direct_destroy((struct aps_direct *)algorithm);
}

struct aps_algorithm *
aps_direct_algorithm(const struct aps_algorithm_site *site, char *cause,
                     size_t size)
{
    static const struct aps_algorithm_ops ops = {direct_run, direct_destroy};
    struct aps_direct *direct =
        aps_direct_create_alone(site->vcomm, site->devices);

    if (!direct) {
        snprintf(cause, size, "out of memory for reduce: direct");
        return NULL;
    }
    direct->algorithm.ops = &ops;
    return &direct->algorithm;
}
