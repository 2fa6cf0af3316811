/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "direct.h"

#include <stdlib.h>

#include "accumulate.h"
#include "exponent.h"
#include "messages.h"

enum { TAG_CONTRIBUTION = 1, TAG_RESULT = 2 };

/* Scratch of one chunk. */
struct slot {
    unsigned char *outgoing; /* [size]: our contribution to each slice */
    unsigned char *incoming; /* [size]: each rank's contribution to ours */
    struct aps_messages contributions;
    struct aps_messages results;
};

struct aps_direct {
    MPI_Comm comm;
    int rank;
    int size;
    float *sum; /* our slice */
    struct slot slots[APS_DIRECT_SLOTS];
    /* [size] a slot: every slice's sum, for `direct` alone. */
    unsigned char *results[APS_DIRECT_SLOTS];
};

struct aps_direct *aps_direct_create(MPI_Comm comm, size_t elements,
                                     size_t bytes)
{
    struct aps_direct *direct = calloc(1, sizeof *direct);

    if (!direct)
        return NULL;
    direct->comm = comm;
    PMPI_Comm_rank(comm, &direct->rank);
    PMPI_Comm_size(comm, &direct->size);
    bytes *= (size_t)direct->size;
    direct->sum = malloc(elements * sizeof *direct->sum);
    if (!direct->sum)
        goto destroy;
    for (int i = 0; i < APS_DIRECT_SLOTS; i++) {
        struct slot *slot = &direct->slots[i];

        slot->outgoing = malloc(bytes);
        slot->incoming = malloc(bytes);
        if (!slot->outgoing || !slot->incoming ||
            aps_messages_init(&slot->contributions, comm, 2 * direct->size) <
                0 ||
            aps_messages_init(&slot->results, comm, 2 * direct->size) < 0)
            goto destroy;
    }
    return direct;

destroy:
    aps_direct_destroy(direct);
    return NULL;
}

struct aps_direct *aps_direct_create_alone(MPI_Comm comm)
{
    struct aps_direct *direct;
    size_t bytes;
    int ranks;

    PMPI_Comm_size(comm, &ranks);
    bytes = aps_block_stride_bytes(aps_pipeline_bytes(ranks));
    direct = aps_direct_create(comm, aps_pipeline_elements(2, ranks), bytes);
    for (int i = 0; i < APS_DIRECT_SLOTS && direct; i++) {
        direct->results[i] = malloc(bytes * (size_t)ranks);
        if (!direct->results[i]) {
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
        free(direct->slots[i].outgoing);
        free(direct->slots[i].incoming);
        aps_messages_clear(&direct->slots[i].contributions);
        aps_messages_clear(&direct->slots[i].results);
        free(direct->results[i]);
    }
    free(direct->sum);
    free(direct);
}

int aps_direct_offer(struct aps_direct *direct, const struct aps_wire *wire,
                     size_t k, const struct aps_chunk *chunk,
                     struct aps_cost *cost)
{
    struct slot *slot = &direct->slots[k % APS_DIRECT_SLOTS];
    const int size = direct->size;
    const size_t n = chunk->n;
    const size_t stride =
        aps_block_stride(wire, aps_slice_longest(n, size));
    const size_t own = aps_block_bytes(
        wire, aps_slice_of(n, size, direct->rank).length);

