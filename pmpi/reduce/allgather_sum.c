/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/allgather_sum.h"

#include <stdlib.h>

#include "block/accumulate.h"
#include "cut/exponent.h"
#include "cut/exchange.h"
#include "cut/pipeline.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one chunk. */
struct slot {
    unsigned char *blocks; /* [size]: block of every rank */
    struct aps_exchange exchange;
    struct aps_chunk chunk;
};

struct gather_sum {
    struct aps_algorithm algorithm;
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    int outcome; /* outcome of the call in progress */
    float *sum;  /* sum of a piece */
    struct slot slots[APS_EXCHANGE_DEPTH];
};

static void gather_sum_destroy(struct aps_algorithm *algorithm)
{
    struct gather_sum *gather = (struct gather_sum *)algorithm;

    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        free(gather->slots[i].blocks);
        aps_exchange_clear(&gather->slots[i].exchange);
    }
    free(gather->sum);
    free(gather);
}

/* Local. Returns NULL if out of memory. */
static struct gather_sum *gather_sum_create(const struct aps_vcomm *vcomm,
                                            size_t granule)
{
    const size_t stride = aps_block_stride_bytes(aps_pipeline_room(1, granule));
    struct gather_sum *gather = calloc(1, sizeof *gather);

    if (!gather)
        return NULL;
    gather->vcomm = vcomm;
    gather->rank = vcomm->rank;
    gather->size = vcomm->size;
    gather->sum =
        malloc(aps_pipeline_elements_max(1, granule) * sizeof *gather->sum);
    if (!gather->sum)
        goto destroy;
    for (int i = 0; i < APS_EXCHANGE_DEPTH; i++) {
        struct slot *slot = &gather->slots[i];

        slot->blocks = malloc(stride * (size_t)gather->size);
        if (!slot->blocks ||
            aps_exchange_init(&slot->exchange, vcomm, APS_TAG_CONTRIBUTION,
                              &gather->outcome) < 0)
            goto destroy;
    }
    return gather;

destroy:
    gather_sum_destroy(&gather->algorithm);
    return NULL;
}

struct run {
    struct gather_sum *gather;
    const struct aps_wire *wire;
    struct aps_chunks chunks;
    struct aps_cost *cost;
};

static void gather_sum_send_values(void *state, size_t k)
{
    struct run *run = state;
    struct gather_sum *gather = run->gather;
    struct slot *slot = &gather->slots[k % APS_EXCHANGE_DEPTH];
    struct aps_chunk *chunk = &slot->chunk;
    const size_t others = (size_t)gather->size - 1;
    unsigned char *own;
    size_t stride, bytes;

    aps_chunk_next(&run->chunks, chunk);
    stride = aps_chunk_scratch_stride(chunk);
    bytes = aps_chunk_slice_bytes(chunk, run->wire, 1, 0);
    own = slot->blocks + (size_t)gather->rank * stride;
    aps_exchange_receive_alike(&slot->exchange, slot->blocks, stride, bytes);
    aps_chunk_clear_gaps(chunk, own, bytes);
    for (int p = 0; p < chunk->count && gather->outcome == MPI_SUCCESS; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_block block =
            aps_piece_block(piece, run->wire, gather->rank, gather->size,
                            (struct aps_slice){0, piece->n});

        aps_cost_note(run->cost,
                      aps_block_encode(run->wire, &block, own + piece->offset));
    }
    aps_exchange_send_all(&slot->exchange, own, bytes);
    run->cost->wire_bytes += others * bytes;
    /* An FP32 all-reduce would send the floats to their owners and the sums
     * back. */
    run->cost->fp32_bytes += 2 * aps_chunk_slice_elements(chunk, 1, 0) *
                             sizeof(float) * others / (others + 1);
}

static void gather_sum_sum_values(void *state, size_t k)
{
    struct run *run = state;
    struct gather_sum *gather = run->gather;
    struct slot *slot = &gather->slots[k % APS_EXCHANGE_DEPTH];
    const struct aps_chunk *chunk = &slot->chunk;

    if (aps_exchange_wait(&slot->exchange) != MPI_SUCCESS)
        return;
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const unsigned char *blocks = slot->blocks + piece->offset;
        const size_t stride = aps_chunk_scratch_stride(chunk);
        struct aps_magnitude magnitude;

        aps_accumulate(run->wire, gather->size, blocks, stride, piece->n,
                       gather->sum, run->wire->records ? &magnitude : NULL);
        if (run->wire->records) {
            struct aps_scale_record record = aps_accumulate_record(
                run->wire, gather->size, blocks, stride, magnitude);

            /* The sum is not cast to the format. */
            record.sum_max = magnitude.max;
            if (!aps_redo_settle(piece->vector->state, piece->begin, piece->n,
                                 &record))
                continue;
        }
        piece->vector->memory->copy_in(aps_piece_out(piece, 0), gather->sum,
                                       piece->n);
    }
}

static int gather_sum_run(struct aps_algorithm *algorithm,
                          const struct aps_plan *plan,
                          const struct aps_wire *wire, int count,
                          struct aps_vector vectors[], struct aps_cost *cost)
{
    struct gather_sum *gather = (struct gather_sum *)algorithm;
    static const struct aps_pipeline_stage stages[] = {
        {gather_sum_send_values, 0},
        {gather_sum_sum_values, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .gather = gather,
        .wire = wire,
        .chunks = {.wire = wire,
                   .vectors = vectors,
                   .count = count,
                   .length = aps_pipeline_elements(&wire->codec, 1),
                   .parts = 1,
                   .inner = 1},
        .cost = cost,
    };

    (void)plan;
    gather->outcome =
        aps_exponent_vectors(gather->vcomm, wire, true, count, vectors, cost);
    aps_pipeline_run(aps_chunk_count(&run.chunks), 2, stages, &run);
    return gather->outcome;
}

int aps_allgather_sum_algorithm(const struct aps_algorithm_params *params,
                                struct aps_algorithm **algorithm, char *cause,
                                size_t size)
{
    static const struct aps_algorithm_ops ops = {.run = gather_sum_run,
                                                 .destroy = gather_sum_destroy};
    struct gather_sum *gather =
        gather_sum_create(params->vcomm, params->granule);

    (void)cause;
    (void)size;
    if (!gather)
        return MPI_ERR_NO_MEM;
    gather->algorithm.ops = &ops;
    *algorithm = &gather->algorithm;
    return MPI_SUCCESS;
}
