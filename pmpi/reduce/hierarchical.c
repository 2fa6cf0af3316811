/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/hierarchical.h"

#include <stdlib.h>

#include "base/message.h"
#include "base/plural.h"
#include "message/agree.h"
#include "scale/exponent.h"
#include "scale/scale.h"
#include "block/random_key.h"
#include "reduce/hierarchical_stages.h"
#include "wire/pipeline_sizes.h"

/* Local. Creates this rank's parts other than the slots. Returns 0 or -1. */
static int hierarchical_equip_local(struct aps_hierarchical *h,
                                    const struct aps_algorithm_params *params)
{
    if (params->devices != APS_DEVICES_NONE &&
        aps_chunk_buffers_init_devices(&h->devices, &h->host) < 0)
        return -1;
    if (aps_hierarchical_is_single_group(h) ||
        aps_shm_group_rank(h->node) >= h->owners)
        return 0;
    h->across = aps_direct_create(&h->groups.peers,
                                  APS_PIPELINE_GROUP_NARROW * h->host.room.part,
                                  aps_block_stride_widest(h->host.room.part));
    return h->across ? 0 : -1;
}

/* COLLECTIVE over vcomm. */
static int hierarchical_equip(struct aps_hierarchical *h,
                              const struct aps_algorithm_params *params,
                              char *cause, size_t size)
{
    int rc = aps_chunk_buffers_init(
        &h->host, &h->groups, params->longest, params->granule,
        params->devices != APS_DEVICES_NONE, cause, size);

    if (rc != MPI_SUCCESS)
        return rc;
    h->node = h->host.node;
    aps_store_selector_init(&h->handoff, h->owners, aps_shm_group_rank(h->node),
                            aps_block_stride_widest(h->host.room.slice));
    if (hierarchical_equip_local(h, params) < 0)
        return MPI_ERR_NO_MEM;
    aps_agree_cores(&h->groups.group);
    return MPI_SUCCESS;
}

static void hierarchical_destroy(struct aps_algorithm *algorithm)
{
    struct aps_hierarchical *h = (struct aps_hierarchical *)algorithm;

    if (h->direct_only)
        h->direct_only->ops->destroy(h->direct_only);
    aps_direct_destroy(h->across);
    aps_store_selector_clear(&h->handoff);
    aps_chunk_buffers_clear(&h->host, &h->devices);
    aps_topology_release(&h->groups);
    free(h);
}

/* --- a call -------------------------------------------------------------- */

/* Sets the exponents inside the group. Sums that stay FP32 there need none. */
static void hierarchical_group_scales(struct aps_hierarchical_run *run,
                                      int count, struct aps_vector vectors[])
{
    struct aps_shm_group *node = run->h->node;
    const struct aps_wire *wire = &run->inside;
    int greatest[APS_VECTORS_MAX];
    int64_t begin;

    if (!aps_scale_ops_of(&wire->scale)->agreed || run->exact_inside)
        return;
    aps_exponent_measure(wire, count, vectors);
    for (int i = 0; i < count; i++)
        greatest[i] = aps_scale_max_exponent(vectors[i].magnitude.max,
                                             aps_shm_group_size(node));
    begin = aps_exponent_clock(run->cost);
    aps_shm_group_max_all(node, count, greatest);
    run->cost->agree_ns += aps_exponent_clock(run->cost) - begin;
    aps_exponent_set(wire, count, greatest, vectors);
}

/* COLLECTIVE over the group. True if the group meets in GPU memory. It tests
 * first the facts that all ranks know, and then the facts that they must agree
 * on. */
static bool
hierarchical_meets_on_devices(const struct aps_hierarchical_run *run,
                              const struct aps_vector *vector)
{
    struct aps_gpu_ipc *peers = run->h->devices.peers;

    return peers && !run->exact_inside && !run->wire->records &&
           aps_device_takes(&run->wire->codec.format) &&
           run->wire->accumulate == APS_ACCUMULATE_FP32 &&
           aps_gpu_ipc_meet(peers, run->wire->memory, vector->in, vector->out);
}

