/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/master.h"

#include <stdbool.h>
#include <stdlib.h>

#include "block/random_key.h"
#include "block/accumulate.h"
#include "cut/exponent.h"
#include "message/messages.h"
#include "wire/pipeline_sizes.h"
#include "reduce/ring.h"

/* Scratch of one chunk of the window. */
struct slot {
    unsigned char *values;  /* the members' blocks; on a member, its own
                             * block */
    float *sum;             /* sum of the group; masters only */
    unsigned char *results; /* one slice for each group */
    struct aps_messages messages;
    struct aps_chunk chunk; /* cut of the members' values */
    struct aps_chunk sums;  /* cut of a master's sums for the ring */
};

struct master {
    struct aps_algorithm algorithm;
    struct aps_groups groups;
    struct aps_ring *ring; /* ring of the masters, if there are several
                            * groups */
    int place;             /* number in the group; the master has 0 */
    int members;
    int outcome; /* outcome of the call in progress */
    struct aps_blocks waiting;
    struct slot slots[APS_RING_WINDOW];
};

/* Local. Allocates the scratch. Returns 0 or -1. */
static int master_allocate(struct master *master, size_t granule)
{
    const int groups = master->groups.groups;
    const bool leads = master->place == 0;
    const size_t blocks = leads ? (size_t)master->members : 1;
    const size_t elements = aps_pipeline_elements_max(1, granule);
    const size_t piece = aps_block_stride_bytes(aps_pipeline_room(1, granule));
    /* A chunk's results: each block has a header, ends in a gap, and may be a
     * granule of elements longer than its share. */
    const size_t gap = aps_block_stride_widest(granule) + 64;
    const size_t results = piece + (size_t)groups * gap;
    size_t longest;

    for (int i = 0; i < APS_RING_WINDOW; i++) {
        struct slot *slot = &master->slots[i];

        slot->values = malloc(piece * blocks);
        slot->sum = malloc(leads ? elements * sizeof *slot->sum : 1);
        /* The results travel with the gaps between blocks; zeros keep the
         * program's memory from leaking there. */
        slot->results = calloc(1, results);
        if (!slot->values || !slot->sum || !slot->results ||
            aps_messages_init(&slot->messages, &master->groups.group,
                              2 * master->members, &master->outcome) < 0)
            return -1;
    }
    if (!leads || groups == 1)
        return 0;
    /* Partial sums are not encoded, whatever the width of the result. */
    longest = elements / (size_t)groups + granule;
    master->ring = aps_ring_create(&master->groups.peers, longest,
                                   aps_block_stride_widest(longest));
    return master->ring ? 0 : -1;
}

static void master_destroy(struct aps_algorithm *algorithm)
{
    struct master *master = (struct master *)algorithm;

    aps_ring_destroy(master->ring);
    for (int i = 0; i < APS_RING_WINDOW; i++) {
        free(master->slots[i].values);
        free(master->slots[i].sum);
        free(master->slots[i].results);
        aps_messages_clear(&master->slots[i].messages);
    }
    aps_topology_release(&master->groups);
    free(master);
}

/* COLLECTIVE over vcomm. Returns as aps_algorithm_create_fn. */
static int master_create(const struct aps_vcomm *vcomm,
                         const struct aps_grouping *grouping, size_t granule,
                         struct master **master, char *cause, size_t size)
{
    struct master *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    rc = aps_topology_groups(vcomm, grouping, &new->groups, cause, size);
    if (rc != MPI_SUCCESS)
        goto fail;
    new->place = new->groups.group.rank;
    new->members = new->groups.group.size;
    if (master_allocate(new, granule) < 0) {
        rc = MPI_ERR_NO_MEM;
        goto fail;
    }
    *master = new;
    return MPI_SUCCESS;

fail:
    master_destroy(&new->algorithm);
    return rc;
}

/* One call. */
struct run {
    struct master *master;
    const struct aps_wire *wire;
    struct aps_wire across; /* between the masters */
    struct aps_chunks chunks;
    int count; /* chunks of the window in progress */
    struct aps_cost *cost;
};

