/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements by `reduce: direct`. Every rank owns a slice of each layer.
 *
 *     delta = g + e;  a rank sends its selection of a slice to the slice's owner,
 *     Q(delta);  e = delta - Q(delta)
 *     the owner adds the contributions, in the order of the ranks, to zeros: s;
 *     it sends Q(s) of the nonzero sums to all;  its e += s - Q(s) in its slice
 *
 * The results and the residuals of all ranks thus add up to all gradients. In
 * FP32 the result has the bits of `gather`.
 *
 * A message has a section for each layer (elements.h): its length depends on
 * the selection, and only the sender knows it. A rank that has an INF or a NaN
 * reports it to all owners. Each owner reports to all ranks that a rank has
 * one, or that a value or a sum became one. Then the layer falls back to FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <string.h>

#include "codec/codec.h"
#include "compressed/elements.h"
#include "compressed/varlen_exchange.h"
#include "compressed/fp32_fallback.h"
#include "block/random_key.h"

/* A layer during the exchange of its elements. */
struct selected {
    struct aps_compressed *layer;
    void *work;        /* scratch of a bracket */
    uint32_t *indices; /* [k]: indices of this rank's elements */
    float *sum;        /* [longest]: sum of the slice that this rank owns */
    uint32_t *some;    /* [longest]: indices of elements in progress */
    float *values;     /* [longest] */
    size_t k, longest;
    struct aps_bracket bracket;
    long count; /* number of this rank's elements; -1: not all are finite */
    bool bad;   /* owner only: some value or sum is not finite */
};

struct run {
    const struct aps_compressed_env *site;
    const struct aps_compressor *compressor;
    struct aps_wire wire;
    int ranks, rank;
    int count;
    struct selected layers[APS_VECTORS_MAX];
    /* Messages of all ranks: to the owners, to this rank, and with all sums. */
    unsigned char *to, *from, *sums;
    size_t to_most, sums_most; /* most bytes of one message */
    bool damaged;              /* a section that arrived is damaged */
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

/* Returns the most bytes of a layer's elements for an owner; direct_sums_most
 * returns those of the owner's sums. */
static size_t direct_to_most(const struct aps_wire *wire,
                             const struct aps_plan *plan,
                             const struct aps_matrix *matrix, int ranks)
{
    return aps_elements_max(wire,
                            aps_compressed_k(&plan->compressor, matrix->count),
                            aps_slice_longest(matrix->count, 1, ranks));
}

static size_t direct_sums_most(const struct aps_wire *wire,
                               const struct aps_matrix *matrix, int ranks)
{
    const size_t longest = aps_slice_longest(matrix->count, 1, ranks);

    return aps_elements_max(wire, longest, longest);
}

/* Strides of several layers together do not exceed the sum of their strides. */
static size_t direct_message(const struct aps_plan *plan,
                             const struct aps_matrix *matrix,
                             const struct aps_compressed_ranks *ranks)
{
    struct aps_wire wire;

    aps_elements_wire(plan, false, &wire);
    return 2 * aps_varlen_stride(
                   direct_to_most(&wire, plan, matrix, ranks->all)) +
           aps_varlen_stride(direct_sums_most(&wire, matrix, ranks->all));
}

/* Floats in the order of direct_present. */
static size_t direct_scratch(const struct aps_plan *plan,
                             const struct aps_matrix *matrix,
                             const struct aps_compressed_ranks *ranks)
{
    const size_t n = matrix->count;
    const size_t k = aps_compressed_k(&plan->compressor, matrix->count);

    return aps_compressed_work(k, n) / sizeof(float) + k +
           3 * aps_slice_longest(n, 1, ranks->all);
}

static void direct_present(struct run *run, struct selected *of,
                           struct aps_compressed *layer)
{
    const struct aps_plan *plan = run->site->plan;
    const size_t n = layer->matrix.count;
    const size_t k = aps_compressed_k(&plan->compressor, n);
    const size_t longest = aps_slice_longest(n, 1, run->ranks);
    float *next = layer->scratch;

