/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "offline/play.h"

#include <stdlib.h>

#include "block/accumulate.h"
#include "block/plan_wire.h"
#include "scale/exponent.h"
#include "wire/pipeline_sizes.h"

void *aps_play_allocate(struct aps_play *play, size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes > 0 ? bytes : 1);

    play->failed |= !memory;
    return memory;
}

int aps_play_stage_exponent(const struct aps_wire *wire, int size,
                            const struct aps_magnitude magnitudes[])
{
    int greatest = APS_EXPONENT_ZERO;

    for (int i = 0; i < size; i++) {
        const int own = aps_scale_max_exponent(magnitudes[i].max, size);

        greatest = own > greatest ? own : greatest;
    }
    return aps_wire_stage_exponent(wire, greatest);
}

void aps_play_agree(struct aps_play *play, const struct aps_wire *wire,
                    int group, int size)
{
    int greatest = APS_EXPONENT_ZERO, exponent;

    if (!aps_scale_ops_of(&wire->scale)->agreed)
        return;
    for (int r = 0; r < play->ranks; r++) {
        struct aps_vector *vector = &play->vectors[r];
        int own;

        if (play->groups && play->groups->group[r] != group)
            continue;
        vector->magnitude =
            aps_block_magnitude(wire, vector->memory, vector->in, vector->n);
        vector->measured = true;
        own = aps_scale_max_exponent(vector->magnitude.max, size);
        greatest = own > greatest ? own : greatest;
    }
    exponent = aps_wire_stage_exponent(wire, greatest);
    for (int r = 0; r < play->ranks; r++)
        if (!play->groups || play->groups->group[r] == group)
            play->vectors[r].exponent = play->vectors[r].sum_exponent =
                exponent;
}

void aps_play_direct_chunk(struct aps_play *play, const struct aps_wire *wire,
                           int size, struct aps_chunk *const chunks[],
                           unsigned char *results, size_t stride)
{
    const size_t apart = aps_chunk_scratch_stride(chunks[0]);
    unsigned char *incoming = aps_play_allocate(play, (size_t)size, apart);
    float *sum = aps_play_allocate(
        play, aps_piece_slice(&chunks[0]->pieces[0], size, 0).length,
        sizeof *sum);

    for (int owner = 0; owner < size && !play->failed; owner++) {
        const struct aps_piece *piece = &chunks[owner]->pieces[0];
        const struct aps_slice slice = aps_piece_slice(piece, size, owner);
        bool decoded;

        if (slice.length == 0)
            continue;
        aps_blocks_begin(&play->blocks, wire, &play->cost);
        for (int i = 0; i < size; i++)
            aps_chunk_encode_slice(chunks[i], &play->blocks, i, size, owner,
                                   incoming + (size_t)i * apart);
        (void)aps_accumulate_encode(wire, size, incoming, apart,
                                    aps_piece_sum(piece, wire, slice, owner),
                                    sum, results + (size_t)owner * stride, NULL,
                                    &decoded);
    }
    free(incoming);
    free(sum);
}

void aps_play_chunks(struct aps_play *play, size_t length,
                     aps_play_chunk_fn *run)
{
    const int size = play->ranks;
    const size_t ranks = (size_t)size;
    struct aps_chunks all = {.wire = &play->wire,
                             .vectors = play->vectors,
                             .count = 1,
                             .length = ranks * length,
                             .parts = size,
                             .inner = 1};
    struct aps_chunk *chunks = aps_play_allocate(play, ranks, sizeof *chunks);
    struct aps_chunk **list = aps_play_allocate(play, ranks, sizeof *list);

    aps_play_agree(play, &play->wire, 0, size);
    while (all.vector < all.count && !play->failed) {
        unsigned char *results;
        size_t stride;

        aps_chunk_next(&all, &chunks[0]);
        stride = aps_chunk_scratch_stride(&chunks[0]);
        results = aps_play_allocate(play, ranks, stride);
        for (int r = 0; r < size; r++) {
            chunks[r] = chunks[0];
            chunks[r].pieces[0].vector = &play->vectors[r];
            list[r] = &chunks[r];
        }
        run(play, &play->wire, size, list, results, stride);
        chunks[0].blocks = results;
        chunks[0].stride = stride;
        if (!play->failed)
            aps_chunk_decode(&chunks[0], &play->wire, size, &play->blocks);
        free(results);
    }
    free(chunks);
    free(list);
}

void aps_play_direct(struct aps_play *play)
{
    aps_play_chunks(play, aps_pipeline_elements(&play->wire.codec, play->ranks),
                    aps_play_direct_chunk);
}

/* --- gather ------------------------------------------------------------------ */

/* Adds up the blocks of a chunk of all ranks, as each rank does. */
static void gather_sum(struct aps_play *play, const struct aps_piece *piece,
                       const unsigned char *blocks, size_t stride, float *sum)
{
    struct aps_magnitude magnitude;

    aps_accumulate(&play->wire, play->ranks, blocks, stride, piece->n, sum,
                   play->wire.records ? &magnitude : NULL);
    if (play->wire.records) {
        struct aps_scale_record record = aps_accumulate_record(
            &play->wire, play->ranks, blocks, stride, magnitude);

        record.sum_max = magnitude.max;
        if (!aps_redo_settle(piece->vector->state, piece->begin, piece->n,
                             &record))
            return;
    }
    piece->vector->memory->copy_in(aps_piece_out(piece, 0), sum, piece->n);
}

void aps_play_gather(struct aps_play *play)
{
    const struct aps_wire *wire = &play->wire;
    struct aps_chunks all = {.wire = wire,
                             .vectors = play->vectors,
                             .count = 1,
                             .length = aps_pipeline_elements(&wire->codec, 1),
                             .parts = 1,
                             .inner = 1};
    struct aps_chunk *chunk = aps_play_allocate(play, 1, sizeof *chunk);

    aps_play_agree(play, wire, 0, play->ranks);
    while (all.vector < all.count && !play->failed) {
        struct aps_piece *piece = &chunk->pieces[0];
        unsigned char *blocks;
        size_t stride;
        float *sum;

        aps_chunk_next(&all, chunk);
        stride = aps_chunk_scratch_stride(chunk);
        blocks = aps_play_allocate(play, (size_t)play->ranks, stride);
        sum = aps_play_allocate(play, piece->n, sizeof *sum);
        for (int r = 0; r < play->ranks && !play->failed; r++) {
            struct aps_block block;

            piece->vector = &play->vectors[r];
            block = aps_piece_block(piece, wire, r, play->ranks,
                                    (struct aps_slice){0, piece->n});
            (void)aps_block_encode(wire, &block, blocks + (size_t)r * stride);
        }
        piece->vector = &play->vectors[0];
        if (!play->failed)
            gather_sum(play, piece, blocks, stride, sum);
        free(blocks);
        free(sum);
    }
    free(chunk);
}
