/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/hierarchical_stages.h"

#include <string.h>

#include "block/accumulate.h"
#include "reduce/hierarchical_devices.h"

/* Waits until `ranks` ranks have made the mark for the chunk `behind` chunks
 * before. */
static void stages_await(const struct aps_hierarchical_run *run,
                         enum aps_shm_group_mark mark, int ranks, size_t k,
                         size_t behind)
{
    const struct aps_hierarchical *h = run->h;

    aps_shm_group_await(h->node, mark, ranks,
                        (uint32_t)(h->done + k + 1) - (uint32_t)behind,
                        h->across != NULL);
}

/* Waits until all ranks have read the old results in chunk k's result area. */
static void stages_await_result(const struct aps_hierarchical_run *run,
                                size_t k)
{
    stages_await(run, APS_SHM_GROUP_COLLECTED, aps_shm_group_size(run->h->node),
                 k, run->results->result_depth);
}

static void stages_fail(struct aps_hierarchical_run *run, int rc)
{
    if (rc == MPI_SUCCESS || run->rc != MPI_SUCCESS)
        return;
    run->rc = rc;
    if (run->h->across)
        aps_direct_fail(run->h->across, rc);
    aps_shm_group_fail(run->h->node, run->h->calls);
}

/*
 * True if the calls of the group's ranks differ in length or in the size of elements,
 * which is an error of the program. All ranks have reached their first chunk, and each
 * call has one. The stages would wait for marks that are never made, so this call ends
 * here, and so do all later ones.
 */
static bool stages_meet_another_shape(struct aps_hierarchical_run *run)
{
    struct aps_hierarchical *h = run->h;
    uint64_t shape;
    int other = aps_shm_group_find_other_shape(h->node, h->calls, &shape);

    if (other < 0)
        return false;
    h->broken = true;
    stages_fail(run, MPI_ERR_TRUNCATE);
    aps_hierarchical_tell_shapes(run, other, shape);
    return true;
}

/* Called before a mark. Other ranks must not take the data in this rank's GPU
 * memory for its values if the rank could not write them. All stages continue,
 * but the call will fail. */
static void stages_watch_device(const struct aps_hierarchical_run *run)
{
    if (run->lost)
        aps_shm_group_fail_device(run->h->node);
}

/* True if nothing is rounded: one group, whose sums stay FP32. */
static bool stages_is_exact(const struct aps_hierarchical_run *run)
{
    return run->exact_inside && aps_hierarchical_is_single_group(run->h);
}

/* Counts n values sent inside the group as FP32. */
static void stages_count_fp32(const struct aps_hierarchical_run *run, size_t n)
{
    run->cost->wire_bytes += n * sizeof(float);
    run->cost->fp32_bytes += n * sizeof(float);
}

/* Copies this rank's values of an owner's slice, unrounded, into its slot. */
static void stages_contribute_exact(struct aps_hierarchical_run *run,
                                    const struct aps_piece *piece,
                                    struct aps_slice slice, int owner,
                                    unsigned char *to)
{
    const bool away = owner != aps_shm_group_rank(run->h->node);
    const void *from = aps_piece_in(piece, slice.begin);

    if (away && piece->vector->memory == &aps_memory_host)
        aps_stage_copy(run, owner, to, from, slice.length);
    else
        piece->vector->memory->copy_out((float *)(void *)to, from,
                                        slice.length);
    if (away)
        stages_count_fp32(run, slice.length);
}

/* Encodes this rank's values of a piece in its slot, one block an owner:
 * immediately in host memory, otherwise in aps_blocks_run. */
static void stages_contribute_piece(struct aps_hierarchical_run *run, size_t k,
                                    const struct aps_piece *piece)
{
    struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);
    const int ranks = aps_shm_group_size(h->node);

    for (int owner = 0; owner < h->owners; owner++) {
        const struct aps_slice slice = aps_piece_slice(piece, h->owners, owner);
        unsigned char *to = aps_stage_slot_slice(run, k, rank, owner) +
                            aps_stage_slot_offset(run, piece);
        const bool passes =
            owner != rank && piece->vector->memory == &aps_memory_host;
        struct aps_block block;

        if (slice.length == 0)
            continue;
        if (run->exact_inside) {
            stages_contribute_exact(run, piece, slice, owner, to);
            continue;
        }
        block = aps_piece_block(piece, &run->inside, rank, ranks, slice);
        aps_blocks_encode(
            &h->waiting, &block,
            passes ? aps_store_selector_make(&h->handoff, owner, to) : to);
        if (passes)
            aps_stage_pass(run, owner, to, slice.length);
        if (owner != rank)
            aps_cost_add(run->cost, &run->inside, slice.length, 1);
    }
}