    *of = (struct selected){.layer = layer, .k = k, .longest = longest};
    of->work = next;
    next += aps_compressed_work(k, n) / sizeof *next;
    of->indices = (uint32_t *)(void *)next;
    next += k;
    of->some = (uint32_t *)(void *)next;
    next += longest;
    of->values = next;
    of->sum = of->values + longest;
    run->to_most +=
        direct_to_most(&run->wire, plan, &layer->matrix, run->ranks);
    run->sums_most += direct_sums_most(&run->wire, &layer->matrix, run->ranks);
}

static struct aps_elements direct_room(const struct run *run,
                                       const struct selected *of, int owner)
{
    return (struct aps_elements){
        .slice = aps_slice_of(of->layer->matrix.count, 1, run->ranks, owner),
        .indices = of->some,
        .values = of->values,
    };
}

/* --- contributions -------------------------------------------------------- */

/* Encodes this rank's message to rank `owner`. */
static void direct_encode(struct run *run, int owner)
{
    unsigned char *bytes =
        aps_varlen_bytes(run->to, aps_varlen_stride(run->to_most), owner);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        const struct aps_block block = {.number = of->layer->number,
                                        .stage = run->wire.stage,
                                        .rank = run->rank,
                                        .ranks = 1};
        struct aps_elements elements = direct_room(run, of, owner);

        if (of->count < 0)
            elements.bad = true;
        else
            aps_elements_gather(of->indices, (size_t)of->count, of->bracket.x,
                                &elements);
        at += aps_elements_encode(&run->wire, block, &elements, run->cost,
                                  bytes + at);
    }
    aps_varlen_set_length(run->to, run->to_most, owner, at);
}

/* --- sums ----------------------------------------------------------------- */

/* Adds the elements that a rank has sent to this rank. */
static void direct_add(struct run *run, int rank)
{
    const unsigned char *bytes =
        aps_varlen_bytes(rank == run->rank ? run->to : run->from,
                         aps_varlen_stride(run->to_most), rank);
    const size_t room = aps_varlen_length(bytes, run->to_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        struct aps_elements elements = direct_room(run, of, run->rank);

        at += aps_elements_decode(&run->wire, bytes + at, room - at, &elements);
        run->damaged |= elements.damaged;
        /* A scale of the plan may have let some values overflow. */
        of->bad |= elements.bad ||
                   !aps_magnitude_of(elements.values, elements.count).finite;
        if (!of->bad)
            aps_elements_add(&elements, of->sum);
    }
}

/* Encodes the sums of this rank's slices, for all ranks. */
static void direct_sum(struct run *run)
{
    unsigned char *bytes = aps_varlen_bytes(
        run->sums, aps_varlen_stride(run->sums_most), run->rank);
    size_t at = 0;

    for (int i = 0; i < run->count; i++)
        memset(run->layers[i].sum, 0,
               run->layers[i].longest * sizeof *run->layers[i].sum);
    for (int rank = 0; rank < run->ranks; rank++)
        direct_add(run, rank);
    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        const struct aps_block block = {.number = of->layer->number,
                                        .stage = run->wire.stage + 1,
                                        .rank = run->rank,
                                        .ranks = 1};
        struct aps_elements elements = direct_room(run, of, run->rank);
        struct aps_cost none = {0};
        size_t length;

        if (of->bad)
            elements.bad = true;
        else
            aps_elements_find(of->sum, &elements);
        length = aps_elements_encode(&run->wire, block, &elements, &none,
                                     bytes + at);
        (void)aps_elements_decode(&run->wire, bytes + at, length, &elements);
        if (!of->bad &&
            !aps_magnitude_of(elements.values, elements.count).finite) {
            elements.bad = true;
            length = aps_elements_encode(&run->wire, block, &elements, &none,
                                         bytes + at);
        }
        at += length;
    }
    aps_varlen_set_length(run->sums, run->sums_most, run->rank, at);
}

/* --- results -------------------------------------------------------------- */

/* Finds the layers that fall back to FP32. All ranks have the same bytes of all
 * owners. */
static void direct_find_whole(struct run *run, int owner)
{
    const unsigned char *bytes =
        aps_varlen_bytes(run->sums, aps_varlen_stride(run->sums_most), owner);
    const size_t room = aps_varlen_length(bytes, run->sums_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        struct aps_elements elements = direct_room(run, of, owner);

        at += aps_elements_skip(&run->wire, bytes + at, room - at, &elements);
        of->layer->fp32_fallback |= elements.bad;
        run->damaged |= elements.damaged;
    }
}

/* Removes the elements that this rank has sent to an owner from its error
 * memory. */
