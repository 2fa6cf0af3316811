/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk goes through these stages, in a pipeline over the chunks:
 *
 *   contribute   every rank encodes its chunk into its slot, one block an owner
 *   sum          every owner sums its blocks of all slots in rank order; in a
 *                single group it leaves the encoded sum in the result area
 *   offer, turn, finish
 *                with several groups: `direct` on the sum, between the owners of
 *                the same slice, leaves it there
 *   collect      every rank decodes the result area
 *
 * No stage has a barrier: ranks count what they have done (node.h), and a rank
 * waits only for what it needs. Slots and result areas are used by turns.
 *
 * Slots lie in the host's shared memory, and so do results. Where all ranks of
 * the group have their vectors in GPUs' memory, slots, sums and a single
 * group's results lie there, too (peers.h): the same bytes.
 */
#include "config.h"

#include "reduce/hierarchical.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/accumulate.h"
#include "progress/agree.h"
#include "reduce/direct.h"
#include "reduce/exponent.h"
#include "topo/shm_group.h"
#include "scale/scale.h"
#include "reduce/chunk_buffers.h"
#include "progress/wait.h"

struct aps_hierarchical {
    struct aps_algorithm algorithm; /* of aps_hierarchical_algorithm */
    struct aps_groups groups;
    struct aps_direct *whole;   /* every group is one rank: `direct` alone */
    struct aps_shm_group *node; /* of the slots */
    struct aps_chunk_buffers host;
    struct aps_chunk_buffers devices; /* if GPUs are expected */
    struct aps_direct *across; /* owners, when there are several groups */
    int owners;                /* ranks of a group that own a slice */
    struct aps_exponents sums[APS_SUM_TURNS]; /* on their way across groups */
    struct aps_chunk chunks[APS_HIERARCHICAL_TURNS];
    struct aps_chunk across_chunks[APS_DIRECT_TURNS]; /* between groups */
    size_t done;    /* chunks of all calls before this one */
    uint32_t calls; /* this one included */
};

static bool hierarchical_is_alone(const struct aps_hierarchical *h)
{
    return h->groups.groups == 1;
}

/*
 * COLLECTIVE over the group. Do its ranks outnumber the cores that they may run
 * on together? One rank's own binding does not tell.
 */
static void hierarchical_count_cores(const struct aps_vcomm *group)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    if (aps_agree_or(group, &cpus, sizeof cpus) == MPI_SUCCESS)
        aps_wait_set_ranks(group->size, CPU_COUNT(&cpus));
}

/* Local: what this rank needs beside the slots. 0 or -1. */
static int hierarchical_equip_local(struct aps_hierarchical *h,
                                    enum aps_devices devices)
{
    const size_t slice = aps_slice_longest(h->host.chunk, h->owners);

    if (devices != APS_DEVICES_NONE &&
        aps_chunk_buffers_init_devices(&h->devices, &h->host) < 0)
        return -1;
    if (hierarchical_is_alone(h) || aps_shm_group_rank(h->node) >= h->owners)
        return 0;
    h->across = aps_direct_create(&h->groups.peers,
                                  aps_slice_longest(slice, h->groups.groups),
                                  h->host.part_stride);
    return h->across ? 0 : -1;
}

/* COLLECTIVE over vcomm. */
static int hierarchical_equip(struct aps_hierarchical *h,
                              const struct aps_vcomm *vcomm,
                              enum aps_devices devices, char *cause,
                              size_t size)
{
    bool good = aps_chunk_buffers_init(&h->host, &h->groups, cause, size) == 0;

    h->node = h->host.node;
    if (good && hierarchical_equip_local(h, devices) < 0) {
        snprintf(cause, size, "out of memory");
        good = false;
    }
    if (!aps_agree_all(vcomm, good))
        return -1;
    hierarchical_count_cores(&h->groups.group);
    return 0;
}

