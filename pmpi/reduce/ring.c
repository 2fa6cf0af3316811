/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/ring.h"

#include <stdlib.h>
#include <string.h>

#include "block/accumulate.h"
#include "cut/exponent.h"
#include "message/messages.h"
#include "wire/pipeline_sizes.h"

/* Scratch of one chunk of the window. */
struct slot {
    unsigned char *outgoing; /* partial sum that this rank passes on */
    unsigned char *pair;     /* two slices: the received one, and this rank's
                              * own */
    unsigned char *results;  /* [size]; `ring` alone */
    struct aps_messages messages;
    struct aps_chunk chunk; /* `ring` alone */
};

/* Bytes before the partial sums of a chunk that are not encoded and have no
 * headers: one struct aps_scale_record for each piece, if the wire has
 * records. */
#define RECORDS_MAX (APS_PIECES_MAX * sizeof(struct aps_scale_record))

struct aps_ring {
    struct aps_algorithm algorithm; /* `reduce: ring` as an algorithm */
    const struct aps_vcomm *vcomm;
    int rank;
    int size;
    int outcome; /* outcome of the call in progress */
    float *sum;  /* sum of a slice */
    struct aps_blocks waiting;
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

        slot->outgoing = malloc(bytes + RECORDS_MAX);
        slot->pair = malloc(2 * bytes + RECORDS_MAX);
        slot->results = malloc(bytes * (size_t)ring->size);
        if (!slot->outgoing || !slot->pair || !slot->results ||
            aps_messages_init(&slot->messages, vcomm, 2, &ring->outcome) < 0)
            goto destroy;
    }
    return ring;

destroy:
    aps_ring_destroy(ring);
    return NULL;
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

/* Returns the slice of the rank `behind` positions before this one. */
static int ring_slice_behind(const struct aps_ring *ring, int behind)
{
    return (ring->rank + ring->size - behind % ring->size) % ring->size;
}

/* True if partial sums are not encoded: they are FP32, or doubles if the format is
 * wide. */
static bool ring_travels_as_fp32(const struct aps_wire *wire)
{
    return wire->accumulate == APS_ACCUMULATE_FP32;
}

static size_t ring_record_bytes(const struct aps_wire *wire,
                                const struct aps_chunk *chunk)
{
    return wire->records && ring_travels_as_fp32(wire)
               ? (size_t)chunk->count * sizeof(struct aps_scale_record)
               : 0;
}

/* Returns the offset of piece p's partial sum in the partial sum of its
 * chunk. */
static size_t ring_partial_offset(const struct aps_wire *wire,
                                  const struct aps_chunk *chunk, int p)
{
    const struct aps_piece *piece = &chunk->pieces[p];

    return ring_travels_as_fp32(wire)
               ? ring_record_bytes(wire, chunk) +
                     piece->base * aps_wire_sum_memory(wire)->element
               : piece->offset;
}

/* Writes the record of piece p, if partial sums are not encoded. */
static void ring_put_record(const struct aps_wire *wire, int p,
                            const struct aps_scale_record *record,
                            unsigned char *partial)
{
    if (wire->records)
        memcpy(partial + (size_t)p * sizeof *record, record, sizeof *record);
}

static void ring_merge_record(const struct aps_wire *wire, int p,
                              const unsigned char *partial,
                              struct aps_scale_record *record)
{
    struct aps_scale_record came;

    if (!wire->records)
        return;
    memcpy(&came, partial + (size_t)p * sizeof came, sizeof came);
    aps_scale_record_add(record, &came);
}

/* Returns the bytes of the partial sum of a slice. */
static size_t ring_partial_bytes(const struct aps_ring *ring,
                                 const struct aps_wire *wire,
                                 const struct aps_chunk *chunk, int index)
{
    if (!ring_travels_as_fp32(wire))
        return aps_chunk_slice_bytes(chunk, wire, ring->size, index);
    for (int p = chunk->count - 1; p >= 0; p--) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const size_t n = aps_piece_slice(piece, ring->size, index).length;

        if (n > 0)
            return ring_partial_offset(wire, chunk, p) +
                   n * aps_wire_sum_memory(wire)->element;
    }
    return 0;
}

