/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/accumulate.h"
#include "reduce/exponent.h"
#include "progress/messages.h"
#include "reduce/pipeline.h"

/* Scratch of one chunk of the window. */
struct slot {
    unsigned char *outgoing; /* the partial sum that we pass on */
    unsigned char *pair;     /* two blocks: the one that came, and our own */
    unsigned char *results;  /* [size]: for `ring` alone */
    struct aps_messages messages;
};

struct aps_ring {
    struct aps_algorithm algorithm; /* of aps_ring_algorithm */
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    float *sum; /* a slice */
    struct slot slots[APS_RING_WINDOW];
};

struct aps_ring *aps_ring_create(const struct aps_vcomm *vcomm, size_t elements,
                                 size_t bytes)
{
    struct aps_ring *ring = calloc(1, sizeof *ring);

    if (!ring)
        return NULL;
    ring->vcomm = vcomm;
    ring->rank = vcomm->rank;
    ring->size = vcomm->size;
    ring->sum = malloc(elements * sizeof *ring->sum);
    if (!ring->sum)
        goto destroy;
    for (int i = 0; i < APS_RING_WINDOW; i++) {
        struct slot *slot = &ring->slots[i];

        slot->outgoing = malloc(bytes);
        slot->pair = malloc(2 * bytes);
        slot->results = malloc(bytes * (size_t)ring->size);
        if (!slot->outgoing || !slot->pair || !slot->results ||
            aps_messages_init(&slot->messages, vcomm, 2) < 0)
            goto destroy;
    }
    return ring;

destroy:
    aps_ring_destroy(ring);
    return NULL;
}

struct aps_ring *aps_ring_create_alone(const struct aps_vcomm *vcomm)
{
    int ranks;

    ranks = vcomm->size;
    return aps_ring_create(vcomm, aps_pipeline_elements(2, ranks),
                           aps_block_stride_bytes(aps_pipeline_bytes(ranks)));
}

void aps_ring_destroy(struct aps_ring *ring)
{
    if (!ring)
        return;
    for (int i = 0; i < APS_RING_WINDOW; i++) {
        free(ring->slots[i].outgoing);
        free(ring->slots[i].pair);
        free(ring->slots[i].results);
        aps_messages_clear(&ring->slots[i].messages);
    }
    free(ring->sum);
    free(ring);
}

/* The slice that lies `behind` ranks behind this one. */
static int ring_slice_behind(const struct aps_ring *ring, int behind)
{
    return (ring->rank + ring->size - behind % ring->size) % ring->size;
}

static struct aps_slice ring_slice_at(const struct aps_ring *ring,
                                      const struct aps_chunk *chunk, int index)
{
    return aps_slice_of(chunk->n, ring->size, index);
}

static bool ring_travels_as_fp32(const struct aps_wire *wire)
{
    return wire->accumulate == APS_ACCUMULATE_FP32;
}

/* Bytes of a partial sum of n values. */
static size_t ring_partial_bytes(const struct aps_wire *wire, size_t n)
{
    return ring_travels_as_fp32(wire) ? n * sizeof(float)
                                      : aps_block_bytes(wire, n);
}

/* In step s, the partial sum of one slice comes and that of another goes. */
static void ring_post_partial(struct aps_ring *ring, struct slot *slot,
                              const struct aps_wire *wire,
                              const struct aps_chunk *chunk, int step,
                              struct aps_cost *cost)
{
    const size_t going =
        ring_slice_at(ring, chunk, ring_slice_behind(ring, step + 1)).length;
    const size_t coming =
        ring_slice_at(ring, chunk, ring_slice_behind(ring, step + 2)).length;
    const int next = (ring->rank + 1) % ring->size;

