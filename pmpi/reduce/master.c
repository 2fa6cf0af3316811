/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/master.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "reduce/accumulate.h"
#include "progress/agree.h"
#include "reduce/exponent.h"
#include "progress/messages.h"
#include "reduce/pipeline.h"
#include "reduce/ring.h"

/* Scratch of one chunk of the window. */
struct slot {
    unsigned char *values;  /* the members' blocks; a member's own */
    float *sum;             /* of the group; masters only */
    unsigned char *results; /* one block a group */
    struct aps_messages messages;
};

struct aps_master {
    struct aps_algorithm algorithm; /* of aps_master_algorithm */
    struct aps_groups groups;
    struct aps_ring *ring; /* of the masters, when there are several groups */
    int place;             /* in the group; the master has 0 */
    int members;
    struct slot slots[APS_RING_WINDOW];
};

/* Local. 0 or -1. */
static int master_allocate(struct aps_master *master)
{
    const int groups = master->groups.groups;
    const bool leads = master->place == 0;
    const size_t blocks = leads ? (size_t)master->members : 1;
    const size_t piece = aps_block_stride_bytes(aps_pipeline_bytes(1));
    /* A chunk's results: each of the blocks has a header, ends in a gap, and
     * may be a slice's unit of 64 elements longer than its share. */
    const size_t gap = aps_block_stride_bytes(64 * sizeof(float)) + 64;
    const size_t results = piece + (size_t)groups * gap;

    size_t longest;

    for (int i = 0; i < APS_RING_WINDOW; i++) {
        struct slot *slot = &master->slots[i];

        slot->values = malloc(piece * blocks);
        slot->sum =
            malloc(leads ? aps_pipeline_elements(2, 1) * sizeof *slot->sum : 1);
        /* Travels with the gaps between its blocks: they should hold no
         * secrets of the program's. */
        slot->results = calloc(1, results);
        if (!slot->values || !slot->sum || !slot->results ||
            aps_messages_init(&slot->messages, &master->groups.group,
                              2 * master->members) < 0)
            return -1;
    }
    if (!leads || groups == 1)
        return 0;
    /* Partial sums travel as FP32, of whatever width the result is. */
    longest = aps_slice_longest(aps_pipeline_elements(2, 1), groups);
    master->ring = aps_ring_create(&master->groups.peers, longest,
                                   aps_block_stride_widest(longest));
    return master->ring ? 0 : -1;
}

int aps_master_create(const struct aps_vcomm *vcomm,
                      const struct aps_grouping *grouping,
                      struct aps_master **master, char *cause, size_t size)
{
    struct aps_master *new = calloc(1, sizeof *new);

    cause[0] = '\0';
    if (!aps_agree_all(vcomm, new != NULL)) {
        snprintf(cause, size, "%s", new ? "" : "out of memory");
        free(new);
        return -1;
    }
    if (aps_topology_groups(vcomm, grouping, &new->groups, cause, size) < 0)
        goto fail;
    new->place = new->groups.group.rank;
    new->members = new->groups.group.size;
    if (master_allocate(new) < 0)
        snprintf(cause, size, "out of memory");
    if (!aps_agree_all(vcomm, cause[0] == '\0'))
        goto fail;
    *master = new;
    return 0;

fail:
    aps_master_destroy(new);
    return -1;
}