static void *master_sum_of(const struct run *run, const struct slot *slot,
                           const struct aps_piece *piece)
{
    return aps_memory_at(aps_wire_sum_memory(run->wire), slot->sum,
                         piece->base);
}

static bool master_is_well(const struct run *run)
{
    return run->master->outcome == MPI_SUCCESS;
}

/* Returns the bytes of a chunk's values, which is also the distance from one
 * member's values to the next. */
static size_t master_value_bytes(const struct run *run,
                                 const struct aps_chunk *chunk)
{
    return aps_chunk_slice_bytes(chunk, run->wire, 1, 0);
}

/* Returns the bytes of a chunk's result, gaps included. */
static size_t master_result_bytes(const struct run *run,
                                  const struct aps_chunk *chunk)
{
    return chunk->stride * (size_t)run->master->groups.groups;
}

static void master_encode_values(const struct run *run, struct slot *slot)
{
    const struct aps_chunk *chunk = &slot->chunk;
    struct aps_blocks *blocks = &run->master->waiting;

    aps_chunk_clear_gaps(chunk, slot->values, master_value_bytes(run, chunk));
    aps_blocks_begin(blocks, run->wire, run->cost);
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const struct aps_block block = aps_piece_block(
            piece, run->wire, run->master->place, run->master->members,
            (struct aps_slice){0, piece->n});

        aps_blocks_encode(blocks, &block, slot->values + piece->offset);
    }
    aps_blocks_run(blocks);
}

static void master_decode_results(const struct run *run, struct slot *slot)
{
    const struct aps_chunk *chunk = &slot->chunk;
    const int groups = run->master->groups.groups;
    struct aps_blocks *blocks = &run->master->waiting;

    aps_blocks_begin(blocks, run->wire, NULL);
    for (int p = 0; p < chunk->count; p++) {
        const struct aps_piece *piece = &chunk->pieces[p];
        const unsigned char *results = slot->results + piece->inner_offset;
        const struct aps_scale_record record = aps_redo_record(
            run->wire, groups, results, chunk->stride, piece->n);

        if (aps_redo_settle(piece->vector->state, piece->begin, piece->n,
                            &record))
            aps_blocks_decode_slices(blocks, piece->vector->memory, groups,
                                     results, chunk->stride, piece->n,
                                     aps_piece_out(piece, 0));
    }
    aps_blocks_run(blocks);
}

static size_t master_elements(const struct aps_chunk *chunk)
{
    return aps_chunk_slice_elements(chunk, 1, 0);
}

static void master_follow(const struct run *run)
{
    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &run->master->slots[i];
        const struct aps_chunk *chunk = &slot->chunk;

        if (master_is_well(run))
            master_encode_values(run, slot);
        aps_messages_receive(&slot->messages, slot->results,
                             master_result_bytes(run, chunk), 0,
                             APS_TAG_RESULT);
        aps_messages_send(&slot->messages, slot->values,
                          master_value_bytes(run, chunk), 0,
                          APS_TAG_CONTRIBUTION);
        for (int p = 0; p < chunk->count; p++)
            aps_cost_add(run->cost, run->wire, chunk->pieces[p].n, 1);
    }
    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &run->master->slots[i];

        if (aps_messages_wait(&slot->messages) == MPI_SUCCESS)
            master_decode_results(run, slot);
    }
}

/* Sums a group of one rank: nothing has travelled, so nothing is rounded unless
 * every contribution is. */
static struct aps_magnitude master_sum_alone(const struct run *run,
                                             const struct slot *slot,
                                             const struct aps_piece *piece)
{
    float *sum = master_sum_of(run, slot, piece);

    if (run->wire->accumulate == APS_ACCUMULATE_FP32)
        piece->vector->memory->copy_out(sum, aps_piece_in(piece, 0), piece->n);
    else
        aps_block_decode(run->wire, aps_wire_sum_memory(run->wire),
                         slot->values + piece->offset, piece->n, sum);
    return run->wire->codec.format.wide ? (struct aps_magnitude){0, false}
                                        : aps_magnitude_of(sum, piece->n);
}

