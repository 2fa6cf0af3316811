/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One chunk goes through shared memory like this, two barriers a chunk:
 *
 *   every rank    encodes its chunk into its slot, one block an owner
 *   -- barrier --
 *   every owner   sums its blocks of all slots in rank order; with several
 *                 groups, runs `direct` on the sum with its peers; leaves the
 *                 encoded result in the result area
 *   -- barrier --
 *   every rank    decodes the result area
 *
 * A slot is written again only after the second barrier, when all have read it;
 * the result area only after the next chunk's first.
 */
#include "config.h"

#include "hierarchical.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "direct.h"
#include "node.h"
#include "scale/scale.h"
#include "topology.h"
#include "wait.h"

/* Elements of a chunk: its slots stay in cache, and 64 ranks of a node fit into
 * the 64 MiB of shared memory that a container gets by default. */
#define CHUNK (128 * 1024)

#define ALIGNMENT 64

struct aps_hierarchical {
    struct aps_groups groups;
    struct aps_node *node;
    struct aps_direct *across; /* owners, when there are several groups */
    int owners;                /* ranks of a group that own a slice */
    float *sum;                /* this rank's slice */
    size_t block_stride;       /* between the blocks of a slot */
    size_t part_stride;        /* between the parts of a result slice */
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The longest block of n values in any format. */
static size_t longest_block(size_t n)
{
    return aligned(sizeof(struct aps_block_header) + n * sizeof(float));
}

/* Allocate what only this rank needs; 0 or -1. */
static int allocate_local(struct aps_hierarchical *h, bool owner)
{
    h->sum = malloc(aps_slice_longest(CHUNK, h->owners) * sizeof *h->sum);
    if (!h->sum)
        return -1;
    if (owner && h->groups.groups > 1) {
        h->across = aps_direct_create(h->groups.peers,
                                      aps_slice_longest(CHUNK, h->owners));
        if (!h->across)
            return -1;
    }
    return 0;
}

/*
 * COLLECTIVE over the group. Do its ranks outnumber the cores that they may run
 * on together? One rank's own binding does not tell.
 */
static void count_cores(MPI_Comm group, int ranks)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    if (aps_agree_or(group, &cpus, sizeof cpus) == MPI_SUCCESS)
        aps_wait_set_ranks(ranks, CPU_COUNT(&cpus));
}

int aps_hierarchical_create(MPI_Comm comm,
                            const struct aps_hierarchical_config *config,
                            struct aps_hierarchical **hierarchical, char *cause,
                            size_t size)
{
    struct aps_hierarchical *h = calloc(1, sizeof *h);
    size_t slice, slot_bytes, result_bytes;
    bool good;
    int place;

    cause[0] = '\0';
    if (!aps_agree_all(comm, h != NULL)) {
        snprintf(cause, size, "%s", h ? "" : "out of memory");
        free(h);
        return -1;
    }
    h->groups.group = h->groups.peers = MPI_COMM_NULL;
    if (aps_topology_groups(comm, config->group, config->group_size,
                            config->test_nodes, config->test_cyclic, &h->groups,
                            cause, size) < 0)
        goto fail;
    h->owners = h->groups.smallest;
    slice = aps_slice_longest(CHUNK, h->owners);
    h->block_stride = longest_block(slice);
    h->part_stride =
        longest_block(aps_slice_longest(slice, h->groups.groups));
    slot_bytes = h->block_stride * (size_t)h->owners;
    result_bytes =
        h->part_stride * (size_t)h->groups.groups * (size_t)h->owners;
    PMPI_Comm_rank(h->groups.group, &place);
    good = aps_node_create(h->groups.group, comm, slot_bytes, result_bytes,
                           &h->node, cause, size) == 0;
    if (good && allocate_local(h, place < h->owners) < 0) {
        snprintf(cause, size, "out of memory");
        good = false;
    }
    if (!aps_agree_all(comm, good))
        goto fail;
    count_cores(h->groups.group, aps_node_size(h->node));
    /* Only needed to set up; context ids are few. */
    PMPI_Comm_free(&h->groups.group);
    *hierarchical = h;
    return 0;

fail:
    aps_hierarchical_destroy(h);
    return -1;
}

void aps_hierarchical_destroy(struct aps_hierarchical *h)
{
    if (!h)
        return;
    aps_direct_destroy(h->across);
    aps_node_destroy(h->node);
    aps_topology_release(&h->groups);
    free(h->sum);
    free(h);
}

static unsigned char *slot_block(const struct aps_hierarchical *h, int rank,
                                 int owner)
{
    return aps_node_slot(h->node, rank) + (size_t)owner * h->block_stride;
}

static unsigned char *result_part(const struct aps_hierarchical *h, int owner,
                                  int part)
{
    return aps_node_result(h->node) +
           ((size_t)owner * (size_t)h->groups.groups + (size_t)part) *
               h->part_stride;
}

/* Leave this rank's chunk in its slot. */
static void contribute(struct aps_hierarchical *h, const struct aps_wire *wire,
                       bool exact_inside, const float *in, size_t n,
                       int exponent, struct aps_cost *cost)
{
    const int rank = aps_node_rank(h->node);
    const int others = aps_node_size(h->node) > 1;

    for (int owner = 0; owner < h->owners; owner++) {
        struct aps_slice slice = aps_slice_of(n, h->owners, owner);
        unsigned char *block = slot_block(h, rank, owner);

        if (slice.length == 0)
            continue;
        if (exact_inside) {
            wire->memory->copy_out(block, in + slice.begin, slice.length);
            if (others && owner != rank) {
                cost->wire_bytes += slice.length * sizeof(float);
                cost->fp32_bytes += slice.length * sizeof(float);
            }
            continue;
        }
        aps_cost_note(cost,
                      aps_block_encode(wire, wire->memory, in + slice.begin,
                                       slice.length, exponent, block));
        if (others && owner != rank)
            aps_cost_add(cost, wire, slice.length, 1);
    }
}

