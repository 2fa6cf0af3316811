/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "offline/play_ring.h"

#include <stdlib.h>
#include <string.h>

#include "block/accumulate.h"
#include "block/random_key.h"
#include "wire/pipeline_sizes.h"

/* The partial sum of a slice on its way around the ring. */
struct partial {
    float *sum;          /* [slice] */
    unsigned char *pair; /* two blocks: the partial sum, and a rank's values */
    struct aps_scale_record record; /* record of an FP32 sum */
};

/* Adds the values of a rank to an FP32 sum; `turn` counts the ranks from 0. */
static void ring_add_fp32(const struct aps_wire *wire,
                          const struct aps_piece *piece, struct aps_slice slice,
                          int turn, struct partial *partial)
{
    const float *x = aps_piece_in(piece, slice.begin);
    const struct aps_scale_record record =
        aps_piece_record(wire, piece, x, slice.length);

    if (turn == 0) {
        memcpy(partial->sum, x, slice.length * sizeof *x);
        partial->record = record;
        return;
    }
    for (size_t i = 0; i < slice.length; i++)
        partial->sum[i] += x[i];
    aps_scale_record_add(&partial->record, &record);
}

/* Adds the values of rank `rank` to an encoded sum, and encodes the sum to the
 * next rank, or to `result` if it is complete. */
static void ring_add_encoded(const struct aps_wire *wire,
                             const struct aps_piece *piece,
                             struct aps_slice slice, int rank, int size,
                             int turn, struct partial *partial,
                             unsigned char *result)
{
    const size_t stride = aps_block_stride(wire, slice.length);
    struct aps_block block = aps_piece_block(piece, wire, rank, size, slice);
    struct aps_magnitude magnitude = {0, false};
    struct aps_scale_record before;

    (void)aps_block_encode(wire, &block,
                           partial->pair + (turn > 0 ? stride : 0));
    if (turn == 0)
        return;
    aps_accumulate(wire, 2, partial->pair, stride, slice.length, partial->sum,
                   wire->records ? &magnitude : NULL);
    before = aps_accumulate_record(wire, 2, partial->pair, stride, magnitude);
    block = aps_piece_sum(piece, wire, slice, rank);
    block.x = partial->sum;
    block.sums = &before;
    (void)aps_block_encode(wire, &block,
                           turn == size - 1 ? result : partial->pair);
}

static void ring_play_chunk(struct aps_play *play, const struct aps_wire *wire,
                            int size, struct aps_chunk *const chunks[],
                            unsigned char *results, size_t stride)
{
    const bool fp32 = wire->accumulate == APS_ACCUMULATE_FP32;
    const size_t longest =
        aps_piece_slice(&chunks[0]->pieces[0], size, 0).length;
    struct partial partial = {
        .sum = aps_play_allocate(play, longest, sizeof(float)),
        .pair = aps_play_allocate(play, 2, aps_block_stride_widest(longest)),
    };

    for (int owner = 0; owner < size && !play->failed; owner++) {
        const struct aps_piece *own = &chunks[owner]->pieces[0];
        const struct aps_slice slice = aps_piece_slice(own, size, owner);
        unsigned char *result = results + (size_t)owner * stride;

        if (slice.length == 0)
            continue;
        /* The rank after the owner begins, and the owner is the last. */
        for (int turn = 0; turn < size; turn++) {
            const int rank = (owner + 1 + turn) % size;
            const struct aps_piece *piece = &chunks[rank]->pieces[0];

            if (fp32)
                ring_add_fp32(wire, piece, slice, turn, &partial);
            else
                ring_add_encoded(wire, piece, slice, rank, size, turn, &partial,
                                 result);
        }
        if (fp32) {
            struct aps_block block = aps_piece_sum(own, wire, slice, owner);

            block.x = partial.sum;
            block.sums = &partial.record;
            (void)aps_block_encode(wire, &block, result);
        }
    }
    free(partial.sum);
    free(partial.pair);
}

void aps_play_ring(struct aps_play *play)
{
    const struct aps_codec *codec = &play->wire.codec;

    aps_play_chunks(
        play,
        aps_pipeline_elements_of(codec, play->ranks,
                                 play->wire.accumulate == APS_ACCUMULATE_FP32
                                     ? APS_PIPELINE_FP32
                                     : APS_PIPELINE_HOST),
        ring_play_chunk);
}

/* --- master ------------------------------------------------------------------ */

/* The master of a group, at one chunk. */
struct master {
    struct aps_wire inside;
    struct aps_chunk chunk; /* cut of the members' values */
    struct aps_chunk sums;  /* cut of their sum for the ring */
    struct aps_magnitude magnitude;
    float *sum; /* [chunk] */
};

