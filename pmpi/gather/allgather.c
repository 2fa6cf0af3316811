/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "gather/allgather.h"

#include <stdlib.h>
#include <string.h>

#include "base/size_min.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "cut/exchange.h"
#include "cut/pipeline.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one chunk. */
struct slot {
    unsigned char *blocks; /* [ranks]: block of every rank */
    struct aps_exchange exchange;
};

struct aps_allgather {
    int rank;
    int ranks;
    int outcome;   /* outcome of the call in progress */
    size_t stride; /* most bytes from one slot to the next */
    struct aps_blocks waiting;
    struct slot slots[APS_EXCHANGE_DEPTH];
};

struct aps_allgather *aps_allgather_create(const struct aps_vcomm *vcomm,
                                           size_t granule)
{
    const size_t stride =
        aps_block_stride_bytes(aps_pipeline_room(vcomm->size, granule));
    struct aps_allgather *gather = calloc(1, sizeof *gather);

    if (!gather)
        return NULL;
    gather->rank = vcomm->rank;
    gather->ranks = vcomm->size;
    gather->stride = stride;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        struct slot *slot = &gather->slots[i];

        slot->blocks = malloc(stride * (size_t)gather->ranks);
        if (!slot->blocks ||
            aps_exchange_init(&slot->exchange, vcomm, APS_TAG_CONTRIBUTION,
                              &gather->outcome) < 0) {
            aps_allgather_destroy(gather);
            return NULL;
        }
    }
    return gather;
}

void aps_allgather_destroy(struct aps_allgather *gather)
{
    if (!gather)
        return;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        free(gather->slots[i].blocks);
        aps_exchange_clear(&gather->slots[i].exchange);
    }
    free(gather);
}

struct run {
    struct aps_allgather *gather;
    const struct aps_wire *wire;
    const void *in;
    void *out;
    size_t n;
    size_t chunk; /* elements of each rank */
    int exponent;
    struct aps_cost *cost;
};

static void allgather_send_values(void *state, size_t k)
{
    struct run *run = state;
    struct aps_allgather *gather = run->gather;
    struct slot *slot = &gather->slots[k % APS_EXCHANGE_DEPTH];
    const size_t n = aps_chunk_length(run->n, run->chunk, k);
    const size_t stride = aps_block_stride(run->wire, n);
    const size_t bytes = aps_block_bytes(run->wire, n);
    unsigned char *own = slot->blocks + (size_t)gather->rank * stride;
    const struct aps_block block = {
        .memory = run->wire->memory,
        .x = aps_memory_at(run->wire->memory, run->in, k * run->chunk),
        .n = n,
        .number = run->wire->number,
        .first = k * run->chunk,
        .stage = run->wire->stage,
        .rank = gather->rank,
        .ranks = 1,
        .exponent = run->exponent,
    };

    aps_exchange_receive_alike(&slot->exchange, slot->blocks, stride, bytes);
    if (gather->outcome == MPI_SUCCESS)
        aps_cost_note(run->cost, aps_block_encode(run->wire, &block, own));
    aps_exchange_send_all(&slot->exchange, own, bytes);
    aps_cost_add(run->cost, run->wire, n, gather->ranks - 1);
}

static void allgather_take_values(void *state, size_t k)
{
    struct run *run = state;
    struct aps_allgather *gather = run->gather;
    struct slot *slot = &gather->slots[k % APS_EXCHANGE_DEPTH];
    const size_t n = aps_chunk_length(run->n, run->chunk, k);
    const size_t stride = aps_block_stride(run->wire, n);

    if (aps_exchange_wait(&slot->exchange) != MPI_SUCCESS)
        return;
    aps_blocks_begin(&gather->waiting, run->wire, NULL);
    for (int i = 0; i < gather->ranks; i++)
        aps_blocks_decode(&gather->waiting, run->wire->memory,
                          slot->blocks + (size_t)i * stride, n,
                          aps_memory_at(run->wire->memory, run->out,
                                        (size_t)i * run->n + k * run->chunk));
    aps_blocks_run(&gather->waiting);
}

int aps_allgather_run(struct aps_allgather *gather, const struct aps_wire *wire,
                      int outcome, int exponent, const void *in, void *out,
                      size_t n, struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {allgather_send_values, 0},
        {allgather_take_values, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .gather = gather,
        .wire = wire,
        .in = in,
        .out = out,
        .n = n,
        .chunk = aps_pipeline_elements(&wire->codec, gather->ranks),
        .exponent = exponent,
        .cost = cost,
    };

    gather->outcome = outcome;
    aps_pipeline_run((n + run.chunk - 1) / run.chunk, 2, stages, &run);
    return gather->outcome;
}

/* --- bytes ---------------------------------------------------------------- */

int aps_allgather_run_bytes(struct aps_allgather *gather, int outcome,
                            const unsigned char *in, unsigned char *out,
                            size_t size)
{
    struct slot *slot = &gather->slots[0];
    size_t now;

    gather->outcome = outcome;
    for (size_t done = 0; done < size; done += now) {
        now = aps_size_min(size - done, gather->stride);
        aps_exchange_receive_alike(&slot->exchange, slot->blocks,
                                   gather->stride, now);
        aps_exchange_send_all(&slot->exchange, in + done, now);
        if (aps_exchange_wait(&slot->exchange) != MPI_SUCCESS)
            continue;
        for (int i = 0; i < gather->ranks; i++)
            memcpy(out + (size_t)i * size + done,
                   i == gather->rank
                       ? in + done
                       : slot->blocks + (size_t)i * gather->stride,
                   now);
    }
    return gather->outcome;
}