int aps_hierarchical_create(const struct aps_vcomm *vcomm,
                            const struct aps_grouping *grouping,
                            enum aps_devices devices,
                            struct aps_hierarchical **hierarchical, char *cause,
                            size_t size)
{
    struct aps_hierarchical *h = calloc(1, sizeof *h);

    cause[0] = '\0';
    if (!aps_agree_all(vcomm, h != NULL)) {
        snprintf(cause, size, "%s", h ? "" : "out of memory");
        free(h);
        return -1;
    }
    if (aps_topology_groups(vcomm, grouping, &h->groups, cause, size) < 0)
        goto hierarchical_fail;
    h->owners = h->groups.smallest;
    if (h->groups.groups == vcomm->size) {
        h->whole = aps_direct_create_alone(vcomm, devices);
        if (!aps_agree_all(vcomm, h->whole != NULL)) {
            snprintf(cause, size, "%s", h->whole ? "" : "out of memory");
            goto hierarchical_fail;
        }
    } else if (hierarchical_equip(h, vcomm, devices, cause, size) < 0) {
        goto hierarchical_fail;
    }
    *hierarchical = h;
    return 0;

hierarchical_fail:
    aps_hierarchical_destroy(h);
    return -1;
}

void aps_hierarchical_destroy(struct aps_hierarchical *h)
{
    if (!h)
        return;
    aps_direct_destroy(h->whole);
    aps_direct_destroy(h->across);
    aps_chunk_buffers_clear(&h->host, &h->devices);
    aps_topology_release(&h->groups);
    free(h);
}

/* --- one call ------------------------------------------------------------ */

struct run {
    struct aps_hierarchical *h;
    const struct aps_wire *wire;
    struct aps_wire inside; /* with its blocks where the slots are */
    bool exact_inside;
    const struct aps_chunk_buffers *slots;   /* with the sums */
    const struct aps_chunk_buffers *results; /* the same or the host's */
    bool lost;                               /* values, by this rank's device */
    struct aps_cut cut;
    struct aps_cost *cost;
    struct aps_cost across; /* of the stage across groups */
    int rc; /* the first error: after it what is sent is empty and nothing is
               decoded, but all stages go on */
};

static struct aps_chunk *hierarchical_chunk_of(const struct run *run, size_t k)
{
    return &run->h->chunks[k % APS_HIERARCHICAL_TURNS];
}

static struct aps_chunk *hierarchical_across_of(const struct run *run, size_t k)
{
    return &run->h->across_chunks[k % APS_DIRECT_TURNS];
}

/* How many elements of chunk k this rank owns. */
static size_t hierarchical_own_elements(const struct run *run, size_t k)
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);

    return rank < h->owners
               ? aps_chunk_slice_elements(hierarchical_chunk_of(run, k),
                                          h->owners, rank)
               : 0;
}

/* And of a piece of it. */
static size_t hierarchical_own_length(const struct run *run,
                                      const struct aps_piece *piece)
{
    return aps_slice_of(piece->n, run->h->owners,
                        aps_shm_group_rank(run->h->node))
        .length;
}

/* Where a piece lies in a slice of a slot, or of an exact result. */
static size_t hierarchical_slot_offset(const struct run *run,
                                       const struct aps_piece *piece)
{
    return run->exact_inside ? piece->base * sizeof(float) : piece->offset;
}

static bool hierarchical_is_owner(const struct aps_hierarchical *h)
{
    return aps_shm_group_rank(h->node) < h->owners;
}

static bool hierarchical_is_on_devices(const struct run *run)
{
    return run->slots->peers != NULL;
}

/* Chunk k's slice of `owner` in the slot of a rank, ... */
static unsigned char *hierarchical_slot_slice(const struct run *run, size_t k,
                                              int rank, int owner)
{
    return aps_chunk_buffers_slice(run->slots, run->h->done + k, rank, owner);
}

