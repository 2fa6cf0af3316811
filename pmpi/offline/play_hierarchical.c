/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "offline/play_hierarchical.h"

#include <stdlib.h>
#include <string.h>

#include "block/accumulate.h"
#include "block/random_key.h"
#include "group/chunk_layout.h"
#include "wire/pipeline_sizes.h"

/* A group at one chunk. */
struct group {
    struct aps_wire inside;
    int ranks;
    const struct aps_vector **vectors; /* [ranks] */
    struct aps_chunk chunk;
    struct aps_chunk across; /* the slice of the owner in progress */
    struct aps_magnitude magnitude;
    float *sum; /* [slice]: sum of that slice */
};

/* One call. */
struct run {
    struct aps_play *play;
    struct aps_wire outside; /* between groups */
    bool exact_inside;
    int owners, count;
    struct group *groups; /* [count] */
    /* values of the ranks of a group; results of an owner, one part a group */
    unsigned char *values, *results;
    size_t value_stride, part_stride;
};

/* Encodes the members' values of an owner's slice. */
static void group_encode(struct run *run, struct group *group,
                         struct aps_slice slice)
{
    struct aps_piece *piece = &group->chunk.pieces[0];

    for (int member = 0; member < group->ranks; member++) {
        struct aps_block block;

        piece->vector = group->vectors[member];
        block =
            aps_piece_block(piece, &group->inside, member, group->ranks, slice);
        (void)aps_block_encode(&group->inside, &block,
                               run->values +
                                   (size_t)member * run->value_stride);
    }
    piece->vector = group->vectors[0];
}

/* Adds up the members' values of a slice in FP32. */
static void group_sum_exact(struct group *group, struct aps_slice slice)
{
    struct aps_piece *piece = &group->chunk.pieces[0];

    for (int member = 0; member < group->ranks; member++) {
        const float *x;

        piece->vector = group->vectors[member];
        x = aps_piece_in(piece, slice.begin);
        for (size_t i = 0; i < slice.length; i++)
            group->sum[i] = member > 0 ? group->sum[i] + x[i] : x[i];
    }
    piece->vector = group->vectors[0];
    group->magnitude = aps_magnitude_of(group->sum, slice.length);
}

static void group_sum(struct run *run, struct group *group,
                      struct aps_slice slice)
{
    struct aps_piece *piece = &group->chunk.pieces[0];

    if (run->exact_inside) {
        group_sum_exact(group, slice);
        return;
    }
    group_encode(run, group, slice);
    aps_accumulate(&run->outside, group->ranks, run->values, run->value_stride,
                   slice.length, group->sum, &group->magnitude);
    piece->summed = true;
    piece->before =
        aps_accumulate_record(&run->outside, group->ranks, run->values,
                              run->value_stride, group->magnitude);
}

/* A single group: its sum is the result. */
static void run_leave(struct run *run, int owner, struct aps_slice slice)
{
    struct group *group = &run->groups[0];
    struct aps_piece *piece = &group->chunk.pieces[0];
    bool decoded;

    group_encode(run, group, slice);
    piece->before = aps_accumulate_encode(
        &group->inside, group->ranks, run->values, run->value_stride,
        aps_piece_sum(piece, &group->inside, slice, owner), group->sum,
        run->results, NULL, &decoded);
    piece->summed = true;
}

/* Adds up the sums of all groups, which the owners of the slice exchange. */
static void run_sum_across(struct run *run, int owner, struct aps_slice slice)
{
    struct aps_play *play = run->play;
    const size_t count = (size_t)run->count;
    struct aps_magnitude *magnitudes =
        aps_play_allocate(play, count, sizeof *magnitudes);
    struct aps_chunk **chunks = aps_play_allocate(play, count, sizeof *chunks);

    for (int g = 0; g < run->count && !play->failed; g++) {
        group_sum(run, &run->groups[g], slice);
        magnitudes[g] = run->groups[g].magnitude;
    }
    for (int g = 0; g < run->count && !play->failed; g++) {
        struct group *group = &run->groups[g];
        struct aps_vector *own = &group->across.own[0];

        aps_chunk_inner(&group->chunk, run->owners, owner, group->sum,
                        &aps_memory_host, &group->across);
        if (aps_scale_ops_of(&run->outside.scale)->agreed)
            own->exponent = own->sum_exponent =
                aps_play_stage_exponent(&run->outside, run->count, magnitudes);
        chunks[g] = &group->across;
    }
    if (!play->failed)
        aps_play_direct_chunk(play, &run->outside, run->count, chunks,
                              run->results, run->part_stride);
    free(magnitudes);
    free(chunks);
}

/* Plays the slices of one chunk, which groups[0] has. The results of all owners
 * follow one another. */