/* Step s: receives the partial sum of one slice and sends that of another. */
static void ring_post_partial(struct aps_ring *ring, struct slot *slot,
                              const struct aps_wire *wire,
                              const struct aps_chunk *chunk, int step,
                              struct aps_cost *cost)
{
    const int going = ring_slice_behind(ring, step + 1);
    const int coming = ring_slice_behind(ring, step + 2);
    const size_t bytes = ring_partial_bytes(ring, wire, chunk, going);

    aps_messages_receive(&slot->messages, slot->pair,
                         ring_partial_bytes(ring, wire, chunk, coming),
                         ring_slice_behind(ring, 1), APS_TAG_CONTRIBUTION);
    aps_messages_send(&slot->messages, slot->outgoing, bytes,
                      (ring->rank + 1) % ring->size, APS_TAG_CONTRIBUTION);
    cost->wire_bytes += bytes;
    cost->fp32_bytes +=
        aps_chunk_slice_elements(chunk, ring->size, going) * sizeof(float);
}

/* Encodes this rank's own values of a slice of a piece. */
static void ring_encode_own(const struct aps_ring *ring,
                            const struct aps_wire *wire,
                            const struct aps_piece *piece,
                            struct aps_slice slice, unsigned char *to,
                            struct aps_cost *cost)
{
    const struct aps_block block =
        aps_piece_block(piece, wire, ring->rank, ring->size, slice);

    aps_cost_note(cost, aps_block_encode(wire, &block, to));
}

/* Starts the sum of a slice with this rank's own values. */
static void ring_begin_sum(const struct aps_ring *ring, struct slot *slot,
                           const struct aps_wire *wire,
                           const struct aps_chunk *chunk, struct aps_cost *cost)
{
    const int index = ring_slice_behind(ring, 1);

    aps_chunk_clear_gaps(chunk, slot->outgoing,
                         ring_partial_bytes(ring, wire, chunk, index));
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_slice slice =
            aps_piece_slice(piece, ring->size, index);
        unsigned char *to =
            slot->outgoing + ring_partial_offset(wire, chunk, p);
        struct aps_scale_record record;

        if (slice.length == 0)
            continue;
        if (!ring_travels_as_fp32(wire)) {
            ring_encode_own(ring, wire, piece, slice, to, cost);
            continue;
        }
        piece->vector->memory->copy_out((float *)(void *)to,
                                        aps_piece_in(piece, slice.begin),
                                        slice.length);
        record = aps_piece_record(wire, piece, (const float *)(const void *)to,
                                  slice.length);
        ring_put_record(wire, p, &record, slot->outgoing);
    }
}

/* Adds a partial sum that is not encoded. */
static void ring_add(const struct aps_wire *wire, const void *partial, size_t n,
                     void *sum)
{
    const float *x = partial;
    const double *wide_x = partial;
    float *y = sum;
    double *wide_y = sum;

    if (wire->codec.format.wide)
        for (size_t i = 0; i < n; i++)
            wide_y[i] = wide_x[i] + wide_y[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] + y[i];
}

/* Computes sum = the received partial sum + this rank's values of piece p.
 * Returns the record of the addition. */
static struct aps_scale_record
ring_add_own(struct aps_ring *ring, struct slot *slot,
             const struct aps_wire *wire, const struct aps_chunk *chunk, int p,
             struct aps_slice slice, struct aps_cost *cost)
{
    const struct aps_piece *piece = &chunk->pieces[p];
    const size_t stride = aps_chunk_scratch_stride(chunk);
    unsigned char *came = slot->pair + ring_partial_offset(wire, chunk, p);
    struct aps_magnitude magnitude = {0, false};