void aps_master_destroy(struct aps_master *master)
{
    if (!master)
        return;
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

/* One call, and the window of it that is under way. */
struct run {
    struct aps_master *master;
    const struct aps_wire *wire;
    int exponent; /* the group's */
    const float *in;
    float *out;
    size_t n;
    size_t chunk; /* elements */
    int count;    /* chunks of the window, which starts at in and out */
    struct aps_cost *cost;
};

static size_t master_chunk_length(const struct run *run, int i)
{
    return aps_chunk_length(run->n, run->chunk, (size_t)i);
}

/* From one block of a chunk's result to the next. */
static size_t master_result_stride(const struct run *run, int i)
{
    return aps_block_stride(run->wire,
                            aps_slice_longest(master_chunk_length(run, i),
                                              run->master->groups.groups));
}

static size_t master_result_bytes(const struct run *run, int i)
{
    return master_result_stride(run, i) * (size_t)run->master->groups.groups;
}

static void master_encode_values(const struct run *run, int i)
{
    aps_cost_note(run->cost,
                  aps_block_encode(run->wire, run->wire->memory,
                                   run->in + (size_t)i * run->chunk,
                                   master_chunk_length(run, i), run->exponent,
                                   run->master->slots[i].values));
}

static void master_decode_results(const struct run *run, int i)
{
    aps_blocks_decode(run->wire, run->wire->memory, run->master->groups.groups,
                      run->master->slots[i].results,
                      master_result_stride(run, i), master_chunk_length(run, i),
                      run->out + (size_t)i * run->chunk);
}

static int master_follow(const struct run *run)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < run->count; i++) {
        struct slot *slot = &run->master->slots[i];
        const size_t n = master_chunk_length(run, i);

        master_encode_values(run, i);
        aps_messages_receive(&slot->messages, slot->results,
                             master_result_bytes(run, i), 0, APS_TAG_RESULT);
        aps_messages_send(&slot->messages, slot->values,
                          aps_block_bytes(run->wire, n), 0,
                          APS_TAG_CONTRIBUTION);
        aps_cost_add(run->cost, run->wire, n, 1);
    }
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        rc = aps_messages_wait(&run->master->slots[i].messages);
        if (rc == MPI_SUCCESS)
            master_decode_results(run, i);
    }
    return rc;
}

/* The sum of a group of one: nothing has travelled, so that nothing is rounded
 * but where every contribution is. */
static struct aps_magnitude master_sum_alone(const struct run *run, int i)
{
    const struct aps_memory *memory = run->wire->memory;
    struct slot *slot = &run->master->slots[i];
    const size_t n = master_chunk_length(run, i);

    if (run->wire->accumulate == APS_ACCUMULATE_FP32) {
        memory->copy_out(slot->sum, run->in + (size_t)i * run->chunk, n);
    } else {
        master_encode_values(run, i);
        aps_block_decode(run->wire, &aps_memory_host, slot->values, n,
                         slot->sum);
    }
    return aps_magnitude_of(slot->sum, n);
}

/* The group's sums of the window, and their greatest finite magnitudes. */
static int master_sum_group(const struct run *run, struct aps_magnitude max[])
{
    const int members = run->master->members;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < run->count && members > 1; i++) {
        struct slot *slot = &run->master->slots[i];
        const size_t n = master_chunk_length(run, i);
        const size_t stride = aps_block_stride(run->wire, n);

        for (int member = 1; member < members; member++)
            aps_messages_receive(
                &slot->messages, slot->values + (size_t)member * stride,
                aps_block_bytes(run->wire, n), member, APS_TAG_CONTRIBUTION);
        master_encode_values(run, i);
    }
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        struct slot *slot = &run->master->slots[i];
        const size_t n = master_chunk_length(run, i);

        rc = aps_messages_wait(&slot->messages);
        if (rc == MPI_SUCCESS && members == 1)
            max[i] = master_sum_alone(run, i);
        else if (rc == MPI_SUCCESS)
            aps_accumulate(run->wire, members, slot->values,
                           aps_block_stride(run->wire, n), n, slot->sum,
                           &max[i]);
    }
    return rc;
}