/* Computes the group's sums of a chunk, and their magnitudes. */
static void master_sum_chunk(const struct run *run, struct slot *slot,
                             struct aps_magnitude max[])
{
    struct aps_chunk *chunk = &slot->chunk;
    const size_t stride = aps_chunk_scratch_stride(chunk);
    const int members = run->master->members;
    const bool travels =
        members > 1 || run->wire->accumulate != APS_ACCUMULATE_FP32;

    if (members == 1 && travels)
        master_encode_values(run, slot);
    for (int p = 0; p < chunk->count; p++) {
        struct aps_piece *piece = &chunk->pieces[p];
        const unsigned char *values = slot->values + piece->offset;

        if (members == 1)
            max[p] = master_sum_alone(run, slot, piece);
        else
            aps_accumulate(run->wire, members, values, stride, piece->n,
                           master_sum_of(run, slot, piece), &max[p]);
        piece->summed = travels;
        if (travels)
            piece->before = aps_accumulate_record(run->wire, members, values,
                                                  stride, max[p]);
        else
            piece->before.nonfinite = !max[p].finite;
    }
}

/* Computes the group's sums of the window, and the magnitudes of their pieces
 * in order. */
static void master_sum_group(const struct run *run, struct aps_magnitude max[])
{
    const int members = run->master->members;

    for (int i = 0; i < run->count && members > 1; i++) {
        struct slot *slot = &run->master->slots[i];
        const size_t bytes = master_value_bytes(run, &slot->chunk);

        for (int member = 1; member < members; member++)
            aps_messages_receive(&slot->messages,
                                 slot->values +
                                     (size_t)member *
                                         aps_chunk_scratch_stride(&slot->chunk),
                                 bytes, member, APS_TAG_CONTRIBUTION);
        if (master_is_well(run))
            master_encode_values(run, slot);
    }
    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &run->master->slots[i];

        for (int p = 0; p < slot->chunk.count; p++)
            max[p] = (struct aps_magnitude){0, false};
        if (aps_messages_wait(&slot->messages) == MPI_SUCCESS)
            master_sum_chunk(run, slot, max);
        max += slot->chunk.count;
    }
}

/* A single group: its sums are the result. */
static void master_leave_results(const struct run *run,
                                 const struct aps_magnitude max[])
{
    for (int i = 0; i < run->count && master_is_well(run); i++) {
        const struct slot *slot = &run->master->slots[i];

        for (int p = 0; p < slot->chunk.count; p++) {
            const struct aps_piece *piece = &slot->chunk.pieces[p];
            struct aps_block block = aps_piece_sum(
                piece, run->wire, (struct aps_slice){0, piece->n}, 0);

            block.x = master_sum_of(run, slot, piece);
            block.known = *max++;
            block.exact = true;
            block.sums = &piece->before;
            aps_block_encode(run->wire, &block,
                             slot->results + piece->inner_offset);
        }
    }
}

/* COLLECTIVE over the masters. Computes the window's results from the sums of
 * their groups. */
static void master_sum_groups(const struct run *run,
                              const struct aps_magnitude max[])
{
    struct master *master = run->master;
    const struct aps_chunk *chunks[APS_RING_WINDOW];
    float greatest[APS_RING_WINDOW * APS_PIECES_MAX];
    int exponents[APS_RING_WINDOW * APS_PIECES_MAX];
    const bool agreed = aps_scale_ops_of(&run->wire->scale)->agreed;
    int pieces = 0, piece = 0;
    int rc;

    for (int i = 0; i < run->count; i++)
        pieces += master->slots[i].chunk.count;
    for (int i = 0; i < pieces; i++)
        greatest[i] = max[i].max;
    rc = aps_exponent_agree_all(&master->groups.peers, run->wire, pieces,
                                greatest, exponents, run->cost);
    if (master->outcome == MPI_SUCCESS)
        master->outcome = rc;
    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &master->slots[i];

        aps_chunk_inner(&slot->chunk, 1, 0, slot->sum,
                        aps_wire_sum_memory(run->wire), &slot->sums);
        slot->sums.blocks = slot->results;
        slot->sums.stride = slot->chunk.stride;
        for (int p = 0; p < slot->sums.count && agreed; p++, piece++)
            slot->sums.own[p].exponent = slot->sums.own[p].sum_exponent =
                exponents[piece];
        chunks[i] = &slot->sums;
    }
    aps_ring_begin(master->ring, master->outcome);
    master->outcome = aps_ring_window(master->ring, &run->across, run->count,
                                      chunks, run->cost);
}