void aps_hierarchical_contribute(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;
    struct aps_hierarchical *h = run->h;
    struct aps_chunk *chunk = aps_stage_chunk(run, k);

    if (h->broken)
        return;
    if (k == 0)
        aps_shm_group_tell_shape(h->node, h->calls,
                                 aps_hierarchical_shape(run));
    aps_chunk_next(&run->chunks, chunk);
    stages_await(run, APS_SHM_GROUP_SUMMED, h->owners, k, APS_SLOT_DEPTH);
    aps_stage_measure_handoff(run, k);
    aps_blocks_begin(&h->waiting, &run->inside, run->cost);
    for (int p = 0; p < chunk->count; p++)
        if (aps_stage_is_on_devices(run))
            aps_hierarchical_devices_contribute(run, k, &chunk->pieces[p]);
        else
            stages_contribute_piece(run, k, &chunk->pieces[p]);
    aps_blocks_run(&h->waiting);
    stages_watch_device(run);
    aps_shm_group_signal(h->node, APS_SHM_GROUP_CONTRIBUTED);
}

/* Returns a rank's values of this rank's slice of a piece. */
static unsigned char *
stages_contribution(const struct aps_hierarchical_run *run, size_t k,
                    int member, const struct aps_piece *piece)
{
    return aps_stage_slot_slice(run, k, member,
                                aps_shm_group_rank(run->h->node)) +
           aps_stage_slot_offset(run, piece);
}

/* Sums FP32 slots in rank order, and measures the sum. */
static void stages_sum_exact(const struct aps_hierarchical_run *run, size_t k,
                             const struct aps_piece *piece, size_t length,
                             float *total, struct aps_magnitude *magnitude)
{
    memcpy(total, stages_contribution(run, k, 0, piece),
           length * sizeof *total);
    for (int member = 1; member < aps_shm_group_size(run->h->node); member++) {
        const float *values = (const float *)(const void *)stages_contribution(
            run, k, member, piece);

        for (size_t i = 0; i < length; i++)
            total[i] += values[i];
    }
    *magnitude = aps_magnitude_of(total, length);
}

/* Sums encoded slots in rank order; the piece keeps their record. */
static void stages_sum_encoded(const struct aps_hierarchical_run *run, size_t k,
                               struct aps_piece *piece, size_t length,
                               float *total, struct aps_magnitude *magnitude)
{
    const int ranks = aps_shm_group_size(run->h->node);
    const size_t stride = aps_shm_group_slot_stride(run->h->node);
    const unsigned char *slots = stages_contribution(run, k, 0, piece);

    aps_accumulate(run->wire, ranks, slots, stride, length, total, magnitude);
    piece->summed = true;
    piece->before =
        aps_accumulate_record(run->wire, ranks, slots, stride, *magnitude);
}

static void stages_sum_piece(struct aps_hierarchical_run *run, size_t k,
                             struct aps_piece *piece,
                             struct aps_magnitude *magnitude)
{
    const size_t length = aps_stage_own_length(run, piece);
    float *total = aps_stage_sum_of(run, k, piece);

    *magnitude = (struct aps_magnitude){0, false};
    if (length == 0)
        return;
    if (run->exact_inside)
        stages_sum_exact(run, k, piece, length, total, magnitude);
    else if (aps_stage_is_on_devices(run))
        aps_hierarchical_devices_sum(run, k, piece, magnitude);
    else
        stages_sum_encoded(run, k, piece, length, total, magnitude);
}

/* Returns the address of this rank's result of a piece. */
static unsigned char *stages_result_of(const struct aps_hierarchical_run *run,
                                       size_t k, const struct aps_piece *piece)
{
    return aps_stage_result_slice(run, k, aps_shm_group_rank(run->h->node)) +
           aps_stage_slot_offset(run, piece);
}

/* One group whose sums stay FP32: the sum is the result. */
static void stages_leave_exact(struct aps_hierarchical_run *run, size_t k,
                               const struct aps_piece *piece)
{
    const size_t length = aps_stage_own_length(run, piece);

    if (length == 0)
        return;
    aps_stage_copy(run, APS_STORE_SELECTOR_ALL, stages_result_of(run, k, piece),
                   aps_stage_sum_of(run, k, piece), length);
    stages_count_fp32(run, length);
}

/* True with one group and codes in host memory: the results are blocks of the
 * sums, which need not be stored. */
static bool stages_leaves_blocks(const struct aps_hierarchical_run *run)
{
    return aps_hierarchical_is_single_group(run->h) && !run->exact_inside &&
           !aps_stage_is_on_devices(run);
}

