/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/allgather_sum.h"

#include <stdio.h>
#include <stdlib.h>

#include "reduce/accumulate.h"
#include "reduce/exponent.h"
#include "progress/messages.h"
#include "reduce/pipeline.h"

#define SLOTS (APS_PIPELINE_WIRE_LAG + 1)

/* Scratch of one chunk. */
struct slot {
    unsigned char *blocks; /* [size]: of every rank, our own too */
    struct aps_messages messages;
};

struct aps_allgather_sum {
    struct aps_algorithm algorithm; /* of aps_allgather_sum_algorithm */
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    float *sum; /* of a chunk */
    struct slot slots[SLOTS];
};

struct aps_allgather_sum *
aps_allgather_sum_create(const struct aps_vcomm *vcomm)
{
    struct aps_allgather_sum *gather = calloc(1, sizeof *gather);

    if (!gather)
        return NULL;
    gather->vcomm = vcomm;
    gather->rank = vcomm->rank;
    gather->size = vcomm->size;
    gather->sum = malloc(aps_pipeline_elements(2, 1) * sizeof *gather->sum);
    if (!gather->sum)
        goto destroy;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &gather->slots[i];

        slot->blocks = malloc(aps_block_stride_bytes(aps_pipeline_bytes(1)) *
                              (size_t)gather->size);
        if (!slot->blocks ||
            aps_messages_init(&slot->messages, vcomm, 2 * gather->size) < 0)
            goto destroy;
    }
    return gather;

destroy:
    aps_allgather_sum_destroy(gather);
    return NULL;
}

void aps_allgather_sum_destroy(struct aps_allgather_sum *gather)
{
    if (!gather)
        return;
    for (int i = 0; i < SLOTS; i++) {
        free(gather->slots[i].blocks);
        aps_messages_clear(&gather->slots[i].messages);
    }
    free(gather->sum);
    free(gather);
}

struct run {
    struct aps_allgather_sum *gather;
    const struct aps_wire *wire;
    const float *in;
    float *out;
    size_t n;
    size_t chunk; /* elements */
    int exponent;
    struct aps_cost *cost;
    int rc; /* the first error: nothing is done after it */
};

static size_t gather_sum_chunk_length(const struct run *run, size_t k)
{
    return aps_chunk_length(run->n, run->chunk, k);
}

static void gather_sum_send_values(void *state, size_t k)
{
    struct run *run = state;
    struct aps_allgather_sum *gather = run->gather;
    struct slot *slot = &gather->slots[k % SLOTS];
    const int size = gather->size;
    const size_t n = gather_sum_chunk_length(run, k);
    const size_t stride = aps_block_stride(run->wire, n);
    const size_t bytes = aps_block_bytes(run->wire, n);
    unsigned char *own = slot->blocks + (size_t)gather->rank * stride;

    if (run->rc != MPI_SUCCESS)
        return;
    for (int i = 1; i < size; i++) {
        int peer = (gather->rank + size - i) % size;

        aps_messages_receive(&slot->messages,
                             slot->blocks + (size_t)peer * stride, bytes, peer,
                             APS_TAG_CONTRIBUTION);
    }
    aps_cost_note(run->cost, aps_block_encode(run->wire, run->wire->memory,
                                              run->in + k * run->chunk, n,
                                              run->exponent, own));
    for (int i = 1; i < size; i++)
        aps_messages_send(&slot->messages, own, bytes,
                          (gather->rank + i) % size, APS_TAG_CONTRIBUTION);
    run->cost->wire_bytes += (unsigned)(size - 1) * bytes;
    /* In place of this, an all-reduce of FP32 would send its floats to their
     * owners and the sums back. */
    run->cost->fp32_bytes +=
        2 * n * sizeof(float) * (unsigned)(size - 1) / (unsigned)size;
}

static void gather_sum_sum_values(void *state, size_t k)
{
    struct run *run = state;
    struct aps_allgather_sum *gather = run->gather;
    struct slot *slot = &gather->slots[k % SLOTS];
    const size_t n = gather_sum_chunk_length(run, k);

    if (run->rc == MPI_SUCCESS)
        run->rc = aps_messages_wait(&slot->messages);
    if (run->rc != MPI_SUCCESS)
        return;
    aps_accumulate(run->wire, gather->size, slot->blocks,
                   aps_block_stride(run->wire, n), n, gather->sum, NULL);
    run->wire->memory->copy_in(run->out + k * run->chunk, gather->sum, n);
}

int aps_allgather_sum_run(struct aps_allgather_sum *gather,
                          const struct aps_wire *wire, const float *in,
                          float *out, size_t n, struct aps_cost *cost)
{
    static const struct aps_pipeline_stage stages[] = {
        {gather_sum_send_values, 0},
        {gather_sum_sum_values, APS_PIPELINE_WIRE_LAG},
    };
    struct run run = {
        .gather = gather,
        .wire = wire,
        .in = in,
        .out = out,
        .n = n,
        .chunk = aps_pipeline_elements(wire->codec.format.width, 1),
        .cost = cost,
    };

    run.rc = aps_exponent_agree(gather->vcomm, wire, in, n, &run.exponent);
    aps_pipeline_run((n + run.chunk - 1) / run.chunk, 2, stages, &run);
    for (int i = 0; i < SLOTS && run.rc != MPI_SUCCESS; i++)
        aps_messages_cancel(&gather->slots[i].messages);
    return run.rc;
}

static int gather_sum_run(struct aps_algorithm *algorithm,
                          const struct aps_plan *plan,
                          const struct aps_wire *wire, const float *in,
                          float *out, size_t n, struct aps_cost *cost)
{
    (void)plan;
    return aps_allgather_sum_run((struct aps_allgather_sum *)algorithm, wire,
                                 in, out, n, cost);
}

static void gather_sum_destroy(struct aps_algorithm *algorithm)
{
    aps_allgather_sum_destroy((struct aps_allgather_sum *)algorithm);
}

struct aps_algorithm *
aps_allgather_sum_algorithm(const struct aps_algorithm_site *site, char *cause,
                            size_t size)
{
    static const struct aps_algorithm_ops ops = {gather_sum_run,
                                                 gather_sum_destroy};
    struct aps_allgather_sum *gather = aps_allgather_sum_create(site->vcomm);

    if (!gather) {
        snprintf(cause, size, "out of memory for reduce: gather");
        return NULL;
    }
    gather->algorithm.ops = &ops;
    return &gather->algorithm;
}
