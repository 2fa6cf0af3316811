/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "gather/reduce_scatter.h"

#include <stdlib.h>

#include "block/accumulate.h"
#include "block/block.h"
#include "cut/exponent.h"
#include "cut/exchange.h"
#include "cut/pipeline.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one round. */
struct slot {
    unsigned char *outgoing; /* [ranks]: this rank's contribution to each
                              * part */
    unsigned char *incoming; /* [ranks]: each rank's contribution to this rank's
                              * part */
    struct aps_exchange exchange;
};

struct aps_reduce_scatter {
    const struct aps_vcomm *vcomm;
    int rank;
    int ranks;
    int outcome; /* outcome of the call in progress */
    float *sum;  /* sum of this rank's part */
    struct aps_blocks waiting;
    struct slot slots[APS_EXCHANGE_DEPTH];
};

struct aps_reduce_scatter *
aps_reduce_scatter_create(const struct aps_vcomm *vcomm, size_t granule)
{
    const int ranks = vcomm->size;
    const size_t bytes =
        aps_block_stride_bytes(aps_pipeline_room(ranks, granule)) *
        (size_t)ranks;
    struct aps_reduce_scatter *scatter = calloc(1, sizeof *scatter);

    if (!scatter)
        return NULL;
    scatter->vcomm = vcomm;
    scatter->rank = vcomm->rank;
    scatter->ranks = ranks;
    scatter->sum = malloc(aps_pipeline_elements_max(ranks, granule) *
                          sizeof *scatter->sum);
    if (!scatter->sum)
        goto destroy;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        struct slot *slot = &scatter->slots[i];

        slot->outgoing = malloc(bytes);
        slot->incoming = malloc(bytes);
        if (!slot->outgoing || !slot->incoming ||
            aps_exchange_init(&slot->exchange, vcomm, APS_TAG_CONTRIBUTION,
                              &scatter->outcome) < 0)
            goto destroy;
    }
    return scatter;

destroy:
    aps_reduce_scatter_destroy(scatter);
    return NULL;
}

void aps_reduce_scatter_destroy(struct aps_reduce_scatter *scatter)
{
    if (!scatter)
        return;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        free(scatter->slots[i].outgoing);
        free(scatter->slots[i].incoming);
        aps_exchange_clear(&scatter->slots[i].exchange);
    }
    free(scatter->sum);
    free(scatter);
}

size_t aps_reduce_scatter_elements(const struct aps_wire *wire, int ranks)
{
    return aps_pipeline_elements(&wire->codec, ranks);
}

/* Argument of aps_reduce_scatter_send's callbacks. */
struct offer {
    const struct aps_shares *shares;
    const struct slot *slot;
    size_t k;
    const void *in;
    int exponent;
};

/* Returns the address of this rank's contribution to a part. The contribution
 * to its own part is not sent. */
static unsigned char *scatter_block(const struct aps_reduce_scatter *scatter,
                                    const struct offer *offer, int owner)
{
    const struct slot *slot = offer->slot;

    return (owner == scatter->rank ? slot->incoming : slot->outgoing) +
           (size_t)owner *
               aps_block_stride(scatter->waiting.wire, offer->shares->longest);
}

static void scatter_encode_part(struct aps_reduce_scatter *scatter,
                                const struct offer *offer, int owner)
{
    const struct aps_wire *wire = scatter->waiting.wire;
    const struct aps_slice part =
        offer->shares->part(offer->shares, owner, offer->k);
    const struct aps_block block = {
        .memory = wire->memory,
        .x = aps_memory_at(wire->memory, offer->in, part.begin),
        .n = part.length,
        .number = wire->number,
        .first = part.begin,
        .stage = wire->stage,
        .rank = scatter->rank,
        .ranks = scatter->ranks,
        .exponent = offer->exponent,
    };

    if (part.length > 0 && scatter->outcome == MPI_SUCCESS)
        aps_blocks_encode(&scatter->waiting, &block,
                          scatter_block(scatter, offer, owner));
}

int aps_reduce_scatter_send(struct aps_reduce_scatter *scatter,
                            const struct aps_wire *wire,
                            const struct aps_shares *shares, size_t k,
                            const void *in, int exponent, struct aps_cost *cost)
{
    struct slot *slot = &scatter->slots[k % APS_EXCHANGE_DEPTH];
    const struct offer offer = {shares, slot, k, in, exponent};
    const int ranks = scatter->ranks;
    const size_t own =
        aps_block_bytes(wire, shares->part(shares, scatter->rank, k).length);
    /* Blocks in host memory are sent as soon as they are encoded. */
    const bool together = wire->memory->run;

    aps_exchange_receive_alike(&slot->exchange, slot->incoming,
                               aps_block_stride(wire, shares->longest), own);
    aps_blocks_begin(&scatter->waiting, wire, cost);
    for (int owner = 0; owner < ranks && together; owner++)
        scatter_encode_part(scatter, &offer, owner);
    aps_blocks_run(&scatter->waiting);
    for (int i = 1; i <= ranks; i++) {
        const int peer = aps_exchange_peer(&slot->exchange, i);
        const size_t n = shares->part(shares, peer, k).length;

        if (!together)
            scatter_encode_part(scatter, &offer, peer);
        if (peer == scatter->rank)
            continue;
        aps_exchange_send(&slot->exchange, peer,
                          scatter_block(scatter, &offer, peer),
                          aps_block_bytes(wire, n));
        aps_cost_add(cost, wire, n, 1);
    }
    return scatter->outcome;
}