    for (int i = 1; i < size; i++) {
        int peer = (direct->rank + size - i) % size;

        aps_messages_receive(&slot->contributions,
                             slot->incoming + (size_t)peer * stride, own, peer,
                             TAG_CONTRIBUTION);
        aps_messages_receive(
            &slot->results, chunk->blocks + (size_t)peer * chunk->stride,
            aps_block_bytes(wire, aps_slice_of(n, size, peer).length), peer,
            TAG_RESULT);
    }
    for (int i = 1; i <= size; i++) {
        int peer = (direct->rank + i) % size;
        struct aps_slice slice = aps_slice_of(n, size, peer);
        bool ours = peer == direct->rank;
        unsigned char *block =
            (ours ? slot->incoming : slot->outgoing) + (size_t)peer * stride;

        if (slice.length == 0)
            continue;
        aps_cost_note(cost, aps_block_encode(wire, chunk->memory,
                                             chunk->in + slice.begin,
                                             slice.length, chunk->exponent,
                                             block));
        if (ours)
            continue;
        aps_messages_send(&slot->contributions, block,
                          aps_block_bytes(wire, slice.length), peer,
                          TAG_CONTRIBUTION);
        aps_cost_add(cost, wire, slice.length, 1);
    }
    return slot->contributions.rc != MPI_SUCCESS ? slot->contributions.rc
                                                 : slot->results.rc;
}

int aps_direct_turn(struct aps_direct *direct, const struct aps_wire *wire,
                    size_t k, const struct aps_chunk *chunk,
                    struct aps_cost *cost)
{
    struct slot *slot = &direct->slots[k % APS_DIRECT_SLOTS];
    const int size = direct->size;
    const size_t n = chunk->n;
    const struct aps_slice own = aps_slice_of(n, size, direct->rank);
    unsigned char *block =
        chunk->blocks + (size_t)direct->rank * chunk->stride;
    const bool tight = wire->scale == APS_SCALE_APS_TIGHT;
    struct aps_magnitude magnitude = {0, false};
    int rc = aps_messages_wait(&slot->contributions);

    if (rc != MPI_SUCCESS || own.length == 0)
        return rc;
    aps_accumulate(wire, size, slot->incoming,
                   aps_block_stride(wire, aps_slice_longest(n, size)),
                   own.length, direct->sum, tight ? &magnitude : NULL);
    aps_block_encode_known(wire, &aps_memory_host, direct->sum, own.length,
                           magnitude, chunk->exponent, block);
    for (int i = 1; i < size; i++)
        aps_messages_send(&slot->results, block,
                          aps_block_bytes(wire, own.length),
                          (direct->rank + i) % size, TAG_RESULT);
    aps_cost_add(cost, wire, own.length, size - 1);
    return slot->results.rc;
}

int aps_direct_finish(struct aps_direct *direct, size_t k)
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
    const struct aps_wire *wire;
    const float *in;
    float *out;
    size_t n;
    size_t chunk; /* elements */
    int exponent;
    struct aps_cost *cost;
    int rc; /* the first error: nothing is done after it */
};

static struct aps_chunk chunk_of(const struct run *run, size_t k)
{
    const struct aps_direct *direct = run->direct;
    const size_t n = aps_chunk_length(run->n, run->chunk, k);

    return (struct aps_chunk){
        .in = run->in + k * run->chunk,
        .memory = run->wire->memory,
        .n = n,
        .exponent = run->exponent,
        .blocks = direct->results[k % APS_DIRECT_SLOTS],
        .stride =
            aps_block_stride(run->wire, aps_slice_longest(n, direct->size)),
    };
}

static void offer(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = chunk_of(run, k);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_offer(run->direct, run->wire, k, &chunk, run->cost);
}

static void turn(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = chunk_of(run, k);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_turn(run->direct, run->wire, k, &chunk, run->cost);
}

static void finish(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_chunk chunk = chunk_of(run, k);
    float *out = run->out + k * run->chunk;

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_direct_finish(run->direct, k);
    if (run->rc == MPI_SUCCESS)
        aps_blocks_decode(run->wire, run->wire->memory, run->direct->size,
                          chunk.blocks, chunk.stride, chunk.n, out);
}

int aps_direct_run(struct aps_direct *direct, const struct aps_wire *wire,
                   const float *in, float *out, size_t n,
                   struct aps_cost *cost)
{
    static const struct aps_stage stages[] = {
        {offer, 0},
        {turn, APS_PIPELINE_WIRE_LAG},
        {finish, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .direct = direct,
        .wire = wire,
        .in = in,
        .out = out,
        .n = n,
        .chunk = (size_t)direct->size *
                 aps_pipeline_elements(wire->codec.format.width,
                                       direct->size),
        .cost = cost,
    };

    run.rc = aps_exponent_agree(direct->comm, wire, in, n, &run.exponent);
    aps_pipeline_run((n + run.chunk - 1) / run.chunk, 3, stages, &run);
    if (run.rc != MPI_SUCCESS)
        aps_direct_cancel(direct);
    return run.rc;
}