#define SHAPE_BYTES 16 /* more than an element has */

uint64_t aps_hierarchical_shape(const struct aps_hierarchical_run *run)
{
    uint64_t elements = 0;

    for (int i = 0; i < run->chunks.count; i++)
        elements += run->chunks.vectors[i].n;
    return elements * SHAPE_BYTES + run->chunks.vectors[0].memory->element;
}

/* Rank 0 of the group reports. Another rank reports if it differs from rank
 * 0. */
void aps_hierarchical_tell_shapes(const struct aps_hierarchical_run *run,
                                  int other, uint64_t shape)
{
    const struct aps_vcomm *group = &run->h->groups.group;
    const int rank = aps_shm_group_rank(run->h->node);
    const uint64_t mine = aps_hierarchical_shape(run);

    if (rank != 0 && other != 0)
        return;
    aps_message(aps_vcomm_rank(group, rank),
                "a reduction of %llu element%s of %d bytes meets one of %llu "
                "element%s of %d bytes on rank %d: the program must pass the "
                "same count and type on all ranks",
                (unsigned long long)(mine / SHAPE_BYTES),
                aps_plural(mine / SHAPE_BYTES), (int)(mine % SHAPE_BYTES),
                (unsigned long long)(shape / SHAPE_BYTES),
                aps_plural(shape / SHAPE_BYTES), (int)(shape % SHAPE_BYTES),
                aps_vcomm_rank(group, other));
}

/*
 * Returns the layout of chunks in host memory. Narrower codes give longer
 * chunks, unless FP32 values fill the slots. Chunks of a single group suit the
 * host's caches. If the group expects GPUs, where a chunk costs waits, chunks
 * fill the slots; they do not if a block's content depends on where the vector
 * is cut, because cuts are the same with and without GPUs. The layout is equal
 * on all ranks: it depends on the plan, and on facts agreed when the reduction
 * was prepared.
 */
static struct aps_chunk_layout
hierarchical_host_layout(const struct aps_hierarchical *h,
                         const struct aps_wire *wire, bool exact_inside)
{
    const struct aps_chunk_buffers *host = &h->host;
    const bool fills = h->devices.peers && !aps_wire_has_own_blocks(wire);

    return aps_chunk_layout_choose(&host->room, &wire->codec, exact_inside,
                                   fills ? host->sum
                                         : APS_PIPELINE_GROUP_SLICE);
}

static void hierarchical_move_to_devices(struct aps_hierarchical_run *run)
{
    run->slots = &run->h->devices;
    if (aps_hierarchical_is_single_group(run->h)) {
        run->results = run->slots;
        run->layout = aps_chunk_layout_of(&run->slots->room, &run->wire->codec);
    }
    if (!aps_wire_has_own_blocks(run->wire))
        run->chunks.length = run->layout.chunk;
    run->inside.device = run->wire->memory->device;
    run->inside.lost = &run->lost;
}

static void hierarchical_add_across(struct aps_hierarchical_run *run)
{
    run->cost->wire_bytes += run->across.wire_bytes;
    run->cost->fp32_bytes += run->across.fp32_bytes;
    /* The log shows the first stage's exponent if that stage had one. */
    if (!run->cost->encoded && run->across.encoded)
        aps_cost_note(run->cost, run->across.least_exponent);
}

