/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "gather/broadcast.h"

#include <stdlib.h>
#include <string.h>

#include "base/size_min.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "cut/exchange.h"
#include "cut/pipeline.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one chunk, from the root's blocks on; its blocks pass two
 * exchanges, like the blocks of `direct`. */
struct slot {
    unsigned char *blocks; /* [ranks]: block from the rank that sends it; on the
                            * root, block for the rank that gets it */
    struct aps_exchange slices; /* from the root to the owners */
    struct aps_exchange rest;   /* among the ranks other than the root */
};

struct aps_broadcast {
    int rank;
    int ranks;
    int outcome;   /* outcome of the call in progress */
    size_t stride; /* most bytes from one slot to the next */
    struct aps_blocks waiting;
    struct slot slots[APS_DIRECT_DEPTH];
};

struct aps_broadcast *aps_broadcast_create(const struct aps_vcomm *vcomm,
                                           size_t granule)
{
    const size_t stride =
        aps_block_stride_bytes(aps_pipeline_room(vcomm->size, granule));
    struct aps_broadcast *broadcast = calloc(1, sizeof *broadcast);

    if (!broadcast)
        return NULL;
    broadcast->rank = vcomm->rank;
    broadcast->ranks = vcomm->size;
    broadcast->stride = stride;
    for (int i = 0; i < APS_DIRECT_DEPTH; i++) {
        struct slot *slot = &broadcast->slots[i];

        slot->blocks = malloc(stride * (size_t)broadcast->ranks);
        if (!slot->blocks ||
            aps_exchange_init(&slot->slices, vcomm, APS_TAG_CONTRIBUTION,
                              &broadcast->outcome) < 0 ||
            aps_exchange_init(&slot->rest, vcomm, APS_TAG_RESULT,
                              &broadcast->outcome) < 0) {
            aps_broadcast_destroy(broadcast);
            return NULL;
        }
    }
    return broadcast;
}

void aps_broadcast_destroy(struct aps_broadcast *broadcast)
{
    if (!broadcast)
        return;
    for (int i = 0; i < APS_DIRECT_DEPTH; i++) {
        free(broadcast->slots[i].blocks);
        aps_exchange_clear(&broadcast->slots[i].slices);
        aps_exchange_clear(&broadcast->slots[i].rest);
    }
    free(broadcast);
}

struct run {
    struct aps_broadcast *broadcast;
    const struct aps_wire *wire;
    int root;
    void *x;
    size_t n;
    size_t chunk; /* elements of all slices together */
    int exponent;
    struct aps_cost *cost;
};

static struct slot *broadcast_slot(const struct run *run, size_t k)
{
    return &run->broadcast->slots[k % APS_DIRECT_DEPTH];
}

/* Returns the slice of chunk k that rank `owner`, which is not the root, passes
 * on. */
static struct aps_slice broadcast_slice(const struct run *run, int owner,
                                        size_t k)
{
    const int ranks = run->broadcast->ranks;
    const int number = (owner + ranks - run->root - 1) % ranks;
    struct aps_slice slice =
        aps_slice_of(aps_chunk_length(run->n, run->chunk, k),
                     aps_codec_granule(&run->wire->codec), ranks - 1, number);

    slice.begin += k * run->chunk;
    return slice;
}

static size_t broadcast_slice_bytes(const struct run *run, int owner, size_t k)
{
    return aps_block_bytes(run->wire, broadcast_slice(run, owner, k).length);
}

/* Returns this rank's copy of an owner's block; its own block came from the
 * root. */
static unsigned char *broadcast_block(const struct run *run, int owner,
                                      size_t k)
{
    const struct aps_broadcast *broadcast = run->broadcast;
    const int place = owner == broadcast->rank ? run->root : owner;

    return broadcast_slot(run, k)->blocks + (size_t)place * broadcast->stride;
}

/* Argument of the exchange's callbacks. */
struct shape {
    const struct run *run;
    size_t k;
};

static size_t broadcast_from_root(const void *state, int rank)
{
    const struct shape *shape = state;
    const struct run *run = shape->run;

    return rank == run->root
               ? broadcast_slice_bytes(run, run->broadcast->rank, shape->k)
               : 0;
}

static size_t broadcast_from_others(const void *state, int rank)
{
    const struct shape *shape = state;

    return rank == shape->run->root
               ? 0
               : broadcast_slice_bytes(shape->run, rank, shape->k);
}

/* Local. The root encodes an owner's slice. */
static void broadcast_encode_slice(const struct run *run, int owner, size_t k)
{
    struct aps_broadcast *broadcast = run->broadcast;
    const struct aps_slice slice = broadcast_slice(run, owner, k);
    const struct aps_block block = {
        .memory = run->wire->memory,
        .x = aps_memory_at(run->wire->memory, run->x, slice.begin),
        .n = slice.length,
        .number = run->wire->number,
        .first = slice.begin,
        .stage = run->wire->stage,
        .rank = run->root,
        .ranks = 1,
        .exponent = run->exponent,
    };

    if (slice.length > 0 && broadcast->outcome == MPI_SUCCESS)
        aps_blocks_encode(&broadcast->waiting, &block,
                          broadcast_block(run, owner, k));
}