/* ... its result, one part a group, ... */
static unsigned char *hierarchical_result_slice(const struct run *run, size_t k,
                                                int owner)
{
    return aps_chunk_buffers_result(run->results, run->h->done + k, owner);
}

/* ... and this owner's sum. */
static float *hierarchical_sum_of(const struct run *run, size_t k)
{
    return aps_chunk_buffers_sum(run->slots, run->h->done + k);
}

/* Until `ranks` ranks have made the mark for the chunk `behind` chunks ago. */
static void hierarchical_await(const struct run *run,
                               enum aps_shm_group_mark mark, int ranks,
                               size_t k, size_t behind)
{
    const struct aps_hierarchical *h = run->h;

    aps_shm_group_await(h->node, mark, ranks,
                        (uint32_t)(h->done + k + 1) - (uint32_t)behind,
                        h->across != NULL);
}

static void hierarchical_fail(struct run *run, int rc)
{
    if (rc == MPI_SUCCESS || run->rc != MPI_SUCCESS)
        return;
    run->rc = rc;
    if (run->h->across)
        aps_direct_fail(run->h->across, rc);
    aps_shm_group_fail(run->h->node, run->h->calls);
}

/* Before a mark: what this rank could not leave in its GPU's memory the others
 * must not take for its values. All goes on, but the call will fail. */
static void hierarchical_watch_device(const struct run *run)
{
    if (run->lost)
        aps_shm_group_fail_device(run->h->node);
}

/* Are the group's values lost? */
static bool hierarchical_device_failed(const struct run *run)
{
    return hierarchical_is_on_devices(run) &&
           aps_shm_group_device_failed(run->h->node);
}

/* Nothing is rounded: one group, whose sums stay FP32. */
static bool hierarchical_is_exact(const struct run *run)
{
    return run->exact_inside && hierarchical_is_alone(run->h);
}

/* Count n values sent inside the group as FP32. */
static void hierarchical_count_fp32(const struct run *run, size_t n)
{
    run->cost->wire_bytes += n * sizeof(float);
    run->cost->fp32_bytes += n * sizeof(float);
}

/* Our values of a piece, in our slot. */
static void hierarchical_contribute_piece(const struct run *run, size_t k,
                                          const struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    const struct aps_wire *wire = &run->inside;
    const int rank = aps_shm_group_rank(h->node);

    for (int owner = 0; owner < h->owners; owner++) {
        struct aps_slice slice = aps_slice_of(piece->n, h->owners, owner);
        unsigned char *to = hierarchical_slot_slice(run, k, rank, owner) +
                            hierarchical_slot_offset(run, piece);

        if (slice.length == 0)
            continue;
        if (run->exact_inside) {
            piece->memory->copy_out(to, piece->in + slice.begin, slice.length);
            if (owner != rank)
                hierarchical_count_fp32(run, slice.length);
            continue;
        }
        aps_cost_note(run->cost,
                      aps_block_encode(wire, piece->memory,
                                       piece->in + slice.begin, slice.length,
                                       piece->exponent, to));
        if (owner != rank)
            aps_cost_add(run->cost, wire, slice.length, 1);
    }
}

static void hierarchical_contribute(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_hierarchical *h = run->h;
    struct aps_chunk *chunk = hierarchical_chunk_of(run, k);

    aps_cut_next(&run->cut, chunk);
    hierarchical_await(run, APS_SHM_GROUP_SUMMED, h->owners, k, APS_SLOT_TURNS);
    for (int p = 0; p < chunk->count; p++)
        hierarchical_contribute_piece(run, k, &chunk->pieces[p]);
    hierarchical_watch_device(run);
    aps_shm_group_mark(h->node, APS_SHM_GROUP_CONTRIBUTED);
}

/* Where a rank's values of our slice of a piece are. */
static unsigned char *hierarchical_contribution(const struct run *run, size_t k,
                                                int member,
                                                const struct aps_piece *piece)
{
    return hierarchical_slot_slice(run, k, member,
                                   aps_shm_group_rank(run->h->node)) +
           hierarchical_slot_offset(run, piece);
}