static int hierarchical_run(struct aps_algorithm *algorithm,
                            const struct aps_plan *plan,
                            const struct aps_wire *wire, int count,
                            struct aps_vector vectors[], struct aps_cost *cost)
{
    static const struct aps_pipeline_stage alone[] = {
        {aps_hierarchical_contribute, 0},
        {aps_hierarchical_sum, APS_GROUP_LAG},
        {aps_hierarchical_collect, APS_GROUP_LAG}};
    static const struct aps_pipeline_stage across[] = {
        {aps_hierarchical_contribute, 0},
        {aps_hierarchical_sum, APS_GROUP_LAG},
        {aps_hierarchical_send, APS_GROUP_LAG},
        {aps_hierarchical_sum_across, APS_PIPELINE_WIRE_LAG},
        {aps_hierarchical_receive, APS_PIPELINE_WIRE_LAG},
        {aps_hierarchical_collect, APS_GROUP_LAG},
    };
    struct aps_hierarchical *h = (struct aps_hierarchical *)algorithm;
    const bool exact_inside = plan->node == APS_NODE_FP32;
    size_t chunks;
    const struct aps_chunk_layout layout =
        h->direct_only ? (struct aps_chunk_layout){0}
                       : hierarchical_host_layout(h, wire, exact_inside);
    const struct aps_wire outside = aps_wire_across(wire);
    struct aps_hierarchical_run run = {
        .h = h,
        .wire = &outside,
        .exact_inside = exact_inside,
        .slots = &h->host,
        .results = &h->host,
        .layout = layout,
        .chunks = {.wire = wire,
                   .vectors = vectors,
                   .count = count,
                   .length = layout.chunk,
                   .parts = h->owners,
                   .inner = h->groups.groups},
        .cost = cost,
    };

    if (h->direct_only)
        return h->direct_only->ops->run(h->direct_only, plan, wire, count,
                                        vectors, cost);
    if (h->broken)
        return MPI_ERR_TRUNCATE;
    h->calls++;
    run.inside = aps_wire_inside(wire, aps_vcomm_rank(&h->groups.group, 0));
    if (h->across)
        aps_direct_begin(h->across);
    if (count == 1 && hierarchical_meets_on_devices(&run, &vectors[0]))
        hierarchical_move_to_devices(&run);
    chunks = aps_chunk_count(&run.chunks);
    hierarchical_group_scales(&run, count, vectors);
    if (aps_hierarchical_is_single_group(h))
        aps_pipeline_run(chunks, 3, alone, &run);
    else
        aps_pipeline_run(chunks, 6, across, &run);
    if (h->broken)
        return run.rc;
    aps_hierarchical_leave_results(&run, chunks);
    h->done += chunks;
    hierarchical_add_across(&run);
    /* Report an error at the end of the program's call, because more may
     * come. */
    if (aps_hierarchical_device_failed(&run))
        aps_device_note_loss();
    return run.rc;
}

static bool hierarchical_is_exact(const struct aps_algorithm *algorithm,
                                  const struct aps_plan *plan)
{
    const struct aps_hierarchical *h =
        (const struct aps_hierarchical *)algorithm;

    return plan->node == APS_NODE_FP32 && !h->direct_only &&
           aps_hierarchical_is_single_group(h);
}

static const struct aps_groups *
hierarchical_groups(const struct aps_algorithm *algorithm)
{
    return &((const struct aps_hierarchical *)algorithm)->groups;
}

int aps_hierarchical_algorithm(const struct aps_algorithm_params *params,
                               struct aps_algorithm **algorithm, char *cause,
                               size_t size)
{
    static const struct aps_algorithm_ops ops = {
        .run = hierarchical_run,
        .is_exact = hierarchical_is_exact,
        .groups = hierarchical_groups,
        .destroy = hierarchical_destroy,
    };
    const struct aps_vcomm *vcomm = params->vcomm;
    struct aps_hierarchical *h = calloc(1, sizeof *h);
    int rc;

    if (!h)
        return MPI_ERR_NO_MEM;
    h->algorithm.ops = &ops;
    rc = aps_topology_groups(vcomm, &params->grouping, &h->groups, cause, size);
    if (rc != MPI_SUCCESS)
        goto hierarchical_fail;
    h->owners = h->groups.smallest;
    rc = h->groups.groups == vcomm->size
             ? aps_direct_algorithm(params, &h->direct_only, cause, size)
             : hierarchical_equip(h, params, cause, size);
    if (rc != MPI_SUCCESS)
        goto hierarchical_fail;
    *algorithm = &h->algorithm;
    return MPI_SUCCESS;

hierarchical_fail:
    hierarchical_destroy(&h->algorithm);
    return rc;
}