    if (ring_travels_as_fp32(wire)) {
        struct aps_scale_record record;

        piece->vector->memory->copy_out(
            ring->sum, aps_piece_in(piece, slice.begin), slice.length);
        record = aps_piece_record(wire, piece, ring->sum, slice.length);
        ring_add(wire, came, slice.length, ring->sum);
        ring_merge_record(wire, p, slot->pair, &record);
        return record;
    }
    ring_encode_own(ring, wire, piece, slice, came + stride, cost);
    aps_accumulate(wire, 2, came, stride, slice.length, ring->sum,
                   wire->records ? &magnitude : NULL);
    return aps_accumulate_record(wire, 2, came, stride, magnitude);
}

/* Adds this rank's values to the partial sum of piece p that it received, and
 * prepares the sum for the next step. */
static void ring_advance_piece(struct aps_ring *ring, struct slot *slot,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk, int p, int index,
                               struct aps_cost *cost)
{
    const struct aps_piece *piece = &chunk->pieces[p];
    const bool last = index == ring->rank;
    const struct aps_slice slice = aps_piece_slice(piece, ring->size, index);
    struct aps_block block = aps_piece_sum(piece, wire, slice, ring->rank);
    struct aps_scale_record before;
    int exponent;

    if (slice.length == 0)
        return;
    before = ring_add_own(ring, slot, wire, chunk, p, slice, cost);
    if (ring_travels_as_fp32(wire) && !last) {
        memcpy(slot->outgoing + ring_partial_offset(wire, chunk, p), ring->sum,
               slice.length * aps_wire_sum_memory(wire)->element);
        ring_put_record(wire, p, &before, slot->outgoing);
        return;
    }
    block.x = ring->sum;
    block.sums = &before;
    exponent = aps_block_encode(
        wire, &block,
        last ? chunk->blocks + (size_t)index * chunk->stride + piece->offset
             : slot->outgoing + piece->offset);
    /* The only block that this rank encodes. */
    if (ring_travels_as_fp32(wire))
        aps_cost_note(cost, exponent);
}

static void ring_advance(struct aps_ring *ring, struct slot *slot,
                         const struct aps_wire *wire,
                         const struct aps_chunk *chunk, int step,
                         struct aps_cost *cost)
{
    const int index = ring_slice_behind(ring, step + 2);

    if (aps_messages_wait(&slot->messages) != MPI_SUCCESS)
        return;
    if (index == ring->rank)
        aps_chunk_clear_gaps(
            chunk, chunk->blocks + (size_t)index * chunk->stride,
            aps_chunk_slice_bytes(chunk, wire, ring->size, index));
    else
        aps_chunk_clear_gaps(chunk, slot->outgoing,
                             ring_partial_bytes(ring, wire, chunk, index));
    for (int p = 0; p < chunk->count; p++)
        ring_advance_piece(ring, slot, wire, chunk, p, index, cost);
}

/* Step s: receives the result of one slice and sends that of another. */
static void ring_post_result(struct aps_ring *ring, struct slot *slot,
                             const struct aps_wire *wire,
                             const struct aps_chunk *chunk, int step,
                             struct aps_cost *cost)
{
    const int going = ring_slice_behind(ring, step);
    const int coming = ring_slice_behind(ring, step + 1);

    aps_messages_receive(&slot->messages,
                         chunk->blocks + (size_t)coming * chunk->stride,
                         aps_chunk_slice_bytes(chunk, wire, ring->size, coming),
                         ring_slice_behind(ring, 1), APS_TAG_RESULT);
    aps_messages_send(&slot->messages,
                      chunk->blocks + (size_t)going * chunk->stride,
                      aps_chunk_slice_bytes(chunk, wire, ring->size, going),
                      (ring->rank + 1) % ring->size, APS_TAG_RESULT);
    for (int p = 0; p < chunk->count; p++)
        aps_cost_add(
            cost, wire,
            aps_piece_slice(&chunk->pieces[p], ring->size, going).length, 1);
}

