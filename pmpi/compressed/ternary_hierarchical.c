/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad by `reduce: hierarchical`. A group has p owners: rank i owns slice i
 * of a layer. If groups differ in size, p is that of the smallest. Owners of
 * the same slice in other groups are an owner's peers, and each of them owns a
 * part of the slice.
 *
 *     Inside the group the ranks send the digits of slices to the owners, which add
 *     them up.
 *     An owner sends its group's sums of each part to the peer that owns the part.
 *     The peer adds up the groups' sums, and sends the result to all peers.
 *     Inside the group the owners send the results of their slices to all ranks.
 *
 * All ranks have one scaler, draws belong to the elements of a layer, and sums
 * of integers are exact in any order. The results therefore have the same bits
 * as those of `direct` and `gather`. The lengths of all messages follow from
 * the layers' lengths and the groups alone.
 */
#include "config.h"

#include "compressed/table.h"

#include <string.h>

#include "compress/ternary_sums.h"
#include "compressed/digits.h"
#include "compressed/fp32_fallback.h"

/* Positions of messages: digits for owners, and from ranks of the group; sums
 * of parts for peers, and from them; results of all owners, each with as many
 * parts. The strides are the bytes of slice 0 and part 0. */
struct levels {
    struct aps_digits_run run;
    int own;          /* this rank's number in the group */
    int members;      /* ranks of the group */
    int most_members; /* ranks of the largest group: the most digits in a sum */
    int peers, peer;  /* number of peers; this rank's number among them */
    unsigned char *to, *from, *there, *back, *results;
    size_t digits, sums, result;
};

/* --- sizes ---------------------------------------------------------------- */

/* Returns part j of an owner's slice, counted from the layer's first
 * element. */
static struct aps_slice levels_part(size_t n, int owners, int owner, int peers,
                                    int j)
{
    const struct aps_slice slice = aps_digits_slice(n, owners, owner);
    struct aps_slice part = aps_digits_slice(slice.length, peers, j);

    part.begin += slice.begin;
    return part;
}

static struct aps_slice levels_part_of(const struct levels *levels, int i,
                                       int owner, int j)
{
    return levels_part(levels->run.layers[i].layer->matrix.count,
                       levels->run.owners, owner, levels->peers, j);
}

/* Returns the bytes of sums of `ranks` ranks for part j of an owner's
 * slices. */
static size_t levels_bytes(const struct levels *levels, int ranks, int owner,
                           int j)
{
    size_t bytes = 0;

    for (int i = 0; i < levels->run.count; i++)
        bytes += aps_ternary_sum_bytes(
            ranks, levels_part_of(levels, i, owner, j).length);
    return bytes;
}

static size_t levels_results(const struct levels *levels, int owner)
{
    size_t bytes = 0;

    for (int j = 0; j < levels->peers; j++)
        bytes += levels_bytes(levels, levels->run.ranks, owner, j);
    return bytes;
}

/* Returns the bytes of all messages of a layer, divided by the number of ranks,
 * because the caller multiplies by it. */
static size_t levels_message(const struct aps_plan *plan,
                             const struct aps_matrix *matrix,
                             const struct aps_compressed_ranks *ranks)
{
    const size_t n = matrix->count;
    const size_t slice = aps_digits_slice(n, ranks->smallest, 0).length;
    const size_t part =
        levels_part(n, ranks->smallest, 0, ranks->groups, 0).length;
    const size_t groups = (size_t)ranks->groups;
    size_t bytes;

    (void)plan;
    bytes =
        (size_t)(ranks->smallest + ranks->largest) * aps_ternary_bytes(slice) +
        2 * groups * aps_ternary_sum_bytes(ranks->largest, part) +
        (size_t)ranks->smallest * groups *
            aps_ternary_sum_bytes(ranks->all, part);
    return bytes / (size_t)ranks->all + 1;
}

static void levels_place(struct levels *levels)
{
    const size_t owners = (size_t)levels->run.owners;
    const size_t peers = (size_t)levels->peers;

    levels->digits = aps_digits_bytes(&levels->run, 0);
    levels->sums = levels_bytes(levels, levels->most_members, 0, 0);
    levels->result = levels_bytes(levels, levels->run.ranks, 0, 0);
    levels->to = levels->run.site->messages;
    levels->from = levels->to + owners * levels->digits;
    levels->there =
        levels->from + (size_t)levels->most_members * levels->digits;
    levels->back = levels->there + peers * levels->sums;
    levels->results = levels->back + peers * levels->sums;
}