/* Sum this rank's slice over the group, in rank order. */
static void sum_group(struct aps_hierarchical *h, const struct aps_wire *wire,
                      bool exact_inside, size_t length)
{
    const int rank = aps_node_rank(h->node);

    for (int member = 0; member < aps_node_size(h->node); member++) {
        const unsigned char *block = slot_block(h, member, rank);

        if (!exact_inside) {
            aps_block_sum(wire, member, block, length, h->sum);
        } else if (member == 0) {
            memcpy(h->sum, block, length * sizeof *h->sum);
        } else {
            const float *values = (const float *)(const void *)block;

            for (size_t i = 0; i < length; i++)
                h->sum[i] += values[i];
        }
    }
}

/*
 * Turn the group's sum into the result, in the result area: across groups by
 * `direct`, whose blocks land there as they are; in a single group by one
 * encode, or as FP32 where nothing is to be rounded.
 */
static int finish_slice(struct aps_hierarchical *h, const struct aps_wire *wire,
                        bool exact_inside, size_t length, int exponent,
                        struct aps_cost *cost)
{
    const int rank = aps_node_rank(h->node);
    const int others = aps_node_size(h->node) - 1;
    unsigned char *result = result_part(h, rank, 0);
    struct aps_cost across = {0};
    int rc = MPI_SUCCESS;

    if (h->groups.groups == 1 && exact_inside) {
        memcpy(result, h->sum, length * sizeof *h->sum);
        cost->wire_bytes += length * sizeof(float) * (unsigned)(others > 0);
        cost->fp32_bytes += length * sizeof(float) * (unsigned)(others > 0);
        return MPI_SUCCESS;
    }
    aps_cost_add(cost, wire, length, others > 0);
    if (h->groups.groups == 1) {
        aps_block_encode(wire, &aps_memory_host, h->sum, length, exponent,
                         result);
        return MPI_SUCCESS;
    }
    /* The second stage has its own N and its own exponent. */
    if (wire->scale == APS_SCALE_APS)
        rc = aps_direct_exponent(h->across, wire,
                                 aps_max_finite(h->sum, length), &exponent);
    if (rc == MPI_SUCCESS)
        rc = aps_direct_exchange(h->across, wire, &aps_memory_host, h->sum,
                                 length, exponent, result, h->part_stride,
                                 &across);
    cost->wire_bytes += across.wire_bytes;
    cost->fp32_bytes += across.fp32_bytes;
    /* The log shows the first stage's exponent, if that stage had one. */
    if (!cost->encoded && across.encoded)
        aps_cost_note(cost, across.least_exponent);
    return rc;
}

static void collect(struct aps_hierarchical *h, const struct aps_wire *wire,
                    bool exact_inside, float *out, size_t n)
{
    const bool exact = exact_inside && h->groups.groups == 1;

    for (int owner = 0; owner < h->owners; owner++) {
        struct aps_slice slice = aps_slice_of(n, h->owners, owner);

        if (exact) {
            wire->memory->copy_in(out + slice.begin, result_part(h, owner, 0),
                                  slice.length);
            continue;
        }
        for (int part = 0; part < h->groups.groups; part++) {
            struct aps_slice piece =
                aps_slice_of(slice.length, h->groups.groups, part);

            if (piece.length > 0)
                aps_block_decode(wire, wire->memory,
                                 result_part(h, owner, part), piece.length,
                                 out + slice.begin + piece.begin);
        }
    }
}

static int run_chunk(struct aps_hierarchical *h, const struct aps_wire *wire,
                     bool exact_inside, const float *in, float *out, size_t n,
                     int exponent, struct aps_cost *cost)
{
    const int rank = aps_node_rank(h->node);
    int rc = MPI_SUCCESS;

    contribute(h, wire, exact_inside, in, n, exponent, cost);
    aps_node_barrier(h->node);
    if (rank < h->owners) {
        struct aps_slice own = aps_slice_of(n, h->owners, rank);

        if (own.length > 0) {
            sum_group(h, wire, exact_inside, own.length);
            rc = finish_slice(h, wire, exact_inside, own.length, exponent,
                              cost);
            if (rc != MPI_SUCCESS)
                aps_node_fail(h->node);
        }
    }
    aps_node_barrier(h->node);
    if (aps_node_failed(h->node))
        return rc != MPI_SUCCESS ? rc : MPI_ERR_OTHER;
    collect(h, wire, exact_inside, out, n);
    return MPI_SUCCESS;
}

int aps_hierarchical_run(struct aps_hierarchical *h,
                         const struct aps_wire *wire, bool exact_inside,
                         const float *in, float *out, size_t n,
                         struct aps_cost *cost)
{
    int rc = MPI_SUCCESS;
    int exponent = 0;

    /* Sums that stay FP32 inside the group need no exponent there. */
    if (wire->scale == APS_SCALE_APS && !exact_inside) {
        float max = wire->memory->max_finite(in, n);
        int mine = aps_scale_max_exponent(max, aps_node_size(h->node));

        exponent = aps_scale_aps(&wire->codec.format,
                                 aps_node_max(h->node, mine));
    }
    /* An error on one rank must not keep it from the barriers of the others:
     * the chunks go on, and the first error is reported at the end. */
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        size_t length = n - begin < CHUNK ? n - begin : CHUNK;
        int failed = run_chunk(h, wire, exact_inside, in + begin, out + begin,
                               length, exponent, cost);

        if (rc == MPI_SUCCESS)
            rc = failed;
    }
    return rc;
}