    aps_messages_receive(&slot->messages, slot->pair,
                         ring_partial_bytes(wire, coming),
                         ring_slice_behind(ring, 1), APS_TAG_CONTRIBUTION);
    aps_messages_send(&slot->messages, slot->outgoing,
                      ring_partial_bytes(wire, going), next,
                      APS_TAG_CONTRIBUTION);
    cost->wire_bytes += ring_partial_bytes(wire, going);
    cost->fp32_bytes += going * sizeof(float);
}

/* Our own values of a slice are where its sum begins. */
static void ring_begin_sum(struct slot *slot, const struct aps_wire *wire,
                           const struct aps_chunk *chunk,
                           struct aps_slice slice, struct aps_cost *cost)
{
    if (slice.length == 0)
        return;
    if (ring_travels_as_fp32(wire))
        chunk->memory->copy_out(slot->outgoing, chunk->in + slice.begin,
                                slice.length);
    else
        aps_cost_note(cost, aps_block_encode(
                                wire, chunk->memory, chunk->in + slice.begin,
                                slice.length, chunk->exponent, slot->outgoing));
}

/* sum = the partial sum that came + our own values. */
static void ring_add_own(struct aps_ring *ring, struct slot *slot,
                         const struct aps_wire *wire,
                         const struct aps_chunk *chunk, struct aps_slice slice,
                         struct aps_cost *cost)
{
    const size_t stride = aps_block_stride(wire, slice.length);

    if (ring_travels_as_fp32(wire)) {
        const float *partial = (const float *)(const void *)slot->pair;

        chunk->memory->copy_out(ring->sum, chunk->in + slice.begin,
                                slice.length);
        for (size_t i = 0; i < slice.length; i++)
            ring->sum[i] = partial[i] + ring->sum[i];
        return;
    }
    aps_cost_note(cost, aps_block_encode(wire, chunk->memory,
                                         chunk->in + slice.begin, slice.length,
                                         chunk->exponent, slot->pair + stride));
    aps_accumulate(wire, 2, slot->pair, stride, slice.length, ring->sum, NULL);
}

/* What came in step s is summed and made ready for the next step. */
static int ring_advance(struct aps_ring *ring, struct slot *slot,
                        const struct aps_wire *wire,
                        const struct aps_chunk *chunk, int step,
                        struct aps_cost *cost)
{
    const int index = ring_slice_behind(ring, step + 2);
    const struct aps_slice slice = ring_slice_at(ring, chunk, index);
    const bool last = step == ring->size - 2; /* then the slice is our own */
    unsigned char *to =
        last ? chunk->blocks + (size_t)index * chunk->stride : slot->outgoing;
    int rc = aps_messages_wait(&slot->messages);

    if (rc != MPI_SUCCESS || slice.length == 0)
        return rc;
    ring_add_own(ring, slot, wire, chunk, slice, cost);
    if (ring_travels_as_fp32(wire) && !last) {
        memcpy(to, ring->sum, slice.length * sizeof *ring->sum);
    } else {
        const int exponent =
            aps_block_encode(wire, &aps_memory_host, ring->sum, slice.length,
                             chunk->exponent, to);

        /* The only block that this rank encodes. */
        if (ring_travels_as_fp32(wire))
            aps_cost_note(cost, exponent);
    }
    return MPI_SUCCESS;
}

/* In step s, the result of one slice comes and that of another goes. */
static void ring_post_result(struct aps_ring *ring, struct slot *slot,
                             const struct aps_wire *wire,
                             const struct aps_chunk *chunk, int step,
                             struct aps_cost *cost)
{
    const int going = ring_slice_behind(ring, step);
    const int coming = ring_slice_behind(ring, step + 1);
    const size_t length = ring_slice_at(ring, chunk, going).length;

    aps_messages_receive(
        &slot->messages, chunk->blocks + (size_t)coming * chunk->stride,
        aps_block_bytes(wire, ring_slice_at(ring, chunk, coming).length),
        ring_slice_behind(ring, 1), APS_TAG_RESULT);
    aps_messages_send(&slot->messages,
                      chunk->blocks + (size_t)going * chunk->stride,
                      aps_block_bytes(wire, length),
                      (ring->rank + 1) % ring->size, APS_TAG_RESULT);
    aps_cost_add(cost, wire, length, 1);
}