/* FP32 slots in rank order, and the magnitude of the sum. */
static void hierarchical_sum_exact(const struct run *run, size_t k,
                                   const struct aps_piece *piece, size_t length,
                                   float *total,
                                   struct aps_magnitude *magnitude)
{
    memcpy(total, hierarchical_contribution(run, k, 0, piece),
           length * sizeof *total);
    for (int member = 1; member < aps_shm_group_size(run->h->node); member++) {
        const float *values =
            (const float *)(const void *)hierarchical_contribution(
                run, k, member, piece);

        for (size_t i = 0; i < length; i++)
            total[i] += values[i];
    }
    *magnitude = aps_magnitude_of(total, length);
}

/* The same for slots in GPUs' memory; the magnitude only where it is asked
 * for. */
static void hierarchical_sum_on_device(const struct run *run, size_t k,
                                       const struct aps_piece *piece,
                                       size_t length, float *total,
                                       struct aps_magnitude *magnitude)
{
    const struct aps_hierarchical *h = run->h;
    const enum aps_scale_kind scale = run->wire->scale;

    for (int member = 0; member < aps_shm_group_size(h->node); member++)
        aps_block_add(&run->inside, member == 0,
                      hierarchical_contribution(run, k, member, piece), length,
                      total);
    if (scale == APS_SCALE_APS_TIGHT ||
        (scale == APS_SCALE_APS && !hierarchical_is_alone(h)))
        *magnitude =
            aps_block_magnitude(&run->inside, run->wire->memory, total, length);
}

static void hierarchical_sum_piece(const struct run *run, size_t k,
                                   const struct aps_piece *piece,
                                   struct aps_magnitude *magnitude)
{
    const struct aps_hierarchical *h = run->h;
    const size_t length = hierarchical_own_length(run, piece);
    float *total = hierarchical_sum_of(run, k) + piece->base;

    *magnitude = (struct aps_magnitude){0, false};
    if (length == 0)
        return;
    if (run->exact_inside)
        hierarchical_sum_exact(run, k, piece, length, total, magnitude);
    else if (hierarchical_is_on_devices(run))
        hierarchical_sum_on_device(run, k, piece, length, total, magnitude);
    else
        aps_accumulate(run->wire, aps_shm_group_size(h->node),
                       hierarchical_contribution(run, k, 0, piece),
                       aps_shm_group_slot_stride(h->node), length, total,
                       magnitude);
}

/* One group: the sum is the result. */
static void hierarchical_leave_result(struct run *run, size_t k,
                                      const struct aps_piece *piece,
                                      struct aps_magnitude magnitude)
{
    const struct aps_hierarchical *h = run->h;
    const size_t length = hierarchical_own_length(run, piece);
    const float *total = hierarchical_sum_of(run, k) + piece->base;
    unsigned char *result =
        hierarchical_result_slice(run, k, aps_shm_group_rank(h->node)) +
        hierarchical_slot_offset(run, piece);

    if (length == 0)
        return;
    if (hierarchical_is_exact(run)) {
        memcpy(result, total, length * sizeof *total);
        hierarchical_count_fp32(run, length);
        return;
    }
    aps_block_encode_known(&run->inside, &aps_memory_host, total, length,
                           magnitude, piece->exponent, result);
    hierarchical_watch_device(run);
    aps_cost_add(run->cost, &run->inside, length, 1);
}