/* The window's results from the sums of the groups. */
static int master_sum_groups(const struct run *run,
                             const struct aps_magnitude max[])
{
    struct aps_master *master = run->master;
    struct aps_chunk chunks[APS_RING_WINDOW];
    float greatest[APS_RING_WINDOW];
    int exponents[APS_RING_WINDOW];
    int rc;

    if (master->groups.groups == 1) {
        for (int i = 0; i < run->count; i++)
            aps_block_encode_known(run->wire, &aps_memory_host,
                                   master->slots[i].sum,
                                   master_chunk_length(run, i), max[i],
                                   run->exponent, master->slots[i].results);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < run->count; i++)
        greatest[i] = max[i].max;
    rc = aps_exponent_agree_all(&master->groups.peers, run->wire, run->count,
                                greatest, exponents);
    for (int i = 0; i < run->count; i++)
        chunks[i] = (struct aps_chunk){
            .in = master->slots[i].sum,
            .memory = &aps_memory_host,
            .n = master_chunk_length(run, i),
            .exponent = exponents[i],
            .blocks = master->slots[i].results,
            .stride = master_result_stride(run, i),
        };
    return rc == MPI_SUCCESS ? aps_ring_window(master->ring, run->wire,
                                               run->count, chunks, run->cost)
                             : rc;
}

static int master_lead(const struct run *run)
{
    struct aps_master *master = run->master;
    struct aps_magnitude max[APS_RING_WINDOW];
    int rc = master_sum_group(run, max);

    if (rc == MPI_SUCCESS)
        rc = master_sum_groups(run, max);
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        struct slot *slot = &master->slots[i];

        for (int member = 1; member < master->members; member++)
            aps_messages_send(&slot->messages, slot->results,
                              master_result_bytes(run, i), member,
                              APS_TAG_RESULT);
        run->cost->wire_bytes +=
            (unsigned)(master->members - 1) * master_result_bytes(run, i);
        run->cost->fp32_bytes += (unsigned)(master->members - 1) *
                                 master_chunk_length(run, i) * sizeof(float);
        master_decode_results(run, i);
    }
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++)
        rc = aps_messages_wait(&master->slots[i].messages);
    return rc;
}

int aps_master_run(struct aps_master *master, const struct aps_wire *wire,
                   const float *in, float *out, size_t n, struct aps_cost *cost)
{
    const size_t chunk = aps_pipeline_elements(wire->codec.format.width, 1);
    struct run run = {
        .master = master, .wire = wire, .chunk = chunk, .cost = cost};
    int rc =
        aps_exponent_agree(&master->groups.group, wire, in, n, &run.exponent);

    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS;
         begin += APS_RING_WINDOW * chunk) {
        const size_t chunks = (n - begin + chunk - 1) / chunk;

        run.in = in + begin;
        run.out = out + begin;
        run.n = n - begin;
        run.count = chunks < APS_RING_WINDOW ? (int)chunks : APS_RING_WINDOW;
        rc = master->place == 0 ? master_lead(&run) : master_follow(&run);
    }
    for (int i = 0; i < APS_RING_WINDOW && rc != MPI_SUCCESS; i++)
        aps_messages_cancel(&master->slots[i].messages);
    return rc;
}

static int master_run(struct aps_algorithm *algorithm,
                      const struct aps_plan *plan, const struct aps_wire *wire,
                      const float *in, float *out, size_t n,
                      struct aps_cost *cost)
{
    (void)plan;
    return aps_master_run((struct aps_master *)algorithm, wire, in, out, n,
                          cost);
}

static void master_destroy(struct aps_algorithm *algorithm)
{
    aps_master_destroy((struct aps_master *)algorithm);
}

struct aps_algorithm *
aps_master_algorithm(const struct aps_algorithm_site *site, char *cause,
                     size_t size)
{
    static const struct aps_algorithm_ops ops = {master_run, master_destroy};
    struct aps_grouping grouping = site->grouping;
    struct aps_master *master;

    grouping.across_nodes = true;
    if (aps_master_create(site->vcomm, &grouping, &master, cause, size) < 0)
        return NULL;

    master->algorithm.ops = &ops;
    return &master->algorithm;
}