int aps_ring_window(struct aps_ring *ring, const struct aps_wire *wire,
                    int count, const struct aps_chunk chunks[],
                    struct aps_cost *cost)
{
    const int steps = ring->size - 1;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        struct slot *slot = &ring->slots[i];

        ring_begin_sum(
            slot, wire, &chunks[i],
            ring_slice_at(ring, &chunks[i], ring_slice_behind(ring, 1)), cost);
        ring_post_partial(ring, slot, wire, &chunks[i], 0, cost);
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
            struct slot *slot = &ring->slots[i];

            rc = ring_advance(ring, slot, wire, &chunks[i], step, cost);
            if (rc != MPI_SUCCESS)
                break;
            if (step + 1 < steps)
                ring_post_partial(ring, slot, wire, &chunks[i], step + 1, cost);
            else
                ring_post_result(ring, slot, wire, &chunks[i], 0, cost);
        }
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
            struct slot *slot = &ring->slots[i];

            rc = aps_messages_wait(&slot->messages);
            if (rc == MPI_SUCCESS && step + 1 < steps)
                ring_post_result(ring, slot, wire, &chunks[i], step + 1, cost);
        }
    }
    for (int i = 0; i < count && rc != MPI_SUCCESS; i++)
        aps_messages_cancel(&ring->slots[i].messages);
    return rc;
}

int aps_ring_run(struct aps_ring *ring, const struct aps_wire *wire,
                 const float *in, float *out, size_t n, struct aps_cost *cost)
{
    /* A message is as long as its widest: of partial sums, that is FP32's. */
    const int width =
        ring_travels_as_fp32(wire) ? 32 : wire->codec.format.width;
    const size_t chunk =
        (size_t)ring->size * aps_pipeline_elements(width, ring->size);
    int exponent;
    int rc = aps_exponent_agree(ring->vcomm, wire, in, n, &exponent);

    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS;) {
        struct aps_chunk chunks[APS_RING_WINDOW];
        const size_t first = begin;
        int count = 0;

        for (; count < APS_RING_WINDOW && begin < n; count++) {
            const size_t length = aps_chunk_length(n - begin, chunk, 0);

            chunks[count] = (struct aps_chunk){
                .in = in + begin,
                .memory = wire->memory,
                .n = length,
                .exponent = exponent,
                .blocks = ring->slots[count].results,
                .stride = aps_block_stride(
                    wire, aps_slice_longest(length, ring->size)),
            };
            begin += length;
        }
        rc = aps_ring_window(ring, wire, count, chunks, cost);
        for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
            aps_blocks_decode(wire, wire->memory, ring->size, chunks[i].blocks,
                              chunks[i].stride, chunks[i].n,
                              out + first + (size_t)i * chunk);
    }
    return rc;
}

static int ring_run(struct aps_algorithm *algorithm,
                    const struct aps_plan *plan, const struct aps_wire *wire,
                    const float *in, float *out, size_t n,
                    struct aps_cost *cost)
{
    (void)plan;
    return aps_ring_run((struct aps_ring *)algorithm, wire, in, out, n, cost);
}

static void ring_destroy(struct aps_algorithm *algorithm)
{
    aps_ring_destroy((struct aps_ring *)algorithm);
}

struct aps_algorithm *aps_ring_algorithm(const struct aps_algorithm_site *site,
                                         char *cause, size_t size)
{
    static const struct aps_algorithm_ops ops = {ring_run, ring_destroy};
    struct aps_ring *ring = aps_ring_create_alone(site->vcomm);

    if (!ring) {
        snprintf(cause, size, "out of memory for reduce: ring");
        return NULL;
    }
    ring->algorithm.ops = &ops;
    return &ring->algorithm;
}