static void hierarchical_sum(void *state, size_t k)
{
    struct run *run = state;
    struct aps_hierarchical *h = run->h;
    const int ranks = aps_shm_group_size(h->node);
    const struct aps_chunk *chunk = hierarchical_chunk_of(run, k);
    struct aps_magnitude magnitudes[APS_PIECES_MOST];
    float max[APS_PIECES_MOST];

    if (!hierarchical_is_owner(h))
        return;
    hierarchical_await(run, APS_SHM_GROUP_CONTRIBUTED, ranks, k, 0);
    for (int p = 0; p < chunk->count; p++)
        hierarchical_sum_piece(run, k, &chunk->pieces[p], &magnitudes[p]);
    hierarchical_watch_device(run);
    for (int p = 0; p < chunk->count; p++) {
        if (hierarchical_device_failed(run))
            magnitudes[p] = (struct aps_magnitude){0, false};
        max[p] = magnitudes[p].max;
    }
    aps_shm_group_mark(h->node, APS_SHM_GROUP_SUMMED);
    if (hierarchical_is_alone(h)) {
        hierarchical_await(run, APS_SHM_GROUP_COLLECTED, ranks, k,
                           run->results->result_turns);
        for (int p = 0; p < chunk->count; p++)
            hierarchical_leave_result(run, k, &chunk->pieces[p], magnitudes[p]);
        aps_shm_group_mark(h->node, APS_SHM_GROUP_FINISHED);
        return;
    }
    if (hierarchical_own_elements(run, k) > 0)
        hierarchical_fail(run, aps_exponent_begin(&h->sums[k % APS_SUM_TURNS],
                                                  &h->groups.peers, run->wire,
                                                  chunk->count, max));
}

/* Chunk k between the groups. The second stage has its own N and its own
 * exponents. Values that are lost count as zeros. */
static struct aps_chunk *hierarchical_begin_across(const struct run *run,
                                                   size_t k,
                                                   const int exponents[])
{
    const struct aps_hierarchical *h = run->h;
    const int rank = aps_shm_group_rank(h->node);
    const bool lost = hierarchical_device_failed(run);
    const struct aps_chunk *chunk = hierarchical_chunk_of(run, k);
    struct aps_chunk *across = hierarchical_across_of(run, k);
    float *total =
        lost ? aps_chunk_buffers_sum(&h->host, k) : hierarchical_sum_of(run, k);

    if (lost)
        memset(total, 0, chunk->elements * sizeof *total);
    aps_chunk_inner(chunk, h->owners, rank, total,
                    hierarchical_is_on_devices(run) && !lost ? run->wire->memory
                                                             : &aps_memory_host,
                    across);
    for (int p = 0; p < across->count; p++)
        across->pieces[p].exponent = exponents[p];
    across->blocks = hierarchical_result_slice(run, k, rank);
    across->stride = run->results->part_stride;
    return across;
}

static void hierarchical_offer(void *state, size_t k)
{
    struct run *run = state;
    struct aps_hierarchical *h = run->h;
    int exponents[APS_PIECES_MOST] = {0};
    const struct aps_chunk *across;

    if (hierarchical_own_elements(run, k) == 0)
        return;
    hierarchical_await(run, APS_SHM_GROUP_COLLECTED,
                       aps_shm_group_size(h->node), k,
                       run->results->result_turns);
    hierarchical_fail(run, aps_exponent_end(&h->sums[k % APS_SUM_TURNS],
                                            run->wire, exponents));
    across = hierarchical_begin_across(run, k, exponents);
    hierarchical_fail(run, aps_direct_send_contributions(
                               h->across, run->wire, k, across, &run->across));
}

static void hierarchical_turn(void *state, size_t k)
{
    struct run *run = state;

    if (hierarchical_own_elements(run, k) == 0)
        return;
    hierarchical_fail(run, aps_direct_reduce_slice(
                               run->h->across, run->wire, k,
                               hierarchical_across_of(run, k), &run->across));
}

static void hierarchical_finish(void *state, size_t k)
{
    struct run *run = state;
    struct aps_hierarchical *h = run->h;
    const struct aps_chunk *chunk = hierarchical_chunk_of(run, k);

    if (!hierarchical_is_owner(h))
        return;
    if (hierarchical_own_elements(run, k) > 0)
        hierarchical_fail(run, aps_direct_receive_results(h->across, k));
    for (int p = 0; p < chunk->count && aps_shm_group_size(h->node) > 1; p++)
        aps_cost_add(run->cost, run->wire,
                     hierarchical_own_length(run, &chunk->pieces[p]), 1);
    aps_shm_group_mark(h->node, APS_SHM_GROUP_FINISHED);
}