/* The root sends all owners their slices. Blocks in host memory are sent as
 * soon as they are encoded. */
static void broadcast_send_slices(const struct run *run, size_t k)
{
    struct aps_broadcast *broadcast = run->broadcast;
    struct slot *slot = broadcast_slot(run, k);
    const bool together = run->wire->memory->run;

    aps_blocks_begin(&broadcast->waiting, run->wire, run->cost);
    for (int owner = 0; owner < broadcast->ranks && together; owner++) {
        if (owner != run->root)
            broadcast_encode_slice(run, owner, k);
    }
    aps_blocks_run(&broadcast->waiting);
    for (int i = 1; i < broadcast->ranks; i++) {
        const int owner = aps_exchange_peer(&slot->slices, i);
        const size_t n = broadcast_slice(run, owner, k).length;

        if (!together)
            broadcast_encode_slice(run, owner, k);
        aps_exchange_send(&slot->slices, owner, broadcast_block(run, owner, k),
                          aps_block_bytes(run->wire, n));
        aps_cost_add(run->cost, run->wire, n, 1);
    }
}

static void broadcast_offer(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_broadcast *broadcast = run->broadcast;
    struct slot *slot = broadcast_slot(run, k);
    const struct shape shape = {run, k};

    if (broadcast->rank != run->root) {
        aps_exchange_receive(&slot->slices, slot->blocks, broadcast->stride,
                             broadcast_from_root, &shape);
        aps_exchange_receive(&slot->rest, slot->blocks, broadcast->stride,
                             broadcast_from_others, &shape);
        return;
    }
    broadcast_send_slices(run, k);
}

static void broadcast_pass_on(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_broadcast *broadcast = run->broadcast;
    const int rank = broadcast->rank;
    struct slot *slot = broadcast_slot(run, k);

    (void)aps_exchange_wait(&slot->slices);
    if (rank == run->root)
        return;
    for (int i = 1; i < broadcast->ranks; i++) {
        const int peer = aps_exchange_peer(&slot->rest, i);

        if (peer != run->root)
            aps_exchange_send(&slot->rest, peer, broadcast_block(run, rank, k),
                              broadcast_slice_bytes(run, rank, k));
    }
    aps_cost_add(run->cost, run->wire, broadcast_slice(run, rank, k).length,
                 broadcast->ranks - 2);
}

static void broadcast_finish(void *state, size_t k)
{
    struct run *run = state;
    struct aps_broadcast *broadcast = run->broadcast;
    struct aps_blocks *blocks = &broadcast->waiting;
    struct slot *slot = broadcast_slot(run, k);

    if (aps_exchange_wait(&slot->rest) != MPI_SUCCESS)
        return;
    aps_blocks_begin(blocks, run->wire, NULL);
    for (int owner = 0; owner < broadcast->ranks; owner++) {
        const unsigned char *block = broadcast_block(run, owner, k);
        struct aps_slice slice;
        struct aps_block_header header;

        if (owner == run->root)
            continue;
        slice = broadcast_slice(run, owner, k);
        if (slice.length == 0)
            continue;
        aps_blocks_decode(
            blocks, run->wire->memory, block, slice.length,
            aps_memory_at(run->wire->memory, run->x, slice.begin));
        memcpy(&header, block, sizeof header);
        aps_cost_note(run->cost, header.exponent);
    }
    aps_blocks_run(blocks);
}

int aps_broadcast_run(struct aps_broadcast *broadcast,
                      const struct aps_wire *wire, int root, int outcome,
                      int exponent, void *x, size_t n, struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {broadcast_offer, 0},
        {broadcast_pass_on, APS_PIPELINE_WIRE_LAG},
        {broadcast_finish, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .broadcast = broadcast,
        .wire = wire,
        .root = root,
        .x = x,
        .n = n,
        .chunk = (size_t)(broadcast->ranks - 1) *
                 aps_pipeline_elements(&wire->codec, broadcast->ranks),
        .exponent = exponent,
        .cost = cost,
    };

    broadcast->outcome = outcome;
    aps_pipeline_run((n + run.chunk - 1) / run.chunk, 3, stages, &run);
    return broadcast->outcome;
}

/* --- bytes ---------------------------------------------------------------- */

int aps_broadcast_run_bytes(struct aps_broadcast *broadcast, int root,
                            int outcome, unsigned char *bytes, size_t size)
{
    struct slot *slot = &broadcast->slots[0];
    size_t now;

    broadcast->outcome = outcome;
    for (size_t done = 0; done < size; done += now) {
        now = aps_size_min(size - done, broadcast->stride);
        if (broadcast->rank == root)
            aps_exchange_send_all(&slot->slices, bytes + done, now);
        else
            aps_messages_receive(&slot->slices.messages, slot->blocks, now,
                                 root, slot->slices.tag);
        if (aps_exchange_wait(&slot->slices) == MPI_SUCCESS &&
            broadcast->rank != root)
            memcpy(bytes + done, slot->blocks, now);
    }
    return broadcast->outcome;
}