/* Returns the results of an owner. Parts lie `result` bytes apart during the
 * exchange, and one after the other once all have arrived. */
static unsigned char *levels_result(const struct levels *levels, int owner)
{
    return levels->results +
           (size_t)owner * (size_t)levels->peers * levels->result;
}

static bool levels_owns(const struct levels *levels)
{
    return levels->own < levels->run.owners;
}

/* --- inside the group ----------------------------------------------------- */

/* COLLECTIVE over the group. Sends digits to their owners. Returns an MPI error
 * code. */
static int levels_gather_digits(struct levels *levels)
{
    return aps_exchange_run(levels->run.site->group,
                            &(struct aps_exchanged){
                                .outgoing = levels->to,
                                .incoming = levels->from,
                                .stride = levels->digits,
                                .bytes = aps_digits_bytes,
                                .make = aps_digits_encode,
                                .state = &levels->run,
                            },
                            levels->run.cost);
}

/* --- between groups ------------------------------------------------------- */

/* Sums the group's digits of part j of this rank's slices. */
static void levels_sum_part(const struct levels *levels, int j)
{
    const struct aps_digits_run *run = &levels->run;
    unsigned char *to = levels->there + (size_t)j * levels->sums;
    const unsigned char *from = levels->from;

    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = aps_digits_slice_of(run, i, levels->own);
        struct aps_slice part = levels_part_of(levels, i, levels->own, j);

        part.begin -= slice.begin;
        aps_digits_pack_sums(run, levels->members, from, levels->digits, &part,
                             levels->most_members, to);
        from += aps_ternary_bytes(slice.length);
        to += aps_ternary_sum_bytes(levels->most_members, part.length);
    }
}

/* Adds the sums of all groups for the part that this rank owns. The sums of a
 * layer that falls back to FP32 are zeros (ternary.c: ternary_sum_own). */
static void levels_add_groups(const struct levels *levels)
{
    const struct aps_digits_run *run = &levels->run;
    unsigned char *to = levels_result(levels, levels->own) +
                        (size_t)levels->peer * levels->result;
    const unsigned char *from = levels->back;

    for (int i = 0; i < run->count; i++) {
        const size_t length =
            levels_part_of(levels, i, levels->own, levels->peer).length;
        const bool whole = run->layers[i].layer->fp32_fallback;
        int16_t sum[APS_DIGITS_BLOCK];

        if (whole)
            memset(to, 0, aps_ternary_sum_bytes(run->ranks, length));
        for (size_t at = 0; at < length && !whole; at += APS_DIGITS_BLOCK) {
            const size_t n =
                length - at < APS_DIGITS_BLOCK ? length - at : APS_DIGITS_BLOCK;
            const size_t byte = aps_ternary_sum_bytes(levels->most_members, at);

            memset(sum, 0, n * sizeof *sum);
            for (int k = 0; k < levels->peers; k++)
                aps_ternary_sum_add(from + (size_t)k * levels->sums + byte, n,
                                    levels->most_members, run->cpu, sum);
            aps_ternary_sum_pack(sum, n, run->ranks,
                                 to + aps_ternary_sum_bytes(run->ranks, at));
        }
        from += aps_ternary_sum_bytes(levels->most_members, length);
        to += aps_ternary_sum_bytes(run->ranks, length);
    }
}

static size_t levels_there(const void *state, int peer)
{
    const struct levels *levels = state;

    return levels_bytes(levels, levels->most_members, levels->own, peer);
}

static size_t levels_result_of(const void *state, int peer)
{
    const struct levels *levels = state;

    return levels_bytes(levels, levels->run.ranks, levels->own, peer);
}

static int levels_exchange_peers(struct levels *levels,
                                 const struct aps_exchanged *what)
{
    return levels->peers > 1 ? aps_exchange_run(levels->run.site->peers, what,
                                                levels->run.cost)
                             : MPI_SUCCESS;
}