static void hierarchical_collect_piece(const struct run *run, size_t k,
                                       const struct aps_piece *piece)
{
    const struct aps_hierarchical *h = run->h;
    const struct aps_wire *wire =
        run->results->peers ? &run->inside : run->wire;
    const bool exact = hierarchical_is_exact(run);

    for (int owner = 0; owner < h->owners; owner++) {
        const struct aps_slice slice = aps_slice_of(piece->n, h->owners, owner);
        const unsigned char *result = hierarchical_result_slice(run, k, owner);

        if (exact && slice.length > 0)
            piece->memory->copy_in(
                piece->out + slice.begin,
                result + hierarchical_slot_offset(run, piece), slice.length);
        else if (!exact)
            aps_blocks_decode(wire, piece->memory, h->groups.groups,
                              result + piece->inner_offset,
                              run->results->part_stride, slice.length,
                              piece->out + slice.begin);
    }
}

static void hierarchical_collect(void *state, size_t k)
{
    struct run *run = state;
    const struct aps_hierarchical *h = run->h;
    const struct aps_chunk *chunk = hierarchical_chunk_of(run, k);

    hierarchical_await(run, APS_SHM_GROUP_FINISHED, h->owners, k, 0);
    if (run->rc == MPI_SUCCESS && aps_shm_group_failed(h->node, h->calls))
        hierarchical_fail(run, MPI_ERR_OTHER);
    for (int p = 0; p < chunk->count && run->rc == MPI_SUCCESS; p++)
        hierarchical_collect_piece(run, k, &chunk->pieces[p]);
    aps_shm_group_mark(h->node, APS_SHM_GROUP_COLLECTED);
}

/* The exponents inside the group. Sums that stay FP32 there need none. */
static void hierarchical_group_exponents(const struct run *run, int count,
                                         const struct aps_vector vectors[],
                                         int exponents[])
{
    struct aps_shm_group *node = run->h->node;
    const struct aps_wire *wire = &run->inside;

    for (int i = 0; i < count; i++)
        exponents[i] = 0;
    if (wire->scale != APS_SCALE_APS || run->exact_inside)
        return;
    for (int i = 0; i < count; i++)
        exponents[i] = aps_scale_max_exponent(
            aps_exponent_magnitude(wire, &vectors[i]).max,
            aps_shm_group_size(node));
    aps_shm_group_max_all(node, count, exponents);
    for (int i = 0; i < count; i++)
        exponents[i] = aps_scale_aps(&wire->codec.format, exponents[i]);
}

/* COLLECTIVE over the group: first what all ranks know, then what they agree
 * on. */
static bool hierarchical_meets_on_devices(const struct run *run,
                                          const struct aps_vector *vector)
{
    struct aps_gpu_ipc *peers = run->h->devices.peers;

    return peers && !run->exact_inside &&
           run->wire->accumulate == APS_ACCUMULATE_FP32 &&
           aps_gpu_ipc_meet(peers, run->wire->memory, vector->in, vector->out);
}

static void hierarchical_move_to_devices(struct run *run)
{
    run->slots = &run->h->devices;
    if (hierarchical_is_alone(run->h))
        run->results = run->slots;
    if (!aps_wire_has_own_blocks(run->wire))
        run->cut.length = run->slots->chunk;
    run->inside.device = run->wire->memory->device;
    run->inside.lost = &run->lost;
}

/* What the program does with its GPU after the call may take our results, which
 * lie there, from ranks that have not read them yet. */