static void master_lead(const struct run *run)
{
    struct master *master = run->master;
    struct aps_magnitude max[APS_RING_WINDOW * APS_PIECES_MAX];

    master_sum_group(run, max);
    if (master->groups.groups == 1)
        master_leave_results(run, max);
    else
        master_sum_groups(run, max);
    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &master->slots[i];
        const size_t bytes = master_result_bytes(run, &slot->chunk);

        for (int member = 1; member < master->members; member++)
            aps_messages_send(&slot->messages, slot->results, bytes, member,
                              APS_TAG_RESULT);
        run->cost->wire_bytes += (unsigned)(master->members - 1) * bytes;
        run->cost->fp32_bytes += (unsigned)(master->members - 1) *
                                 master_elements(&slot->chunk) * sizeof(float);
        if (master_is_well(run))
            master_decode_results(run, slot);
    }
    for (int i = 0; i < run->count; i++)
        (void)aps_messages_wait(&master->slots[i].messages);
}

static int master_run(struct aps_algorithm *algorithm,
                      const struct aps_plan *plan, const struct aps_wire *wire,
                      int count, struct aps_vector vectors[],
                      struct aps_cost *cost)
{
    struct master *master = (struct master *)algorithm;
    const struct aps_wire inside =
        aps_wire_inside(wire, aps_vcomm_rank(&master->groups.group, 0));
    struct run run = {
        .master = master,
        .wire = &inside,
        .across = aps_wire_across(wire),
        .chunks = {.wire = wire,
                   .vectors = vectors,
                   .count = count,
                   .length = aps_pipeline_elements(&wire->codec, 1),
                   .parts = 1,
                   .inner = master->groups.groups},
        .cost = cost,
    };

    (void)plan;
    master->outcome =
        aps_exponent_vectors(&master->groups.group, wire,
                             master->groups.groups == 1, count, vectors, cost);
    while (run.chunks.vector < run.chunks.count) {
        for (run.count = 0; run.count < APS_RING_WINDOW &&
                            run.chunks.vector < run.chunks.count;
             run.count++) {
            struct aps_chunk *chunk = &master->slots[run.count].chunk;

            aps_chunk_next(&run.chunks, chunk);
            chunk->stride = aps_block_aligned(chunk->inner_bytes);
        }
        if (master->place == 0)
            master_lead(&run);
        else
            master_follow(&run);
    }
    return master->outcome;
}

static const struct aps_groups *
master_groups(const struct aps_algorithm *algorithm)
{
    return &((const struct master *)algorithm)->groups;
}

int aps_master_algorithm(const struct aps_algorithm_params *params,
                         struct aps_algorithm **algorithm, char *cause,
                         size_t size)
{
    static const struct aps_algorithm_ops ops = {
        .run = master_run, .groups = master_groups, .destroy = master_destroy};
    struct aps_grouping grouping = params->grouping;
    struct master *master;
    int rc;

    grouping.across_nodes = true;
    rc = master_create(params->vcomm, &grouping, params->granule, &master,
                       cause, size);
    if (rc != MPI_SUCCESS)
        return rc;
    master->algorithm.ops = &ops;
    *algorithm = &master->algorithm;
    return MPI_SUCCESS;
}
