/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/hierarchical_devices.h"

#include "cut/chunk_queue.h"

static struct aps_block_queue *
devices_begin(const struct aps_hierarchical_run *run)
{
    struct aps_block_queue *queue = &run->h->queue;

    aps_block_queue_begin(queue, &run->inside);
    return queue;
}

/* --- contributions -------------------------------------------------------- */

/* A chunk of a run. */
struct place {
    const struct aps_hierarchical_run *run;
    size_t c; /* chunk, counted over all calls */
};

static unsigned char *devices_slice(const void *state, int owner)
{
    const struct place *place = state;
    const struct aps_hierarchical_run *run = place->run;

    return aps_chunk_buffers_slice(run->slots, &run->layout, place->c,
                                   aps_shm_group_rank(run->h->node), owner);
}

static struct aps_block_header *devices_header(const void *state, int owner)
{
    const struct place *place = state;
    const struct aps_hierarchical *h = place->run->h;

    return aps_chunk_buffers_slice_header(&h->host, place->c,
                                          aps_shm_group_rank(h->node), owner);
}

void aps_hierarchical_devices_contribute(struct aps_hierarchical_run *run,
                                         size_t k,
                                         const struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    const struct place place = {.run = run, .c = h->done + k};
    const struct aps_chunk_queue slices = {
        .piece = piece,
        .rank = aps_shm_group_rank(h->node),
        .ranks = aps_shm_group_size(h->node),
        .owners = h->owners,
        .cost = run->cost,
        .block = devices_slice,
        .header = devices_header,
        .state = &place,
    };

    aps_chunk_queue_encode(devices_begin(run), &slices);
}

/* --- sums ------------------------------------------------------------------ */

void aps_hierarchical_devices_sum(struct aps_hierarchical_run *run, size_t k,
                                  const struct aps_piece *piece,
                                  struct aps_magnitude *magnitude)
{
    const struct aps_hierarchical *h = run->h;
    const bool alone = aps_hierarchical_is_single_group(h);
    const struct aps_scale_ops *scale = aps_scale_ops_of(&run->wire->scale);
    const int rank = aps_shm_group_rank(h->node);
    const size_t c = h->done + k;
    const struct aps_slice slice = aps_piece_slice(piece, h->owners, rank);
    struct aps_block block = aps_piece_sum(piece, &run->inside, slice, rank);
    float *total = aps_chunk_buffers_sum(run->slots, c) + piece->base;
    struct aps_block_queue *queue = devices_begin(run);

    *magnitude = (struct aps_magnitude){0, false};
    if (slice.length == 0)
        return;
    for (int member = 0; member < aps_shm_group_size(h->node); member++)
        aps_block_queue_decode(
            queue, aps_chunk_buffers_slice_header(&h->host, c, member, rank),
            aps_chunk_buffers_slice(run->slots, &run->layout, c, member, rank),
            slice.length, member > 0, total);
    if (aps_wire_measures(run->wire) || (scale->agreed && !alone)) {
        aps_block_queue_measure(queue, total, slice.length, magnitude);
        aps_block_queue_run(queue);
    }
    if (alone) {
        block.x = total;
        block.known = *magnitude;
        block.exact = true;
        aps_block_queue_encode(
            queue, &block, aps_chunk_buffers_result_header(&h->host, c, rank),
            aps_chunk_buffers_result(run->results, &run->layout, c, rank));
        aps_cost_add(run->cost, &run->inside, slice.length, 1);
    }
    aps_block_queue_run(queue);
}

/* --- results --------------------------------------------------------------- */

void aps_hierarchical_devices_collect(struct aps_hierarchical_run *run,
                                      size_t k, const struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    const size_t c = h->done + k;
    /* Other ranks have what this rank cannot decode: the failure that the
     * backend has counted suffices. */
    const bool lost = run->lost;
    struct aps_block_queue *queue = devices_begin(run);

    for (int owner = 0; owner < h->owners; owner++) {
        const struct aps_slice slice = aps_piece_slice(piece, h->owners, owner);

        if (slice.length > 0)
            aps_block_queue_decode(
                queue, aps_chunk_buffers_result_header(&h->host, c, owner),
                aps_chunk_buffers_result(run->results, &run->layout, c, owner),
                slice.length, false, aps_piece_out(piece, slice.begin));
    }
    aps_block_queue_run(queue);
    run->lost = lost;
}