/* COLLECTIVE over the owners of the slice. Sums the parts; `rc` is the outcome
 * so far. After an error it still runs, because other ranks may not know of it.
 * Returns an MPI error code. */
static int levels_sum_groups(struct levels *levels, int rc)
{
    const size_t peer = (size_t)levels->peer;
    const struct aps_exchanged there = {
        .outgoing = levels->there,
        .incoming = levels->back,
        .stride = levels->sums,
        .bytes = levels_there,
        .state = levels,
    };
    const struct aps_exchanged back = {
        .incoming = levels_result(levels, levels->own),
        .stride = levels->result,
        .bytes = levels_result_of,
        .state = levels,
    };
    int now;

    for (int j = 0; j < levels->peers && rc == MPI_SUCCESS; j++)
        levels_sum_part(levels, j);
    memcpy(levels->back + peer * levels->sums,
           levels->there + peer * levels->sums,
           levels_there(levels, levels->peer));
    now = levels_exchange_peers(levels, &there);
    rc = rc == MPI_SUCCESS ? now : rc;
    if (rc == MPI_SUCCESS)
        levels_add_groups(levels);
    now = levels_exchange_peers(levels, &back);
    return rc == MPI_SUCCESS ? now : rc;
}

/* --- results -------------------------------------------------------------- */

static size_t levels_results_of(const void *state, int owner)
{
    const struct levels *levels = state;

    return owner < levels->run.owners ? levels_results(levels, owner) : 0;
}

/* Moves the parts of this rank's results next to each other. */
static void levels_close(const struct levels *levels)
{
    unsigned char *results = levels_result(levels, levels->own);
    size_t at = 0;

    for (int j = 0; j < levels->peers; j++) {
        const size_t bytes = levels_result_of(levels, j);

        memmove(results + at, results + (size_t)j * levels->result, bytes);
        at += bytes;
    }
}

/* COLLECTIVE over the group. After an error it still runs. Returns an MPI error
 * code. */
static int levels_hand_out(struct levels *levels)
{
    const struct aps_exchanged results = {
        .incoming = levels->results,
        .stride = (size_t)levels->peers * levels->result,
        .bytes = levels_results_of,
        .state = levels,
    };

    if (levels_owns(levels))
        levels_close(levels);
    return aps_exchange_run(levels->run.site->group, &results,
                            levels->run.cost);
}

static void levels_settle(const struct levels *levels, int owner)
{
    const struct aps_digits_run *run = &levels->run;
    const unsigned char *sums = levels_result(levels, owner);

    for (int j = 0; j < levels->peers; j++)
        for (int i = 0; i < run->count; i++) {
            const struct aps_digits *of = &run->layers[i];
            const struct aps_slice part = levels_part_of(levels, i, owner, j);

            if (!of->layer->fp32_fallback)
                aps_ternary_sum_decode(sums, part.length, run->ranks,
                                       of->scaler, run->cpu,
                                       of->layer->out + part.begin);
            sums += aps_ternary_sum_bytes(run->ranks, part.length);
        }
}

/* --- a call --------------------------------------------------------------- */

static int levels_run(const struct aps_compressed_env *site, int count,
                      struct aps_compressed layers[], struct aps_cost *cost)
{
    const struct aps_groups *groups = site->groups;
    struct levels levels = {
        .own = groups->group.rank,
        .members = groups->group.size,
        .most_members = groups->largest,
        .peers = groups->groups,
        .peer = groups->groups > 1 ? groups->peers.rank : 0,
    };
    int rc, now;

    aps_digits_begin(&levels.run, site, groups->smallest, count, layers, cost);
    levels_place(&levels);
    aps_digits_agree(&levels.run);
    rc = levels_gather_digits(&levels);
    if (levels_owns(&levels))
        rc = levels_sum_groups(&levels, rc);
    now = levels_hand_out(&levels);
    rc = rc == MPI_SUCCESS ? now : rc;
    for (int i = 0; i < groups->smallest && rc == MPI_SUCCESS; i++)
        levels_settle(&levels, i);
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_ternary_hierarchical = {
    .grouped = true,
    .message = levels_message,
    .run = levels_run,
};