static void run_chunk(struct run *run)
{
    struct aps_play *play = run->play;
    const struct aps_piece *piece = &run->groups[0].chunk.pieces[0];
    const size_t owner_stride = (size_t)run->count * run->part_stride;
    unsigned char *all =
        aps_play_allocate(play, (size_t)run->owners, owner_stride);
    struct aps_scale_record record = {0};

    for (int g = 1; g < run->count; g++) {
        run->groups[g].chunk = run->groups[0].chunk;
        run->groups[g].chunk.pieces[0].vector = run->groups[g].vectors[0];
    }
    for (int owner = 0; owner < run->owners && !play->failed; owner++) {
        const struct aps_slice slice =
            aps_piece_slice(piece, run->owners, owner);

        run->results = all + (size_t)owner * owner_stride;
        if (slice.length > 0 && run->count == 1)
            run_leave(run, owner, slice);
        else if (slice.length > 0)
            run_sum_across(run, owner, slice);
        if (play->failed)
            break;
        {
            const struct aps_scale_record part =
                aps_redo_record(&run->outside, run->count, run->results,
                                run->part_stride, slice.length);

            aps_scale_record_add(&record, &part);
        }
    }
    if (!play->failed && aps_redo_settle(piece->vector->state, piece->begin,
                                         piece->n, &record)) {
        aps_blocks_begin(&play->blocks, &run->outside, NULL);
        for (int owner = 0; owner < run->owners; owner++) {
            const struct aps_slice slice =
                aps_piece_slice(piece, run->owners, owner);

            aps_blocks_decode_slices(
                &play->blocks, &aps_memory_host, run->count,
                all + (size_t)owner * owner_stride, run->part_stride,
                slice.length, aps_piece_out(piece, slice.begin));
        }
    }
    free(all);
}

/* One group whose sums stay FP32: nothing is rounded. */
static void run_exact(struct run *run)
{
    struct aps_play *play = run->play;
    float *out = play->vectors[0].out;

    memcpy(out, play->vectors[0].in, play->vectors[0].n * sizeof *out);
    for (int r = 1; r < play->ranks; r++) {
        const float *x = play->vectors[r].in;

        for (size_t i = 0; i < play->vectors[r].n; i++)
            out[i] += x[i];
    }
}

/* Sets up the groups, and their exponents. */
static void run_begin(struct run *run)
{
    struct aps_play *play = run->play;
    const struct aps_play_groups *groups = play->groups;

    for (int g = 0; g < run->count && !play->failed; g++) {
        struct group *group = &run->groups[g];
        int member = 0;

        group->ranks = groups->size[g];
        group->inside = aps_wire_inside(&play->wire, groups->first[g]);
        group->vectors = aps_play_allocate(play, (size_t)group->ranks,
                                           sizeof *group->vectors);
        for (int r = 0; r < play->ranks && !play->failed; r++)
            if (groups->group[r] == g)
                group->vectors[member++] = &play->vectors[r];
        if (!run->exact_inside)
            aps_play_agree(play, &group->inside, g, group->ranks);
    }
}

static void run_chunks(struct run *run, size_t length)
{
    struct aps_play *play = run->play;
    struct aps_chunks all = {.wire = &play->wire,
                             .vectors = play->vectors,
                             .count = 1,
                             .length = length,
                             .parts = run->owners,
                             .inner = run->count};
    const size_t granule = aps_codec_granule(&play->wire.codec);
    const size_t slice = aps_slice_longest(length, granule, run->owners);

    run->value_stride = aps_block_stride_widest(slice);
    run->part_stride =
        aps_block_stride_widest(aps_slice_longest(slice, granule, run->count));
    run->values = aps_play_allocate(play, (size_t)play->groups->largest,
                                    run->value_stride);
    for (int g = 0; g < run->count; g++)
        run->groups[g].sum = aps_play_allocate(play, slice, sizeof(float));
    while (all.vector < all.count && !play->failed) {
        aps_chunk_next(&all, &run->groups[0].chunk);
        run_chunk(run);
    }
    free(run->values);
}

void aps_play_hierarchical(struct aps_play *play)
{
    const struct aps_play_groups *groups = play->groups;
    struct run run = {
        .play = play,
        .outside = aps_wire_across(&play->wire),
        .exact_inside = play->plan->node == APS_NODE_FP32,
        .owners = groups->smallest,
        .count = groups->groups,
    };
    const struct aps_chunk_capacity room = aps_chunk_capacity_of(
        run.owners, run.count, run.owners,
        aps_pipeline_group_elements(run.owners, run.count, groups->largest),
        aps_pipeline_granule(&play->plan->format));

    if (groups->groups == play->ranks) {
        play->groups = NULL;
        aps_play_direct(play);
        play->groups = groups;
        return;
    }
    if (run.exact_inside && run.count == 1) {
        run_exact(&run);
        return;
    }
    run.groups = aps_play_allocate(play, (size_t)run.count, sizeof *run.groups);
    if (play->failed)
        return;
    run_begin(&run);
    if (!play->failed)
        run_chunks(&run, aps_chunk_layout_choose(&room, &play->wire.codec,
                                                 run.exact_inside,
                                                 APS_PIPELINE_GROUP_SLICE)
                             .chunk);
    for (int g = 0; g < run.count; g++) {
        free(run.groups[g].vectors);
        free(run.groups[g].sum);
    }
    free(run.groups);
}