/* Adds up the values of a group's members. */
static void master_sum(struct aps_play *play, struct master *master, int group,
                       unsigned char *values, size_t stride)
{
    const struct aps_wire *wire = &master->inside;
    const struct aps_play_groups *groups = play->groups;
    const int members = groups->size[group];
    struct aps_piece *piece = &master->chunk.pieces[0];
    const bool travels = members > 1 || wire->accumulate != APS_ACCUMULATE_FP32;

    for (int r = 0; r < play->ranks && travels; r++) {
        struct aps_block block;

        if (groups->group[r] != group)
            continue;
        piece->vector = &play->vectors[r];
        block = aps_piece_block(piece, wire, groups->place[r], members,
                                (struct aps_slice){0, piece->n});
        (void)aps_block_encode(wire, &block,
                               values + (size_t)groups->place[r] * stride);
    }
    piece->vector = &play->vectors[groups->first[group]];
    if (members > 1) {
        aps_accumulate(wire, members, values, stride, piece->n, master->sum,
                       &master->magnitude);
    } else {
        if (travels)
            aps_block_decode(wire, &aps_memory_host, values, piece->n,
                             master->sum);
        else
            memcpy(master->sum, aps_piece_in(piece, 0),
                   piece->n * sizeof *master->sum);
        master->magnitude = aps_magnitude_of(master->sum, piece->n);
    }
    piece->summed = travels;
    if (travels)
        piece->before = aps_accumulate_record(wire, members, values, stride,
                                              master->magnitude);
    else
        piece->before.nonfinite = !master->magnitude.finite;
}

/* The sum of a single group is the result. */
static void master_leave(struct master *master, unsigned char *results)
{
    const struct aps_piece *piece = &master->chunk.pieces[0];
    struct aps_block block = aps_piece_sum(piece, &master->inside,
                                           (struct aps_slice){0, piece->n}, 0);

    block.x = master->sum;
    block.known = master->magnitude;
    block.exact = true;
    block.sums = &piece->before;
    (void)aps_block_encode(&master->inside, &block, results);
}

/* Adds up the sums of all groups, by a ring of their masters. */
static void master_ring(struct aps_play *play, struct master masters[],
                        unsigned char *results, size_t stride)
{
    const int groups = play->groups->groups;
    const struct aps_wire across = aps_wire_across(&play->wire);
    struct aps_magnitude *magnitudes =
        aps_play_allocate(play, (size_t)groups, sizeof *magnitudes);
    struct aps_chunk **chunks =
        aps_play_allocate(play, (size_t)groups, sizeof *chunks);

    for (int g = 0; g < groups && !play->failed; g++)
        magnitudes[g] = masters[g].magnitude;
    for (int g = 0; g < groups && !play->failed; g++) {
        aps_chunk_inner(&masters[g].chunk, 1, 0, masters[g].sum,
                        &aps_memory_host, &masters[g].sums);
        if (aps_scale_ops_of(&across.scale)->agreed)
            masters[g].sums.own[0].exponent =
                masters[g].sums.own[0].sum_exponent =
                    aps_play_stage_exponent(&across, groups, magnitudes);
        chunks[g] = &masters[g].sums;
    }
    if (!play->failed)
        ring_play_chunk(play, &across, groups, chunks, results, stride);
    free(magnitudes);
    free(chunks);
}

/* Decodes the result of a chunk. */
static void master_decode(struct aps_play *play, const struct master *master,
                          const unsigned char *results, size_t stride)
{
    const struct aps_piece *piece = &master->chunk.pieces[0];
    const int groups = play->groups->groups;
    const struct aps_scale_record record =
        aps_redo_record(&play->wire, groups, results, stride, piece->n);

    if (!aps_redo_settle(piece->vector->state, piece->begin, piece->n, &record))
        return;
    aps_blocks_begin(&play->blocks, &play->wire, NULL);
    aps_blocks_decode_slices(&play->blocks, piece->vector->memory, groups,
                             results, stride, piece->n,
                             aps_piece_out(piece, 0));
}

/* Plays one chunk, which masters[0] has. */
static void master_chunk(struct aps_play *play, struct master masters[])
{
    const int groups = play->groups->groups;
    const size_t values = aps_chunk_scratch_stride(&masters[0].chunk);
    const size_t stride = aps_block_aligned(masters[0].chunk.inner_bytes);
    unsigned char *members =
        aps_play_allocate(play, (size_t)play->groups->largest, values);
    unsigned char *results = aps_play_allocate(play, (size_t)groups, stride);

    for (int g = 1; g < groups; g++)
        masters[g].chunk = masters[0].chunk;
    for (int g = 0; g < groups && !play->failed; g++) {
        masters[g].sum = aps_play_allocate(play, masters[0].chunk.pieces[0].n,
                                           sizeof *masters[g].sum);
        if (!play->failed)
            master_sum(play, &masters[g], g, members, values);
    }
    if (!play->failed && groups == 1)
        master_leave(&masters[0], results);
    else if (!play->failed)
        master_ring(play, masters, results, stride);
    if (!play->failed)
        master_decode(play, &masters[0], results, stride);
    for (int g = 0; g < groups; g++) {
        free(masters[g].sum);
        masters[g].sum = NULL;
    }
    free(members);
    free(results);
}

void aps_play_master(struct aps_play *play)
{
    const struct aps_play_groups *groups = play->groups;
    struct aps_chunks all = {.wire = &play->wire,
                             .vectors = play->vectors,
                             .count = 1,
                             .length =
                                 aps_pipeline_elements(&play->wire.codec, 1),
                             .parts = 1,
                             .inner = groups->groups};
    struct master *masters =
        aps_play_allocate(play, (size_t)groups->groups, sizeof *masters);

    for (int g = 0; g < groups->groups && !play->failed; g++) {
        masters[g].inside = aps_wire_inside(&play->wire, groups->first[g]);
        aps_play_agree(play, &play->wire, g, groups->size[g]);
    }
    while (all.vector < all.count && !play->failed) {
        struct aps_chunk *chunk = &masters[0].chunk;

        aps_chunk_next(&all, chunk);
        master_chunk(play, masters);
    }
    free(masters);
}
