/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements by `reduce: hierarchical` (HiTopKComm: Shi et al., Towards
 * Scalable Distributed Training of Deep Learning on Public Cloud Clusters,
 * MLSys 2021). A group has p owners: rank i owns slice i of a layer. If groups
 * differ in size, p is that of the smallest.
 *
 *     Inside the group the ranks send their slices of delta = g + e, in FP32, to
 *     the owners, which add them up in the order of the ranks: s.
 *     An owner selects elements of s, and sends Q(s) of them to the owners of its
 *     slice in the other groups. It adds those of all groups to 0, in order.
 *     Inside the group the owners send the nonzero sums, in FP32, to all ranks.
 *
 * The owner keeps the residual of its selection: its memory of the slice
 * becomes s - Q(s), for its whole group. All other error memory, which an epoch
 * with another reduction may have left, has gone into s, and becomes 0. The
 * results and the residuals of all ranks thus add up to all gradients.
 *
 * Lengths of messages with elements depend on their content, as in
 * selected_direct.c. An owner whose s is not finite reports it to the other
 * owners of the slice. Each tells its group, and the layer falls back to FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <string.h>

#include "codec/codec.h"
#include "compress/magnitudes.h"
#include "compressed/elements.h"
#include "compressed/varlen_exchange.h"
#include "compressed/fp32_fallback.h"
#include "block/random_key.h"

/* A layer during the exchange of its elements. */
struct selected {
    struct aps_compressed *layer;
    const float *x;    /* [n]: sum of the layer and its error memory */
    void *work;        /* scratch of a bracket */
    uint32_t *indices; /* [k]: indices of the selected elements, in the slice */
    uint32_t *some;    /* [longest]: indices of elements in progress */
    float *values;     /* [longest] */
    float *slice;      /* [longest]: s */
    float *sum;        /* [longest]: sum of all groups */
    size_t k, longest; /* for the longest slice */
    bool bad;          /* owner only: some value or sum is not finite */
};

struct run {
    const struct aps_compressed_env *site;
    const struct aps_compressor *compressor;
    struct aps_wire wire; /* wire between groups */
    struct aps_wire full; /* wire inside a group */
    int owners, own;      /* owners of the group; this rank's number in it */
    int ranks, count;     /* ranks of the group; layers */
    struct selected layers[APS_VECTORS_MAX];
    /* Messages: slices to owners and from ranks; elements of the slice from
     * groups; sums of all owners. With the most bytes of each message. */
    unsigned char *to, *from, *between, *sums;
    size_t to_most, between_most, sums_most;
    bool damaged; /* a section that arrived is damaged */
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static size_t levels_between_most(const struct aps_wire *wire,
                                  const struct aps_compressor *compressor,
                                  size_t longest)
{
    return aps_elements_max(wire, aps_compressed_k(compressor, longest),
                            longest);
}

/* Returns the bytes of all messages of a layer, divided by the number of ranks,
 * because the caller multiplies by it. Strides of several layers do not exceed
 * the sum of their strides. */
static size_t levels_message(const struct aps_plan *plan,
                             const struct aps_matrix *matrix,
                             const struct aps_compressed_ranks *ranks)
{
    const size_t longest = aps_slice_longest(matrix->count, 1, ranks->smallest);
    struct aps_wire wire, full;
    size_t bytes;

    aps_elements_wire(plan, false, &wire);
    aps_elements_wire(plan, true, &full);
    bytes = (size_t)(ranks->smallest + ranks->largest) *
            aps_varlen_stride(longest * sizeof(float));
    bytes += (size_t)ranks->groups * aps_varlen_stride(levels_between_most(
                                         &wire, &plan->compressor, longest));
    bytes += (size_t)ranks->largest *
             aps_varlen_stride(aps_elements_max(&full, longest, longest));
    return bytes / (size_t)ranks->all + 1;
}

/* Floats in the order of levels_present. */
static size_t levels_scratch(const struct aps_plan *plan,
                             const struct aps_matrix *matrix,
                             const struct aps_compressed_ranks *ranks)
{
    const size_t longest = aps_slice_longest(matrix->count, 1, ranks->smallest);

    return aps_compressed_work_slices(&plan->compressor, longest) /
               sizeof(float) +
           aps_compressed_k(&plan->compressor, longest) + 4 * longest;
}

static void levels_present(struct run *run, struct selected *of,
                           struct aps_compressed *layer)
{
    const size_t n = layer->matrix.count;
    const size_t longest = aps_slice_longest(n, 1, run->owners);
    float *next = layer->scratch;