void aps_ring_begin(struct aps_ring *ring, int outcome)
{
    ring->outcome = outcome;
}

int aps_ring_window(struct aps_ring *ring, const struct aps_wire *wire,
                    int count, const struct aps_chunk *const chunks[],
                    struct aps_cost *cost)
{
    const int steps = ring->size - 1;

    for (int i = 0; i < count; i++) {
        struct slot *slot = &ring->slots[i];

        if (ring->outcome == MPI_SUCCESS)
            ring_begin_sum(ring, slot, wire, chunks[i], cost);
        ring_post_partial(ring, slot, wire, chunks[i], 0, cost);
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < count; i++) {
            struct slot *slot = &ring->slots[i];

            ring_advance(ring, slot, wire, chunks[i], step, cost);
            if (step + 1 < steps)
                ring_post_partial(ring, slot, wire, chunks[i], step + 1, cost);
            else
                ring_post_result(ring, slot, wire, chunks[i], 0, cost);
        }
    }
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < count; i++) {
            struct slot *slot = &ring->slots[i];

            (void)aps_messages_wait(&slot->messages);
            if (step + 1 < steps)
                ring_post_result(ring, slot, wire, chunks[i], step + 1, cost);
        }
    }
    return ring->outcome;
}

static int ring_run(struct aps_algorithm *algorithm,
                    const struct aps_plan *plan, const struct aps_wire *wire,
                    int count, struct aps_vector vectors[],
                    struct aps_cost *cost)
{
    struct aps_ring *ring = (struct aps_ring *)algorithm;
    /* A message is as long as its widest type; a partial sum's widest is
     * FP32, or FP64 if the format is wide. */
    const size_t length = aps_pipeline_elements_of(
        &wire->codec, ring->size,
        ring_travels_as_fp32(wire) ? APS_PIPELINE_FP32 : APS_PIPELINE_HOST);
    struct aps_chunks all = {
        .wire = wire,
        .vectors = vectors,
        .count = count,
        .length = (size_t)ring->size * length,
        .parts = ring->size,
        .inner = 1,
    };

    (void)plan;
    ring->outcome =
        aps_exponent_vectors(ring->vcomm, wire, true, count, vectors, cost);
    while (all.vector < all.count) {
        const struct aps_chunk *chunks[APS_RING_WINDOW];
        int window = 0;

        for (; window < APS_RING_WINDOW && all.vector < all.count; window++) {
            struct aps_chunk *chunk = &ring->slots[window].chunk;

            aps_chunk_next(&all, chunk);
            chunk->blocks = ring->slots[window].results;
            chunk->stride = aps_chunk_scratch_stride(chunk);
            chunks[window] = chunk;
        }
        if (aps_ring_window(ring, wire, window, chunks, cost) != MPI_SUCCESS)
            continue;
        for (int i = 0; i < window; i++)
            aps_chunk_decode(chunks[i], wire, ring->size, &ring->waiting);
    }
    return ring->outcome;
}

static void ring_destroy(struct aps_algorithm *algorithm)
{
    aps_ring_destroy((struct aps_ring *)algorithm);
}

int aps_ring_algorithm(const struct aps_algorithm_params *params,
                       struct aps_algorithm **algorithm, char *cause,
                       size_t size)
{
    static const struct aps_algorithm_ops ops = {.run = ring_run,
                                                 .destroy = ring_destroy};
    const int ranks = params->vcomm->size;
    struct aps_ring *ring = aps_ring_create(
        params->vcomm, aps_pipeline_elements_max(ranks, params->granule),
        aps_block_stride_bytes(aps_pipeline_room(ranks, params->granule)));

    (void)cause;
    (void)size;
    if (!ring)
        return MPI_ERR_NO_MEM;
    ring->algorithm.ops = &ops;
    *algorithm = &ring->algorithm;
    return MPI_SUCCESS;
}
