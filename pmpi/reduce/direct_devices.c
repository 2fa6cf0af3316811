/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/direct_devices.h"

#include <stdlib.h>

#include "base/message.h"
#include "cut/chunk_queue.h"

struct aps_direct_devices {
    int rank;
    int size;
    struct aps_block_queue queue;
    struct aps_block_header headers[]; /* [size] */
};

struct aps_direct_devices *aps_direct_devices_create(int rank, int size)
{
    struct aps_direct_devices *devices =
        calloc(1, sizeof *devices + (size_t)size * sizeof devices->headers[0]);

    if (devices) {
        devices->rank = rank;
        devices->size = size;
    }
    return devices;
}

void aps_direct_devices_destroy(struct aps_direct_devices *devices)
{
    free(devices);
}

void *aps_direct_devices_allocate(const struct aps_direct_devices *devices,
                                  int rank,
                                  const struct aps_device_memory *verbs,
                                  const float *near, size_t bytes)
{
    char cause[256] = "out of memory";
    void *allocation =
        devices ? verbs->allocate(near, bytes, cause, sizeof cause) : NULL;

    if (allocation && verbs->probe(allocation, cause, sizeof cause) < 0) {
        verbs->release(allocation);
        allocation = NULL;
    }
    if (!allocation)
        aps_message(rank,
                    "encoded bytes cannot lie in GPU memory: %s: MPI gets them "
                    "in host memory",
                    cause);
    return allocation;
}

/* --- contributions -------------------------------------------------------- */

struct places {
    struct aps_direct_devices *devices;
    unsigned char *outgoing, *own;
    size_t stride;
};

static unsigned char *direct_place(const void *state, int owner)
{
    const struct places *places = state;

    return (owner == places->devices->rank ? places->own : places->outgoing) +
           (size_t)owner * places->stride;
}

static struct aps_block_header *direct_header(const void *state, int owner)
{
    const struct places *places = state;

    return &places->devices->headers[owner];
}

void aps_direct_devices_encode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk,
                               unsigned char *outgoing, unsigned char *own,
                               struct aps_cost *cost)
{
    const struct places places = {devices, outgoing, own,
                                  aps_chunk_scratch_stride(chunk)};
    const struct aps_chunk_queue slices = {
        .piece = &chunk->pieces[0],
        .rank = devices->rank,
        .ranks = devices->size,
        .owners = devices->size,
        .cost = cost,
        .block = direct_place,
        .header = direct_header,
        .state = &places,
        .in_band = true,
    };

    aps_block_queue_begin(&devices->queue, wire);
    aps_chunk_queue_encode(&devices->queue, &slices);
}

/* --- sums ------------------------------------------------------------------ */

void aps_direct_devices_sum(struct aps_direct_devices *devices,
                            const struct aps_wire *wire,
                            const struct aps_chunk *chunk,
                            const unsigned char *incoming, float *sum,
                            unsigned char *to, struct aps_cost *cost)
{
    const struct aps_piece *piece = &chunk->pieces[0];
    const size_t stride = aps_chunk_scratch_stride(chunk);
    struct aps_block_queue *queue = &devices->queue;
    struct aps_block_header *headers = devices->headers;
    struct aps_block_header *header = &headers[devices->rank];
    const struct aps_slice slice =
        aps_piece_slice(piece, devices->size, devices->rank);
    struct aps_block block = aps_piece_sum(piece, wire, slice, devices->rank);

    if (slice.length == 0)
        return;
    aps_block_queue_begin(queue, wire);
    for (int i = 0; i < devices->size; i++)
        aps_block_queue_get(queue, incoming + (size_t)i * stride, &headers[i]);
    aps_block_queue_run(queue);
    for (int i = 0; i < devices->size; i++)
        aps_block_queue_decode(queue, &headers[i],
                               incoming + (size_t)i * stride, slice.length,
                               i > 0, sum);
    if (aps_wire_measures(wire)) {
        aps_block_queue_measure(queue, sum, slice.length, &block.known);
        aps_block_queue_run(queue);
    }
    block.x = sum;
    block.exact = true;
    (void)aps_block_queue_encode(queue, &block, header, to);
    if (wire->codec.format.marks)
        aps_block_queue_run(queue);
    aps_block_queue_put(queue, header, to);
    aps_block_queue_run(queue);
    aps_cost_add(cost, wire, slice.length, devices->size - 1);
}

/* --- results --------------------------------------------------------------- */

void aps_direct_devices_decode(struct aps_direct_devices *devices,
                               const struct aps_wire *wire,
                               const struct aps_chunk *chunk)
{
    const struct aps_piece *piece = &chunk->pieces[0];
    struct aps_block_queue *queue = &devices->queue;
    /* Other ranks have what this rank cannot decode: the failure that the
     * backend has counted suffices. */
    const bool lost = *wire->lost;

    aps_block_queue_begin(queue, wire);
    for (int i = 0; i < devices->size; i++) {
        if (aps_piece_slice(piece, devices->size, i).length > 0)
            aps_block_queue_get(queue,
                                chunk->blocks + (size_t)i * chunk->stride,
                                &devices->headers[i]);
    }
    aps_block_queue_run(queue);
    for (int i = 0; i < devices->size; i++) {
        const struct aps_slice slice = aps_piece_slice(piece, devices->size, i);

        if (slice.length > 0)
            aps_block_queue_decode(queue, &devices->headers[i],
                                   chunk->blocks + (size_t)i * chunk->stride,
                                   slice.length, false,
                                   aps_piece_out(piece, slice.begin));
    }
    aps_block_queue_run(queue);
    *wire->lost = lost;
}