static void direct_remember(const struct run *run, int owner)
{
    const unsigned char *bytes =
        aps_varlen_bytes(run->to, aps_varlen_stride(run->to_most), owner);
    const size_t room = aps_varlen_length(bytes, run->to_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        struct aps_elements elements = direct_room(run, of, owner);
        float *delta = of->layer->delta;

        at += aps_elements_decode(&run->wire, bytes + at, room - at, &elements);
        for (size_t k = 0; !of->layer->fp32_fallback && k < elements.count; k++)
            delta[elements.indices[k]] -= elements.values[k];
    }
}

/* Writes an owner's sums to the results. */
static void direct_restore(struct run *run, int owner)
{
    const unsigned char *bytes =
        aps_varlen_bytes(run->sums, aps_varlen_stride(run->sums_most), owner);
    const size_t room = aps_varlen_length(bytes, run->sums_most);
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        const struct selected *of = &run->layers[i];
        struct aps_elements elements = direct_room(run, of, owner);
        const struct aps_slice slice = elements.slice;
        float *delta = owner == run->rank ? of->layer->delta : NULL;

        at += aps_elements_decode(&run->wire, bytes + at, room - at, &elements);
        run->damaged |= elements.damaged;
        if (of->layer->fp32_fallback)
            continue;
        memset(of->layer->out + slice.begin, 0,
               slice.length * sizeof *of->layer->out);
        for (size_t k = 0; k < elements.count; k++) {
            const uint32_t index = elements.indices[k];

            of->layer->out[index] = elements.values[k];
            if (delta)
                delta[index] +=
                    of->sum[index - slice.begin] - elements.values[k];
        }
    }
}

static void direct_settle(struct run *run)
{
    for (int rank = 0; rank < run->ranks; rank++)
        direct_find_whole(run, rank);
    for (int rank = 0; rank < run->ranks; rank++) {
        if (run->site->plan->feedback)
            direct_remember(run, rank);
        direct_restore(run, rank);
    }
}

/* --- a call --------------------------------------------------------------- */

static int direct_run(const struct aps_compressed_env *site, int count,
                      struct aps_compressed layers[], struct aps_cost *cost)
{
    const size_t ranks = (size_t)site->vcomm->size;
    struct run run = {
        .site = site,
        .compressor = &site->plan->compressor,
        .ranks = site->vcomm->size,
        .rank = site->vcomm->rank,
        .count = count,
        .cost = cost,
    };
    struct aps_varlen_exchange varlen = {
        .exchange = site->exchange,
        .senders = run.ranks,
        .receivers = run.ranks,
    };
    int rc;

    aps_elements_wire(site->plan, false, &run.wire);
    aps_wire_draw(site->plan, site->vcomm->number, APS_CALL_ALLREDUCE, 0,
                  &run.wire);
    for (int i = 0; i < count; i++) {
        struct selected *of = &run.layers[i];

        direct_present(&run, of, &layers[i]);
        of->count = aps_compressed_select(run.compressor, &layers[i], of->k,
                                          of->work, &of->bracket, of->indices);
    }
    run.to = site->messages;
    run.from = run.to + ranks * aps_varlen_stride(run.to_most);
    run.sums = run.from + ranks * aps_varlen_stride(run.to_most);
    for (int owner = 0; owner < run.ranks; owner++)
        direct_encode(&run, owner);
    varlen.most = run.to_most;
    varlen.to = run.to;
    varlen.to_stride = aps_varlen_stride(run.to_most);
    varlen.from = run.from;
    rc = aps_varlen_exchange_run(&varlen, cost);
    if (rc == MPI_SUCCESS)
        direct_sum(&run);
    else /* other ranks may not know of it */
        aps_varlen_set_length(run.sums, run.sums_most, run.rank, 0);
    if (run.damaged)
        *site->exchange->messages.outcome = MPI_ERR_OTHER;
    varlen.most = run.sums_most;
    varlen.to = run.sums + (size_t)run.rank * aps_varlen_stride(run.sums_most);
    varlen.to_stride = 0;
    varlen.from = run.sums;
    rc = aps_varlen_exchange_run(&varlen, cost);
    if (rc == MPI_SUCCESS)
        direct_settle(&run);
    if (run.damaged)
        rc = MPI_ERR_OTHER;
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_selected_direct = {
    .scratch = direct_scratch,
    .message = direct_message,
    .run = direct_run,
};