static void hierarchical_leave_results(const struct run *run, size_t chunks)
{
    const struct aps_hierarchical *h = run->h;

    if (run->results->peers && hierarchical_is_owner(h) && chunks > 0)
        hierarchical_await(run, APS_SHM_GROUP_COLLECTED,
                           aps_shm_group_size(h->node), chunks - 1, 0);
}

static void hierarchical_add_across(struct run *run)
{
    run->cost->wire_bytes += run->across.wire_bytes;
    run->cost->fp32_bytes += run->across.fp32_bytes;
    /* The log shows the first stage's exponent, if that stage had one. */
    if (!run->cost->encoded && run->across.encoded)
        aps_cost_note(run->cost, run->across.least_exponent);
}

int aps_hierarchical_run(struct aps_hierarchical *h,
                         const struct aps_wire *wire, bool exact_inside,
                         int count, const struct aps_vector vectors[],
                         struct aps_cost *cost)
{
    static const struct aps_pipeline_stage alone[] = {
        {hierarchical_contribute, 0},
        {hierarchical_sum, APS_GROUP_LAG},
        {hierarchical_collect, APS_GROUP_LAG}};
    static const struct aps_pipeline_stage across[] = {
        {hierarchical_contribute, 0},
        {hierarchical_sum, APS_GROUP_LAG},
        {hierarchical_offer, APS_GROUP_LAG},
        {hierarchical_turn, APS_PIPELINE_WIRE_LAG},
        {hierarchical_finish, APS_PIPELINE_WIRE_LAG},
        {hierarchical_collect, APS_GROUP_LAG},
    };
    int exponents[APS_VECTORS_MOST];
    size_t chunks;
    struct run run = {
        .h = h,
        .wire = wire,
        .inside = *wire,
        .exact_inside = exact_inside,
        .slots = &h->host,
        .results = &h->host,
        .cut = {.wire = wire,
                .vectors = vectors,
                .exponents = exponents,
                .count = count,
                .length = h->host.chunk,
                .parts = h->owners,
                .inner = h->groups.groups},
        .cost = cost,
    };

    if (h->whole)
        return aps_direct_run(h->whole, wire, count, vectors, cost);
    h->calls++;
    if (h->across)
        aps_direct_begin(h->across);
    if (count == 1 && hierarchical_meets_on_devices(&run, &vectors[0]))
        hierarchical_move_to_devices(&run);
    chunks = aps_cut_chunks(&run.cut);
    hierarchical_group_exponents(&run, count, vectors, exponents);
    if (hierarchical_is_alone(h))
        aps_pipeline_run(chunks, 3, alone, &run);
    else
        aps_pipeline_run(chunks, 6, across, &run);
    hierarchical_leave_results(&run, chunks);
    h->done += chunks;
    hierarchical_add_across(&run);
    /* An error at the end of the program's call: there may be more of it. */
    if (hierarchical_device_failed(&run))
        aps_device_note_loss();
    return run.rc;
}

static int hierarchical_run(struct aps_algorithm *algorithm,
                            const struct aps_plan *plan,
                            const struct aps_wire *wire, int count,
                            const struct aps_vector vectors[],
                            struct aps_cost *cost)
{
    return aps_hierarchical_run((struct aps_hierarchical *)algorithm, wire,
                                plan->node == APS_NODE_FP32, count, vectors,
                                cost);
}

static void hierarchical_destroy(struct aps_algorithm *algorithm)
{
    aps_hierarchical_destroy((struct aps_hierarchical *)algorithm);
}

struct aps_algorithm *
aps_hierarchical_algorithm(const struct aps_algorithm_site *site, char *cause,
                           size_t size)
{
    static const struct aps_algorithm_ops ops = {hierarchical_run,
                                                 hierarchical_destroy};
    struct aps_hierarchical *hierarchical;

    if (aps_hierarchical_create(site->vcomm, &site->grouping, site->devices,
                                &hierarchical, cause, size) < 0)
        return NULL;

    hierarchical->algorithm.ops = &ops;
    return &hierarchical->algorithm;
}