    *of = (struct selected){.layer = layer, .x = layer->in, .longest = longest};
    of->k = aps_compressed_k(run->compressor, longest);
    of->work = next;
    next += aps_compressed_work_slices(run->compressor, longest) / sizeof *next;
    of->indices = (uint32_t *)(void *)next;
    next += of->k;
    of->some = (uint32_t *)(void *)next;
    next += longest;
    of->values = next;
    of->slice = of->values + longest;
    of->sum = of->slice + longest;
    if (layer->delta) {
        (void)aps_magnitudes_add(layer->in, layer->error, n, layer->delta);
        of->x = layer->delta;
    }
    run->to_most += longest * sizeof(float);
    run->between_most +=
        levels_between_most(&run->wire, run->compressor, longest);
    run->sums_most += aps_elements_max(&run->full, longest, longest);
}

static struct aps_elements levels_room(const struct run *run,
                                       const struct selected *of, int owner)
{
    return (struct aps_elements){
        .slice = aps_slice_of(of->layer->matrix.count, 1, run->owners, owner),
        .indices = of->some,
        .values = of->values,
    };
}

static bool levels_owns(const struct run *run)
{
    return run->own < run->owners;
}

/* --- sums of the group ---------------------------------------------------- */

static void levels_copy(const struct run *run, int owner)
{
    unsigned char *bytes =
        aps_varlen_bytes(run->to, aps_varlen_stride(run->to_most), owner);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        const struct aps_slice slice = levels_room(run, of, owner).slice;

        memcpy(bytes + at, of->x + slice.begin, slice.length * sizeof *of->x);
        at += slice.length * sizeof *of->x;
    }
    aps_varlen_set_length(run->to, run->to_most, owner, at);
}

/* Adds a group rank's values of the slices that this rank owns. */
static void levels_add(struct run *run, int rank)
{
    const unsigned char *bytes =
        aps_varlen_bytes(rank == run->own ? run->to : run->from,
                         aps_varlen_stride(run->to_most), rank);
    const size_t room = aps_varlen_length(bytes, run->to_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        const size_t n = levels_room(run, of, run->own).slice.length;
        const float *x = (const float *)(const void *)(bytes + at);

        if (rank == 0)
            memcpy(of->slice, x, n * sizeof *x);
        else
            for (size_t k = 0; k < n; k++)
                of->slice[k] += x[k];
        at += n * sizeof *x;
    }
    run->damaged |= at > room;
}

/* COLLECTIVE over the group. Sums the slices. Returns an MPI error code. */
static int levels_sum_group(struct run *run)
{
    const struct aps_varlen_exchange varlen = {
        .exchange = run->site->group,
        .most = run->to_most,
        .senders = run->ranks,
        .receivers = run->owners,
        .to = run->to,
        .to_stride = aps_varlen_stride(run->to_most),
        .from = run->from,
    };
    int rc;

    for (int owner = 0; owner < run->owners; owner++)
        levels_copy(run, owner);
    rc = aps_varlen_exchange_run(&varlen, run->cost);
    for (int rank = 0;
         rank < run->ranks && rc == MPI_SUCCESS && levels_owns(run); rank++)
        levels_add(run, rank);
    return rc;
}

/* --- between groups ------------------------------------------------------- */

/* Selects elements of the owner's sum. */
static void levels_select(const struct run *run, struct selected *of,
                          struct aps_elements *elements)
{
    const size_t n = elements->slice.length;
    const struct aps_compressed slice = {
        .in = of->slice,
        .matrix = {.rows = 1, .columns = n, .count = n},
        .calls = of->layer->calls,
        .place = of->layer->place,
    };
    struct aps_bracket bracket;
    long count = 0;

    if (n > 0)
        count = aps_compressed_select(run->compressor, &slice,
                                      aps_compressed_k(run->compressor, n),
                                      of->work, &bracket, of->indices);
    for (long i = 0; i < count; i++) {
        elements->indices[i] = of->indices[i] + (uint32_t)elements->slice.begin;
        elements->values[i] = of->slice[of->indices[i]];
    }
    elements->bad = count < 0;
    elements->count = count < 0 ? 0 : (size_t)count;
}

