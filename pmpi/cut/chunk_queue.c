/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/chunk_queue.h"

/* Owners whose slices are queued together. */
struct owners {
    int first, end;
    struct aps_magnitude magnitudes[APS_DEVICE_STEPS];
};

static void queue_measure(struct aps_block_queue *queue,
                          const struct aps_chunk_queue *slices,
                          struct owners *owners)
{
    const struct aps_piece *piece = slices->piece;

    for (int owner = owners->first; owner < owners->end; owner++) {
        const struct aps_slice slice =
            aps_piece_slice(piece, slices->owners, owner);

        aps_block_queue_measure(queue, aps_piece_in(piece, slice.begin),
                                slice.length,
                                &owners->magnitudes[owner - owners->first]);
    }
    aps_block_queue_run(queue);
}

static void queue_encode(struct aps_block_queue *queue,
                         const struct aps_chunk_queue *slices,
                         const struct owners *owners)
{
    const struct aps_piece *piece = slices->piece;

    for (int owner = owners->first; owner < owners->end; owner++) {
        const struct aps_slice slice =
            aps_piece_slice(piece, slices->owners, owner);
        struct aps_block block = aps_piece_block(
            piece, queue->wire, slices->rank, slices->ranks, slice);

        if (slice.length == 0)
            continue;
        block.known = owners->magnitudes[owner - owners->first];
        block.exact = true;
        aps_cost_note(slices->cost,
                      aps_block_queue_encode(
                          queue, &block, slices->header(slices->state, owner),
                          slices->block(slices->state, owner)));
        if (owner != slices->rank)
            aps_cost_add(slices->cost, queue->wire, slice.length, 1);
    }
}

static void queue_put_headers(struct aps_block_queue *queue,
                              const struct aps_chunk_queue *slices,
                              const struct owners *owners)
{
    for (int owner = owners->first; owner < owners->end; owner++) {
        if (aps_piece_slice(slices->piece, slices->owners, owner).length > 0)
            aps_block_queue_put(queue, slices->header(slices->state, owner),
                                slices->block(slices->state, owner));
    }
}

void aps_chunk_queue_encode(struct aps_block_queue *queue,
                            const struct aps_chunk_queue *slices)
{
    /* a slice takes up to two steps, and all steps of one turn share a wait */
    const int most = APS_DEVICE_STEPS / (slices->in_band ? 2 : 1);

    for (int first = 0; first < slices->owners; first += most) {
        struct owners owners = {.first = first, .end = slices->owners};

        if (owners.end - first > most)
            owners.end = first + most;
        if (aps_wire_measures(queue->wire))
            queue_measure(queue, slices, &owners);
        queue_encode(queue, slices, &owners);
        if (slices->in_band && queue->wire->codec.format.marks)
            aps_block_queue_run(queue); /* complete headers have the markers */
        if (slices->in_band)
            queue_put_headers(queue, slices, &owners);
        aps_block_queue_run(queue);
    }
}
