/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/reduce_root.h"

#include <stdlib.h>

#include "reduce/exponent.h"
#include "progress/messages.h"
#include "reduce/pipeline.h"

#define SLOTS (APS_PIPELINE_WIRE_LAG + 1)

/* Scratch of one chunk, from its turn on. */
struct slot {
    unsigned char *results; /* [ranks]: every slice's sum; but for the root's,
                               only our own */
    struct aps_messages messages;
};

struct aps_reduce_root {
    const struct aps_vcomm *vcomm;
    struct aps_reduce_scatter *scatter;
    int rank;
    int ranks;
    struct slot slots[SLOTS];
};

struct aps_reduce_root *
aps_reduce_root_create(const struct aps_vcomm *vcomm,
                       struct aps_reduce_scatter *scatter)
{
    struct aps_reduce_root *rooted = calloc(1, sizeof *rooted);

    if (!rooted)
        return NULL;
    rooted->vcomm = vcomm;
    rooted->scatter = scatter;
    rooted->rank = vcomm->rank;
    rooted->ranks = vcomm->size;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &rooted->slots[i];

        slot->results =
            malloc(aps_block_stride_bytes(aps_pipeline_bytes(rooted->ranks)) *
                   (size_t)rooted->ranks);
        if (!slot->results ||
            aps_messages_init(&slot->messages, vcomm, rooted->ranks) < 0) {
            aps_reduce_root_destroy(rooted);
            return NULL;
        }
    }
    return rooted;
}

void aps_reduce_root_destroy(struct aps_reduce_root *rooted)
{
    if (!rooted)
        return;
    for (int i = 0; i < SLOTS; i++) {
        free(rooted->slots[i].results);
        aps_messages_clear(&rooted->slots[i].messages);
    }
    free(rooted);
}

struct run {
    struct aps_reduce_root *rooted;
    const struct aps_wire *wire;
    struct aps_shares shares;
    int root;
    const float *in;
    float *out;
    int exponent;
    struct aps_cost *cost;
    int rc; /* the first error: nothing is done after it */
};

/* The chunks and slices of `direct`. */
static size_t root_chunk_of(const struct aps_shares *shares)
{
    return (size_t)shares->ranks * shares->longest;
}

static struct aps_slice root_slice_of(const struct aps_shares *shares,
                                      int owner, size_t k)
{
    const size_t chunk = root_chunk_of(shares);
    struct aps_slice slice = aps_slice_of(aps_chunk_length(shares->n, chunk, k),
                                          shares->ranks, owner);

    slice.begin += k * chunk;
    return slice;
}

static void root_offer(void *state, size_t k)
{
    struct run *run = state;

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_reduce_scatter_offer(run->rooted->scatter, run->wire,
                                           &run->shares, k, run->in,
                                           run->exponent, run->cost);
}

/* The root's side of a turn: be ready for the sums of the others. */
static void root_receive_results(struct run *run, struct slot *slot,
                                 size_t stride, size_t k)
{
    const struct aps_shares *shares = &run->shares;

    for (int i = 1; i < shares->ranks; i++) {
        int peer = (run->root + i) % shares->ranks;

        aps_messages_receive(
            &slot->messages, slot->results + (size_t)peer * stride,
            aps_block_bytes(run->wire, shares->part(shares, peer, k).length),
            peer, APS_TAG_RESULT);
    }
}

static void root_turn(void *state, size_t k)
{
    struct run *run = state;
    struct aps_reduce_root *rooted = run->rooted;
    struct slot *slot = &rooted->slots[k % SLOTS];
    const struct aps_wire *wire = run->wire;
    const size_t stride = aps_block_stride(wire, run->shares.longest);
    const struct aps_slice own = root_slice_of(&run->shares, rooted->rank, k);
    const bool tight = wire->scale == APS_SCALE_APS_TIGHT;
    unsigned char *block = slot->results + (size_t)rooted->rank * stride;
    struct aps_magnitude magnitude = {0, false};
    const float *sum = NULL;

    if (run->rc != MPI_SUCCESS)
        return;
    if (rooted->rank == run->root)
        root_receive_results(run, slot, stride, k);
    run->rc = aps_reduce_scatter_turn(rooted->scatter, wire, &run->shares, k,
                                      &sum, tight ? &magnitude : NULL);
    if (run->rc != MPI_SUCCESS || own.length == 0)
        return;
    aps_block_encode_known(wire, &aps_memory_host, sum, own.length, magnitude,
                           run->exponent, block);
    if (rooted->rank == run->root)
        return;
    aps_messages_send(&slot->messages, block, aps_block_bytes(wire, own.length),
                      run->root, APS_TAG_RESULT);
    aps_cost_add(run->cost, wire, own.length, 1);
}

static void root_finish(void *state, size_t k)
{
    struct run *run = state;
    struct aps_reduce_root *rooted = run->rooted;
    struct slot *slot = &rooted->slots[k % SLOTS];
    const size_t chunk = root_chunk_of(&run->shares);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_messages_wait(&slot->messages);
    if (run->rc == MPI_SUCCESS && rooted->rank == run->root)
        aps_blocks_decode(
            run->wire, run->wire->memory, rooted->ranks, slot->results,
            aps_block_stride(run->wire, run->shares.longest),
            aps_chunk_length(run->shares.n, chunk, k), run->out + k * chunk);
}

int aps_reduce_root_run(struct aps_reduce_root *rooted,
                        const struct aps_wire *wire, int root, const float *in,
                        float *out, size_t n, struct aps_cost *cost)
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
                   .n = n},
        .root = root,
        .in = in,
        .out = out,
        .cost = cost,
    };
    const size_t chunk = root_chunk_of(&run.shares);

    run.shares.rounds = (n + chunk - 1) / chunk;
    run.rc = aps_exponent_agree(rooted->vcomm, wire, in, n, &run.exponent);
    aps_pipeline_run(run.shares.rounds, 3, stages, &run);
    if (run.rc != MPI_SUCCESS) {
        aps_reduce_scatter_cancel(rooted->scatter);
        for (int i = 0; i < SLOTS; i++)
            aps_messages_cancel(&rooted->slots[i].messages);
    }
    return run.rc;
}