static void levels_encode(struct run *run, int peer)
{
    unsigned char *bytes = aps_varlen_bytes(
        run->between, aps_varlen_stride(run->between_most), peer);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        const struct aps_block block = {.number = of->layer->number,
                                        .stage = run->wire.stage,
                                        .rank = run->site->vcomm->rank,
                                        .ranks = 1};
        struct aps_elements elements = levels_room(run, of, run->own);

        levels_select(run, of, &elements);
        at += aps_elements_encode(&run->wire, block, &elements, run->cost,
                                  bytes + at);
    }
    aps_varlen_set_length(run->between, run->between_most, peer, at);
}

/* Adds the elements that the owner in another group, or this one, selected. */
static void levels_add_elements(struct run *run, int peer)
{
    const unsigned char *bytes = aps_varlen_bytes(
        run->between, aps_varlen_stride(run->between_most), peer);
    const size_t room = aps_varlen_length(bytes, run->between_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        struct aps_elements elements = levels_room(run, of, run->own);

        at += aps_elements_decode(&run->wire, bytes + at, room - at, &elements);
        run->damaged |= elements.damaged;
        of->bad |= elements.bad ||
                   !aps_magnitude_of(elements.values, elements.count).finite;
        if (!of->bad)
            aps_elements_add(&elements, of->sum);
    }
}

/* Returns this rank's number among the owners of its slice. */
static int levels_peer(const struct run *run)
{
    return run->site->groups->groups > 1 ? run->site->groups->peers.rank : 0;
}

/* COLLECTIVE over the owners of the slice. Sums the elements of all groups;
 * `rc` is the outcome so far. After an error it still runs. Returns an MPI
 * error code. */
static int levels_sum_groups(struct run *run, int rc)
{
    const int peer = levels_peer(run);
    const int peers = run->site->groups->groups;
    const struct aps_varlen_exchange varlen = {
        .exchange = run->site->peers,
        .most = run->between_most,
        .senders = peers,
        .receivers = peers,
        .to =
            run->between + (size_t)peer * aps_varlen_stride(run->between_most),
        .from = run->between,
    };

    if (rc == MPI_SUCCESS && !run->damaged)
        levels_encode(run, peer);
    else
        aps_varlen_set_length(run->between, run->between_most, peer, 0);
    if (peers > 1)
        rc = aps_varlen_exchange_run(&varlen, run->cost);
    for (int i = 0; i < run->count; i++)
        memset(run->layers[i].sum, 0,
               run->layers[i].longest * sizeof *run->layers[i].sum);
    for (int i = 0; i < peers && rc == MPI_SUCCESS; i++)
        levels_add_elements(run, i);
    if (run->damaged)
        rc = *run->site->group->messages.outcome = MPI_ERR_OTHER;
    return rc;
}

/* --- results -------------------------------------------------------------- */

static void levels_encode_sums(struct run *run)
{
    unsigned char *bytes = aps_varlen_bytes(
        run->sums, aps_varlen_stride(run->sums_most), run->own);
    const struct aps_block block = {.ranks = 1};
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        struct aps_elements elements = levels_room(run, of, run->own);
        struct aps_cost none = {0};

        of->bad = of->bad || !aps_magnitude_of(of->sum, of->longest).finite;
        if (of->bad)
            elements.bad = true;
        else
            aps_elements_find(of->sum, &elements);
        at += aps_elements_encode(&run->full, block, &elements, &none,
                                  bytes + at);
    }
    aps_varlen_set_length(run->sums, run->sums_most, run->own, at);
}

/* COLLECTIVE over the group. Sends the results to all ranks; `rc` is the
 * outcome so far. After an error it still runs. Returns an MPI error code. */
static int levels_hand_out(struct run *run, int rc)
{
    const struct aps_varlen_exchange varlen = {
        .exchange = run->site->group,
        .most = run->sums_most,
        .senders = run->owners,
        .receivers = run->ranks,
        .to = run->sums + (size_t)run->own * aps_varlen_stride(run->sums_most),
        .from = run->sums,
    };

    if (levels_owns(run) && rc == MPI_SUCCESS)
        levels_encode_sums(run);
    else
        aps_varlen_set_length(run->sums, run->sums_most, run->own, 0);
    return aps_varlen_exchange_run(&varlen, run->cost);
}