int aps_reduce_scatter_receive(struct aps_reduce_scatter *scatter,
                               const struct aps_wire *wire,
                               const struct aps_shares *shares, size_t k,
                               const float **sum,
                               struct aps_magnitude *magnitude)
{
    struct slot *slot = &scatter->slots[k % APS_EXCHANGE_DEPTH];
    const size_t n = shares->part(shares, scatter->rank, k).length;
    int rc = aps_exchange_wait(&slot->exchange);

    if (rc == MPI_SUCCESS && n > 0)
        aps_accumulate(wire, scatter->ranks, slot->incoming,
                       aps_block_stride(wire, shares->longest), n, scatter->sum,
                       magnitude);
    *sum = scatter->sum;
    return rc;
}

void aps_reduce_scatter_begin(struct aps_reduce_scatter *scatter, int outcome)
{
    scatter->outcome = outcome;
}

void aps_reduce_scatter_fail(struct aps_reduce_scatter *scatter, int rc)
{
    if (scatter->outcome == MPI_SUCCESS)
        scatter->outcome = rc;
}

/* --- MPI_Reduce_scatter -------------------------------------------------- */

struct run {
    struct aps_reduce_scatter *scatter;
    const struct aps_wire *wire;
    struct aps_shares shares;
    const void *in;
    void *out;
    int exponent;
    struct aps_cost *cost;
};

static struct aps_slice scatter_part_of(const struct aps_shares *shares,
                                        int owner, size_t k)
{
    const size_t end = shares->bounds[owner + 1];
    size_t begin = shares->bounds[owner];

    if (k >= (end - begin + shares->longest - 1) / shares->longest)
        return (struct aps_slice){.begin = end, .length = 0};
    begin += k * shares->longest;
    return (struct aps_slice){
        .begin = begin,
        .length = end - begin < shares->longest ? end - begin : shares->longest,
    };
}

static struct aps_shares scatter_shares_of(const struct aps_wire *wire,
                                           int ranks, const size_t bounds[])
{
    struct aps_shares shares = {
        .ranks = ranks,
        .longest = aps_reduce_scatter_elements(wire, ranks),
        .part = scatter_part_of,
        .n = bounds[ranks],
        .bounds = bounds,
    };

    for (int i = 0; i < ranks; i++) {
        const size_t share = bounds[i + 1] - bounds[i];
        const size_t rounds = (share + shares.longest - 1) / shares.longest;

        if (rounds > shares.rounds)
            shares.rounds = rounds;
    }
    return shares;
}

static void scatter_offer(void *state, size_t k)
{
    struct run *run = state;

    (void)aps_reduce_scatter_send(run->scatter, run->wire, &run->shares, k,
                                  run->in, run->exponent, run->cost);
}

/*
 * In place, the sum overwrites elements of other owners' shares. These are
 * encoded already: each element of part k of this rank's share is at part k of
 * its own share or earlier.
 */
static void scatter_turn(void *state, size_t k)
{
    struct run *run = state;
    const int rank = run->scatter->rank;
    const struct aps_slice own = run->shares.part(&run->shares, rank, k);
    const float *sum = NULL;

    if (aps_reduce_scatter_receive(run->scatter, run->wire, &run->shares, k,
                                   &sum, NULL) == MPI_SUCCESS &&
        own.length > 0)
        run->wire->memory->copy_in(
            aps_memory_at(run->wire->memory, run->out,
                          own.begin - run->shares.bounds[rank]),
            sum, own.length);
}

int aps_reduce_scatter_run(struct aps_reduce_scatter *scatter,
                           const struct aps_wire *wire, const void *in,
                           const size_t bounds[], void *out,
                           struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {scatter_offer, 0},
        {scatter_turn, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .scatter = scatter,
        .wire = wire,
        .shares = scatter_shares_of(wire, scatter->ranks, bounds),
        .in = in,
        .out = out,
        .cost = cost,
    };

    aps_reduce_scatter_begin(scatter, aps_exponent_agree(scatter->vcomm, wire,
                                                         in, run.shares.n,
                                                         &run.exponent, cost));
    aps_pipeline_run(run.shares.rounds, 2, stages, &run);
    return scatter->outcome;
}