static void stages_leave_block(struct aps_hierarchical_run *run, size_t k,
                               struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);
    const struct aps_slice slice = aps_piece_slice(piece, h->owners, rank);
    /* Values that may be reduced again are collected later, when that is known.
     * In a single group of the host, no error can come between this stage and
     * the last one. */
    const bool places =
        piece->vector->memory == &aps_memory_host && !piece->vector->state;
    unsigned char *const to = stages_result_of(run, k, piece);

    if (slice.length == 0)
        return;
    piece->before = aps_accumulate_encode(
        &run->inside, aps_shm_group_size(h->node),
        stages_contribution(run, k, 0, piece),
        aps_shm_group_slot_stride(h->node),
        aps_piece_sum(piece, &run->inside, slice, rank),
        aps_stage_sum_of(run, k, piece),
        aps_store_selector_make(&h->handoff, APS_STORE_SELECTOR_ALL, to),
        places ? aps_piece_out(piece, slice.begin) : NULL, &piece->placed);
    aps_stage_pass(run, APS_STORE_SELECTOR_ALL, to, slice.length);
    piece->summed = true;
    aps_cost_add(run->cost, &run->inside, slice.length, 1);
}

void aps_hierarchical_sum(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;
    struct aps_hierarchical *h = run->h;
    const int ranks = aps_shm_group_size(h->node);
    struct aps_chunk *chunk = aps_stage_chunk(run, k);
    struct aps_magnitude magnitudes[APS_PIECES_MAX];
    float max[APS_PIECES_MAX];

    if (h->broken || (k > 0 && !aps_stage_is_owner(h)))
        return;
    stages_await(run, APS_SHM_GROUP_CONTRIBUTED, ranks, k, 0);
    /* A rank that owns nothing checks this, too, before it waits for an
     * owner. */
    if ((k == 0 && stages_meet_another_shape(run)) || !aps_stage_is_owner(h))
        return;
    if (run->results->peers || stages_leaves_blocks(run)) /* writes results */
        stages_await_result(run, k);
    if (stages_leaves_blocks(run)) {
        for (int p = 0; p < chunk->count; p++)
            stages_leave_block(run, k, &chunk->pieces[p]);
        aps_shm_group_signal(h->node, APS_SHM_GROUP_SUMMED);
        aps_shm_group_signal(h->node, APS_SHM_GROUP_FINISHED);
        return;
    }
    for (int p = 0; p < chunk->count; p++)
        stages_sum_piece(run, k, &chunk->pieces[p], &magnitudes[p]);
    stages_watch_device(run);
    for (int p = 0; p < chunk->count; p++) {
        if (aps_hierarchical_device_failed(run))
            magnitudes[p] = (struct aps_magnitude){0, false};
        max[p] = magnitudes[p].max;
    }
    aps_shm_group_signal(h->node, APS_SHM_GROUP_SUMMED);
    if (aps_hierarchical_is_single_group(h)) {
        if (stages_is_exact(run)) { /* on devices, sums are the results */
            stages_await_result(run, k);
            for (int p = 0; p < chunk->count; p++)
                stages_leave_exact(run, k, &chunk->pieces[p]);
        }
        aps_shm_group_signal(h->node, APS_SHM_GROUP_FINISHED);
        return;
    }
    if (aps_stage_own_elements(run, k) > 0)
        stages_fail(run, aps_exponent_begin(&h->sums[k % APS_SUM_DEPTH],
                                            &h->groups.peers, run->wire,
                                            chunk->count, max));
}

/* Starts chunk k between the groups. exponents[]: one for each piece, of the second
 * stage, which has its own N; NULL if ranks do not agree on exponents. Lost
 * values count as zeros. */
static struct aps_chunk *
stages_begin_across(const struct aps_hierarchical_run *run, size_t k,
                    const int exponents[])
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);
    const bool lost = aps_hierarchical_device_failed(run);
    const struct aps_chunk *chunk = aps_stage_chunk(run, k);
    struct aps_chunk *across = aps_stage_across_chunk(run, k);
    float *total =
        lost ? aps_chunk_buffers_sum(&h->host, k) : aps_stage_sum(run, k);

    if (lost)
        memset(total, 0, chunk->elements * sizeof *total);
    aps_chunk_inner(chunk, h->owners, rank, total,
                    aps_stage_is_on_devices(run) && !lost
                        ? run->wire->memory
                        : aps_wire_sum_memory(run->wire),
                    across);
    for (int p = 0; p < across->count && exponents; p++)
        across->own[p].exponent = across->own[p].sum_exponent = exponents[p];
    across->blocks = aps_stage_result_slice(run, k, rank);
    across->stride = run->layout.part_stride;
    return across;
}