/* Finds the layers that fall back to FP32. An owner has told all of its group,
 * and all owners of a slice have told the same. */
static void levels_find_whole(struct run *run, int owner)
{
    const unsigned char *bytes =
        aps_varlen_bytes(run->sums, aps_varlen_stride(run->sums_most), owner);
    const size_t room = aps_varlen_length(bytes, run->sums_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        struct aps_elements elements = levels_room(run, of, owner);

        at += aps_elements_skip(&run->full, bytes + at, room - at, &elements);
        of->layer->fp32_fallback |= elements.bad;
        run->damaged |= elements.damaged;
    }
}

/* Writes the owner's sums to the results. */
static void levels_restore(struct run *run, int owner)
{
    const unsigned char *bytes =
        aps_varlen_bytes(run->sums, aps_varlen_stride(run->sums_most), owner);
    const size_t room = aps_varlen_length(bytes, run->sums_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        struct aps_elements elements = levels_room(run, of, owner);
        float *out = of->layer->out;

        at += aps_elements_decode(&run->full, bytes + at, room - at, &elements);
        run->damaged |= elements.damaged;
        if (of->layer->fp32_fallback)
            continue;
        memset(out + elements.slice.begin, 0,
               elements.slice.length * sizeof *out);
        for (size_t k = 0; k < elements.count; k++)
            out[elements.indices[k]] = elements.values[k];
    }
}

/* Stores the residual of the owner's sum in its error memory. */
static void levels_remember(const struct run *run)
{
    const unsigned char *bytes = aps_varlen_bytes(
        run->between, aps_varlen_stride(run->between_most), levels_peer(run));
    const size_t room = aps_varlen_length(bytes, run->between_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        struct aps_elements elements = levels_room(run, of, run->own);
        float *delta = of->layer->delta;

        at += aps_elements_decode(&run->wire, bytes + at, room - at, &elements);
        if (!delta || of->layer->fp32_fallback)
            continue;
        memcpy(delta + elements.slice.begin, of->slice,
               elements.slice.length * sizeof *delta);
        for (size_t k = 0; k < elements.count; k++)
            delta[elements.indices[k]] -= elements.values[k];
    }
}

static void levels_settle(struct run *run)
{
    for (int owner = 0; owner < run->owners; owner++)
        levels_find_whole(run, owner);
    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];

        if (of->layer->delta && !of->layer->fp32_fallback)
            memset(of->layer->delta, 0,
                   of->layer->matrix.count * sizeof *of->layer->delta);
    }
    if (levels_owns(run))
        levels_remember(run);
    for (int owner = 0; owner < run->owners; owner++)
        levels_restore(run, owner);
}

/* --- a call --------------------------------------------------------------- */

static int levels_run(const struct aps_compressed_env *site, int count,
                      struct aps_compressed layers[], struct aps_cost *cost)
{
    const struct aps_groups *groups = site->groups;
    struct run run = {
        .site = site,
        .compressor = &site->plan->compressor,
        .owners = groups->smallest,
        .own = groups->group.rank,
        .ranks = groups->group.size,
        .count = count,
        .cost = cost,
    };
    int rc;

    aps_elements_wire(site->plan, false, &run.wire);
    aps_elements_wire(site->plan, true, &run.full);
    aps_wire_draw(site->plan, site->vcomm->number, APS_CALL_ALLREDUCE, 0,
                  &run.wire);
    for (int i = 0; i < count; i++)
        levels_present(&run, &run.layers[i], &layers[i]);
    run.to = site->messages;
    run.from = run.to + (size_t)run.owners * aps_varlen_stride(run.to_most);
    run.between =
        run.from + (size_t)groups->largest * aps_varlen_stride(run.to_most);
    run.sums = run.between +
               (size_t)groups->groups * aps_varlen_stride(run.between_most);
    rc = levels_sum_group(&run);
    if (levels_owns(&run))
        rc = levels_sum_groups(&run, rc);
    rc = levels_hand_out(&run, rc);
    if (rc == MPI_SUCCESS)
        levels_settle(&run);
    if (run.damaged)
        rc = MPI_ERR_OTHER;
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_selected_hierarchical = {
    .grouped = true,
    .scratch = levels_scratch,
    .message = levels_message,
    .run = levels_run,
};
