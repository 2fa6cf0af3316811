/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selected elements by `reduce: gather`. Every rank sends its selected elements
 * and their indices to all other ranks, and adds the elements of all ranks, in
 * rank order, to zeros. The error memory holds elements that were not sent, and
 * what the values lost in the plan's format.
 *
 * A message has a section for each layer: a header, indices
 * (compress/indices.h) and a block of values. Its length follows from the
 * layer's length and the plan. A rank that has an INF or a NaN reports it in
 * the header, and the layer falls back to FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <limits.h>
#include <string.h>

#include "codec/codec.h"
#include "compress/indices.h"
#include "compress/select.h"
#include "compress/sparse.h"
#include "compressed/elements.h"
#include "compressed/fp32_fallback.h"
#include "message/agree.h"
#include "block/block.h"
#include "block/random_key.h"

/* Header of a section, in the byte order of the machine. */
struct header {
    uint32_t count; /* elements that were sent */
    uint32_t flags;
};
#define FLAG_NOT_FINITE 1u

/* Alignment of the parts of a section, in bytes. */
#define ALIGNED 16

/* Approximate bytes of a part of a message: MPI counts them in an int. */
#define PART ((size_t)1 << 24)

/* Offsets and size of a section with k of n elements. */
struct section {
    size_t indices; /* offset from the start of the section, in bytes */
    size_t values;
    size_t bytes;
};

/* A layer during the exchange of its elements. */
struct selected {
    struct aps_compressed *layer;
    size_t k;                 /* most elements */
    size_t room;              /* size of a section */
    void *work;               /* scratch of a bracket */
    uint32_t *indices;        /* [ranks * k]: indices of each rank's elements */
    float *values;            /* [ranks * k] */
    float *own;               /* [k]: this rank's values, before rounding */
    struct aps_sparse *ranks; /* [ranks] */
    size_t *at;               /* [ranks] */
    struct aps_bracket bracket;
    size_t count; /* number of this rank's elements */
    bool finite;  /* values are finite on this rank */
    size_t begin; /* offset of the section in a message */
};