void aps_hierarchical_send(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;
    struct aps_hierarchical *h = run->h;
    int exponents[APS_PIECES_MAX] = {0};
    const struct aps_chunk *across;

    if (h->broken || aps_stage_own_elements(run, k) == 0)
        return;
    stages_await_result(run, k);
    stages_fail(run, aps_exponent_end(&h->sums[k % APS_SUM_DEPTH], run->wire,
                                      exponents, run->cost));
    across = stages_begin_across(
        run, k, aps_scale_ops_of(&run->wire->scale)->agreed ? exponents : NULL);
    stages_fail(run, aps_direct_send_contributions(h->across, run->wire, k,
                                                   across, &run->across));
}

void aps_hierarchical_sum_across(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;

    if (run->h->broken || aps_stage_own_elements(run, k) == 0)
        return;
    stages_fail(run, aps_direct_reduce_slice(run->h->across, run->wire, k,
                                             aps_stage_across_chunk(run, k),
                                             &run->across));
}

void aps_hierarchical_receive(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;
    struct aps_hierarchical *h = run->h;
    const struct aps_chunk *chunk = aps_stage_chunk(run, k);

    if (h->broken || !aps_stage_is_owner(h))
        return;
    if (aps_stage_own_elements(run, k) > 0)
        stages_fail(run, aps_direct_receive_results(h->across, k));
    for (int p = 0; p < chunk->count && aps_shm_group_size(h->node) > 1; p++)
        aps_cost_add(run->cost, run->wire,
                     aps_stage_own_length(run, &chunk->pieces[p]), 1);
    aps_shm_group_signal(h->node, APS_SHM_GROUP_FINISHED);
}

static struct aps_scale_record
stages_results_record(const struct aps_hierarchical_run *run, size_t k,
                      const struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    struct aps_scale_record record = {0};

    for (int owner = 0; owner < h->owners; owner++) {
        const struct aps_scale_record part = aps_redo_record(
            run->wire, h->groups.groups,
            aps_stage_result_slice(run, k, owner) + piece->inner_offset,
            run->layout.part_stride,
            aps_piece_slice(piece, h->owners, owner).length);

        aps_scale_record_add(&record, &part);
    }
    return record;
}

/* Collects the results of a piece, which aps_blocks_run has decoded. */
static void stages_collect_piece(struct aps_hierarchical_run *run, size_t k,
                                 const struct aps_piece *piece)
{
    struct aps_hierarchical *h = run->h;
    const bool exact = stages_is_exact(run);

    if (run->results->peers) {
        aps_hierarchical_devices_collect(run, k, piece);
        return;
    }
    if (piece->vector->state && !exact) {
        const struct aps_scale_record record =
            stages_results_record(run, k, piece);

        if (!aps_redo_settle(piece->vector->state, piece->begin, piece->n,
                             &record))
            return;
    }
    for (int owner = 0; owner < h->owners; owner++) {
        const struct aps_slice slice = aps_piece_slice(piece, h->owners, owner);
        const unsigned char *result = aps_stage_result_slice(run, k, owner);

        if (exact && slice.length > 0)
            piece->vector->memory->copy_in(
                aps_piece_out(piece, slice.begin),
                (const float *)(const void *)(result + aps_stage_slot_offset(
                                                           run, piece)),
                slice.length);
        else if (!exact &&
                 (owner != aps_shm_group_rank(h->node) || !piece->placed))
            aps_blocks_decode_slices(
                &h->waiting, piece->vector->memory, h->groups.groups,
                result + piece->inner_offset, run->layout.part_stride,
                slice.length, aps_piece_out(piece, slice.begin));
    }
}

void aps_hierarchical_collect(void *state, size_t k)
{
    struct aps_hierarchical_run *run = state;
    struct aps_hierarchical *h = run->h;
    const struct aps_chunk *chunk = aps_stage_chunk(run, k);

    if (h->broken)
        return;
    stages_await(run, APS_SHM_GROUP_FINISHED, h->owners, k, 0);
    if (run->rc == MPI_SUCCESS && aps_shm_group_failed(h->node, h->calls))
        stages_fail(run, MPI_ERR_OTHER);
    aps_blocks_begin(&h->waiting, run->wire, NULL);
    for (int p = 0; p < chunk->count && run->rc == MPI_SUCCESS; p++)
        stages_collect_piece(run, k, &chunk->pieces[p]);
    aps_blocks_run(&h->waiting);
    aps_shm_group_signal(h->node, APS_SHM_GROUP_COLLECTED);
}

void aps_hierarchical_leave_results(const struct aps_hierarchical_run *run,
                                    size_t chunks)
{
    const struct aps_hierarchical *h = run->h;

    if (run->results->peers && aps_stage_is_owner(h) && chunks > 0)
        stages_await(run, APS_SHM_GROUP_COLLECTED, aps_shm_group_size(h->node),
                     chunks - 1, 0);
}
