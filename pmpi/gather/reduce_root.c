/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "gather/reduce_root.h"

#include <stdlib.h>

#include "cut/exponent.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "cut/exchange.h"
#include "cut/pipeline.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one chunk, from the sum of its slices on. */
struct slot {
    unsigned char *results; /* [ranks]: sum of every slice on the root, sum of
                             * this rank's slice on other ranks */
    struct aps_exchange exchange;
};

struct aps_reduce_root {
    const struct aps_vcomm *vcomm;
    struct aps_reduce_scatter *scatter; /* owned */
    int rank;
    int ranks;
    int outcome; /* outcome of the call in progress, as the scatter's */
    struct aps_blocks waiting;
    struct slot slots[APS_EXCHANGE_DEPTH];
};

struct aps_reduce_root *aps_reduce_root_create(const struct aps_vcomm *vcomm,
                                               size_t granule)
{
    const size_t stride =
        aps_block_stride_bytes(aps_pipeline_room(vcomm->size, granule));
    struct aps_reduce_root *rooted = calloc(1, sizeof *rooted);

    if (!rooted)
        return NULL;
    rooted->vcomm = vcomm;
    rooted->rank = vcomm->rank;
    rooted->ranks = vcomm->size;
    rooted->scatter = aps_reduce_scatter_create(vcomm, granule);
    if (!rooted->scatter)
        goto destroy;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        struct slot *slot = &rooted->slots[i];

        slot->results = malloc(stride * (size_t)rooted->ranks);
        if (!slot->results ||
            aps_exchange_init(&slot->exchange, vcomm, APS_TAG_RESULT,
                              &rooted->outcome) < 0)
            goto destroy;
    }
    return rooted;

destroy:
    aps_reduce_root_destroy(rooted);
    return NULL;
}

void aps_reduce_root_destroy(struct aps_reduce_root *rooted)
{
    if (!rooted)
        return;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        free(rooted->slots[i].results);
        aps_exchange_clear(&rooted->slots[i].exchange);
    }
    aps_reduce_scatter_destroy(rooted->scatter);
    free(rooted);
}

struct run {
    struct aps_reduce_root *rooted;
    const struct aps_wire *wire;
    struct aps_shares shares;
    int root;
    const void *in;
    void *out;
    int exponent;
    struct aps_cost *cost;
};

static void root_note(struct aps_reduce_root *rooted, int rc)
{
    if (rooted->outcome == MPI_SUCCESS)
        rooted->outcome = rc;
}

/* Returns the elements of a chunk. Chunks and slices are those of `direct`. */
static size_t root_chunk_of(const struct aps_shares *shares)
{
    return (size_t)shares->ranks * shares->longest;
}

static struct aps_slice root_slice_of(const struct aps_shares *shares,
                                      int owner, size_t k)
{
    const size_t chunk = root_chunk_of(shares);
    struct aps_slice slice =
        aps_slice_of(aps_chunk_length(shares->n, chunk, k), shares->granule,
                     shares->ranks, owner);

    slice.begin += k * chunk;
    return slice;
}

static void root_offer(void *state, size_t k)
{
    struct run *run = state;

    (void)aps_reduce_scatter_send(run->rooted->scatter, run->wire, &run->shares,
                                  k, run->in, run->exponent, run->cost);
}

/* Argument of the exchange's callbacks for the slices of chunk k. */
struct shape {
    const struct run *run;
    size_t k;
};

static size_t root_slice_bytes(const void *state, int rank)
{
    const struct shape *shape = state;
    const struct aps_shares *shares = &shape->run->shares;

    return aps_block_bytes(shape->run->wire,
                           shares->part(shares, rank, shape->k).length);
}

static void root_turn(void *state, size_t k)
{
    struct run *run = state;
    struct aps_reduce_root *rooted = run->rooted;
    struct slot *slot = &rooted->slots[k % APS_EXCHANGE_DEPTH];
    const struct aps_wire *wire = run->wire;
    const size_t stride = aps_block_stride(wire, run->shares.longest);
    const struct aps_slice own = root_slice_of(&run->shares, rooted->rank, k);
    const bool measure = aps_wire_measures(wire);
    const struct shape shape = {run, k};
    const float *values = NULL;
    unsigned char *block = slot->results + (size_t)rooted->rank * stride;
    struct aps_block sum = {
        .memory = aps_wire_sum_memory(wire),
        .n = own.length,
        .number = wire->number,
        .first = own.begin,
        .stage = wire->stage + 1,
        .rank = rooted->rank,
        .ranks = 1,
        .exponent = run->exponent,
        .exact = true,
    };

    if (rooted->rank == run->root)
        aps_exchange_receive(&slot->exchange, slot->results, stride,
                             root_slice_bytes, &shape);
    root_note(rooted,
              aps_reduce_scatter_receive(rooted->scatter, wire, &run->shares, k,
                                         &values, measure ? &sum.known : NULL));
    sum.x = values;
    if (own.length == 0)
        return;
    if (rooted->outcome == MPI_SUCCESS)
        aps_block_encode(wire, &sum, block);
    if (rooted->rank == run->root)
        return;
    aps_exchange_send(&slot->exchange, run->root, block,
                      aps_block_bytes(wire, own.length));
    aps_cost_add(run->cost, wire, own.length, 1);
}

static void root_finish(void *state, size_t k)
{
    struct run *run = state;
    struct aps_reduce_root *rooted = run->rooted;
    struct slot *slot = &rooted->slots[k % APS_EXCHANGE_DEPTH];
    const size_t chunk = root_chunk_of(&run->shares);

    if (aps_exchange_wait(&slot->exchange) != MPI_SUCCESS) {
        aps_reduce_scatter_fail(rooted->scatter, rooted->outcome);
        return;
    }
    if (rooted->rank != run->root)
        return;
    aps_blocks_begin(&rooted->waiting, run->wire, NULL);
    aps_blocks_decode_slices(
        &rooted->waiting, run->wire->memory, rooted->ranks, slot->results,
        aps_block_stride(run->wire, run->shares.longest),
        aps_chunk_length(run->shares.n, chunk, k),
        aps_memory_at(run->wire->memory, run->out, k * chunk));
    aps_blocks_run(&rooted->waiting);
}

int aps_reduce_root_run(struct aps_reduce_root *rooted,
                        const struct aps_wire *wire, int root, const void *in,
                        void *out, size_t n, struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {root_offer, 0},
        {root_turn, APS_PIPELINE_WIRE_LAG},
        {root_finish, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .rooted = rooted,
        .wire = wire,
        .shares = {.ranks = rooted->ranks,
                   .longest = aps_reduce_scatter_elements(wire, rooted->ranks),
                   .part = root_slice_of,
                   .granule = aps_codec_granule(&wire->codec),
                   .n = n},
        .root = root,
        .in = in,
        .out = out,
        .cost = cost,
    };
    const size_t chunk = root_chunk_of(&run.shares);

    run.shares.rounds = (n + chunk - 1) / chunk;
    rooted->outcome =
        aps_exponent_agree(rooted->vcomm, wire, in, n, &run.exponent, cost);
    aps_reduce_scatter_begin(rooted->scatter, rooted->outcome);
    aps_pipeline_run(run.shares.rounds, 3, stages, &run);
    return rooted->outcome;
}