struct run {
    const struct aps_compressed_env *site;
    const struct aps_compressor *compressor;
    struct aps_wire wire;
    int count;
    struct selected layers[APS_VECTORS_MAX];
    size_t bytes; /* bytes of a message */
    size_t parts; /* parts of a message, as many as the longest has */
    bool damaged; /* a message that arrived is damaged */
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static size_t selected_aligned(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static struct section selected_section(const struct aps_wire *wire, size_t k,
                                       size_t n)
{
    struct section section = {.indices = ALIGNED};

    section.values =
        section.indices + selected_aligned(aps_indices_bytes(k, n));
    section.bytes = section.values + selected_aligned(aps_block_bytes(wire, k));
    return section;
}

static size_t selected_message(const struct aps_plan *plan,
                               const struct aps_matrix *matrix,
                               const struct aps_compressed_ranks *ranks)
{
    struct aps_wire wire;

    (void)ranks;
    aps_elements_wire(plan, false, &wire);
    return selected_section(&wire,
                            aps_compressed_k(&plan->compressor, matrix->count),
                            matrix->count)
        .bytes;
}

/* Floats in the order of selected_present. */
static size_t selected_scratch(const struct aps_plan *plan,
                               const struct aps_matrix *matrix,
                               const struct aps_compressed_ranks *ranks)
{
    const size_t n = matrix->count;
    const size_t k = aps_compressed_k(&plan->compressor, n);
    const size_t all = (size_t)ranks->all;

    return (all * (sizeof(struct aps_sparse) + sizeof(size_t)) +
            aps_compressed_work(k, n)) /
               sizeof(float) +
           1 + all * 2 * k + k;
}

static void selected_present(struct run *run, int i,
                             struct aps_compressed *layer)
{
    const size_t n = layer->matrix.count;
    const size_t k = aps_compressed_k(&run->site->plan->compressor, n);
    const size_t ranks = (size_t)run->site->vcomm->size;
    struct selected *of = &run->layers[i];
    unsigned char *next = (unsigned char *)layer->scratch;

    *of = (struct selected){.layer = layer, .k = k, .room = k};
    of->ranks = (struct aps_sparse *)(void *)next;
    next += ranks * sizeof *of->ranks;
    of->at = (size_t *)(void *)next;
    next += ranks * sizeof *of->at;
    of->work = next;
    next += aps_compressed_work(k, n);
    of->indices = (uint32_t *)(void *)next;
    next += ranks * k * sizeof *of->indices;
    of->values = (float *)(void *)next;
    of->own = of->values + ranks * k;
}

/* --- contributions -------------------------------------------------------- */

static void selected_select(const struct run *run, struct selected *of)
{
    const long count = aps_compressed_select(
        run->compressor, of->layer, of->k, of->work, &of->bracket,
        of->indices + of->k * (size_t)run->site->vcomm->rank);

    of->finite = count >= 0;
    of->count = of->finite ? (size_t)count : 0;
}

/* COLLECTIVE over the site's communicator. Agrees on the elements for which
 * sections have room, if that number varies: the greatest number of a rank.
 * Sets where sections begin. After an error, which the outcome of the
 * exchange keeps, this rank has room for the longest sections and sends
 * empty messages. */
static void selected_agree(struct run *run)
{
    const bool varies = aps_compressor_ops_of(run->compressor)->varies;
    int counts[APS_VECTORS_MAX]; /* from INT_MIN on: 32 bits */
    size_t longest = 0;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < run->count; i++)
        counts[i] = (int)((int64_t)run->layers[i].count + INT_MIN);
    if (varies)
        rc = aps_agree_max(run->site->vcomm, run->count, counts);
    for (int i = 0; varies && i < run->count; i++)
        if ((size_t)((int64_t)counts[i] - INT_MIN) > run->layers[i].k)
            rc = MPI_ERR_OTHER; /* a rank has sent too large a number */
    *run->site->exchange->messages.outcome = rc;
    for (int i = 0; i < run->count; i++) {
        struct selected *of = &run->layers[i];
        const size_t n = of->layer->matrix.count;

        if (varies && rc == MPI_SUCCESS)
            of->room = (size_t)((int64_t)counts[i] - INT_MIN);
        of->begin = run->bytes;
        run->bytes += selected_section(&run->wire, of->room, n).bytes;
        longest += selected_section(&run->wire, of->k, n).bytes;
    }
    run->parts = longest / PART + 1;
    if (run->bytes < run->parts)
        run->bytes = run->parts;
}

static void selected_encode(struct run *run, struct selected *of,
                            unsigned char *message)
{
    const struct aps_compressed *layer = of->layer;
    const int rank = run->site->vcomm->rank;
    const size_t n = layer->matrix.count;
    const struct section section = selected_section(&run->wire, of->room, n);
    const uint32_t *indices = of->indices + of->k * (size_t)rank;
    const struct header header = {(uint32_t)of->count,
                                  of->finite ? 0 : FLAG_NOT_FINITE};
    const struct aps_block block = {
        .memory = &aps_memory_host,
        .x = of->own,
        .n = of->count,
        .number = layer->number,
        .stage = run->wire.stage,
        .rank = rank,
        .ranks = 1,
    };
    unsigned char *to = message + of->begin;

    memcpy(to, &header, sizeof header);
    if (of->count == 0)
        return;
    aps_indices_encode(indices, of->count, 0, n, to + section.indices);
    aps_sparse_gather(of->bracket.x, indices, of->count, of->own);
    aps_cost_note(run->cost,
                  aps_block_encode(&run->wire, &block, to + section.values));
}

/* --- decoding ------------------------------------------------------------- */

/* Returns false, on all ranks, if a rank has an INF or a NaN, or a value became
 * one. A damaged message fails the call: other ranks do not know of it. */
static bool selected_decode(struct run *run, struct selected *of, int rank,
                            const unsigned char *message)
{
    const size_t n = of->layer->matrix.count;
    const struct section section = selected_section(&run->wire, of->room, n);
    const unsigned char *from = message + of->begin;
    uint32_t *indices = of->indices + of->k * (size_t)rank;
    float *values = of->values + of->k * (size_t)rank;
    struct header header;

    memcpy(&header, from, sizeof header);
    of->ranks[rank] = (struct aps_sparse){indices, values, header.count};
    run->damaged |= header.flags > FLAG_NOT_FINITE || header.count > of->room;
    if (header.flags != 0 || run->damaged)
        return false;
    if (header.count == 0)
        return true;
    if (rank != run->site->vcomm->rank &&
        aps_indices_decode(from + section.indices, header.count, 0, n,
                           indices) < 0) {
        run->damaged = true;
        return false;
    }
    aps_block_decode(&run->wire, &aps_memory_host, from + section.values,
                     header.count, values);
    /* A scale of the plan may have let some values overflow. */
    return aps_magnitude_of(values, header.count).finite;
}

static void selected_sum(struct run *run, struct selected *of)
{
    struct aps_compressed *layer = of->layer;
    const int rank = run->site->vcomm->rank;
    const int ranks = run->site->vcomm->size;
    const size_t n = layer->matrix.count;

    for (int i = 0; i < ranks && !layer->fp32_fallback; i++)
        layer->fp32_fallback = !selected_decode(
            run, of, i, run->site->messages + (size_t)i * run->bytes);
    if (layer->fp32_fallback)
        return;
    if (layer->error)
        aps_sparse_take(layer->delta, of->ranks[rank].indices, of->count,
                        of->own, of->ranks[rank].values);
    aps_sparse_sum(of->ranks, (size_t)ranks, n, of->at, layer->out);
}

/* COLLECTIVE over the site's communicator. Sends each rank's message to all
 * others; the bytes of rank i arrive at messages + i * bytes. After an error it
 * still runs, in as many parts as on other ranks. */
static int selected_exchange(const struct run *run)
{
    const struct aps_compressed_env *site = run->site;
    unsigned char *messages = site->messages;
    const unsigned char *own =
        messages + (size_t)site->vcomm->rank * run->bytes;
    const size_t part = run->bytes / run->parts;
    int rc = MPI_SUCCESS;

    for (size_t i = 0; i < run->parts; i++) {
        const size_t at = i * part;
        const size_t size = i + 1 < run->parts ? part : run->bytes - at;

        aps_exchange_receive_alike(site->exchange, messages + at, run->bytes,
                                   size);
        aps_exchange_send_all(site->exchange, own + at, size);
        rc = aps_exchange_wait(site->exchange);
    }
    return rc;
}

static int selected_run(const struct aps_compressed_env *site, int count,
                        struct aps_compressed layers[], struct aps_cost *cost)
{
    const size_t rank = (size_t)site->vcomm->rank;
    struct run run = {
        .site = site,
        .compressor = &site->plan->compressor,
        .count = count,
        .cost = cost,
    };
    unsigned char *own;
    int rc;

    aps_elements_wire(site->plan, false, &run.wire);
    aps_wire_draw(site->plan, site->vcomm->number, APS_CALL_ALLREDUCE, 0,
                  &run.wire);
    for (int i = 0; i < count; i++) {
        selected_present(&run, i, &layers[i]);
        selected_select(&run, &run.layers[i]);
    }
    selected_agree(&run);
    own = site->messages + rank * run.bytes;
    memset(own, 0, run.bytes);
    for (int i = 0; i < count; i++)
        selected_encode(&run, &run.layers[i], own);
    cost->wire_bytes += (unsigned long long)(site->vcomm->size - 1) * run.bytes;
    rc = selected_exchange(&run);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        selected_sum(&run, &run.layers[i]);
    if (run.damaged)
        rc = MPI_ERR_OTHER;
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_selected = {
    .scratch = selected_scratch,
    .message = selected_message,
    .run = selected_run,
};
