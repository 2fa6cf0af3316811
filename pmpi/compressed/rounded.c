/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error feedback of a plain format (Seide et al., 1-bit SGD, Interspeech 2014;
 * Tang et al., DoubleSqueeze, ICML 2019). A layer has two roundings, and the
 * rank that rounds remembers the residual:
 *
 *     delta = g + e;  every rank sends Q(delta), slice by slice, to the slices'
 *     owners;  e = delta - Q(delta)
 *     an owner adds the contributions in the order of the ranks, and then its
 *     slice's residual: s = sum + f;  it sends Q(s) to all;  f = s - Q(s)
 *
 * The sum of the results over calls is thus the sum of all gradients, except
 * for the residuals. A message to a rank has a section for each layer: a header
 * and the block of that rank's slice.
 */
#include "config.h"

#include "compressed/table.h"

#include <math.h>
#include <string.h>

#include "compress/feedback.h"
#include "compress/magnitudes.h"
#include "compressed/elements.h"
#include "compressed/fp32_fallback.h"
#include "block/block.h"
#include "block/tile.h"
#include "cut/exponent.h"
#include "block/random_key.h"

/* Header before the block of a section; the block begins at a multiple of
 * 16. */
struct header {
    uint32_t flags;
    uint32_t unused[3];
};
#define FLAG_NOT_FINITE 1u

struct rounded {
    struct aps_compressed *layer;
    float *sum;      /* sum of this rank's slice, which it owns */
    float magnitude; /* the greatest magnitude */
    bool finite;     /* values are finite on this rank */
    int exponent;    /* exponent of the stage */
};

/* A message to or from the owner of slices has a section for each layer.
 * Messages lie `stride` bytes apart: rank 0 owns the most. */
struct run {
    const struct aps_compressed_env *site;
    struct aps_wire wire;
    int rank, ranks;
    int count;
    bool damaged; /* a message that arrived is damaged */
    struct rounded layers[APS_VECTORS_MAX];
    size_t stride;
    /* [ranks * stride] each: messages from every rank, and sums of every
     * slice. */
    unsigned char *incoming, *results;
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static struct aps_slice rounded_slice(const struct run *run,
                                      const struct rounded *of, int owner)
{
    return aps_slice_of(of->layer->matrix.count,
                        aps_codec_granule(&run->wire.codec), run->ranks, owner);
}

static size_t rounded_longest(const struct aps_plan *plan, size_t count,
                              int ranks)
{
    struct aps_wire wire;

    aps_elements_wire(plan, false, &wire);
    return aps_slice_longest(count, aps_codec_granule(&wire.codec), ranks);
}

static size_t rounded_section(const struct aps_wire *wire, size_t length)
{
    return sizeof(struct header) +
           (aps_block_bytes(wire, length) + 15) / 16 * 16;
}

/* Returns the bytes of a message to or from an owner. */
static size_t rounded_bytes(const void *state, int owner)
{
    const struct run *run = state;
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += rounded_section(
            &run->wire, rounded_slice(run, &run->layers[i], owner).length);
    return bytes;
}

/* Returns the floats that the owner of a slice remembers. */
static size_t rounded_kept(const struct aps_plan *plan,
                           const struct aps_matrix *matrix,
                           const struct aps_compressed_ranks *ranks)
{
    return rounded_longest(plan, matrix->count, ranks->all);
}

/* Gives the owner's residual back. Other plans have other slices, or none: from
 * now on the residual belongs to the owner, and is added to its values. */
static void rounded_give_back(const struct aps_plan *before,
                              const struct aps_matrix *matrix, int ranks,
                              int rank, const float *kept, float *error)
{
    struct aps_wire wire;
    struct aps_slice slice;

    aps_elements_wire(before, false, &wire);
    slice = aps_slice_of(matrix->count, aps_codec_granule(&wire.codec), ranks,
                         rank);
    for (size_t i = 0; i < slice.length; i++)
        error[slice.begin + i] += kept[i];
}

static size_t rounded_scratch(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    return rounded_longest(plan, matrix->count, ranks->all);
}

static size_t rounded_message(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    struct aps_wire wire;

    aps_elements_wire(plan, false, &wire);
    return 3 * rounded_section(
                   &wire, rounded_longest(plan, matrix->count, ranks->all));
}

/* Returns a block for a slice of this rank's values. */
static struct aps_block rounded_block(const struct run *run,
                                      const struct rounded *of,
                                      const struct aps_slice *slice)
{
    return (struct aps_block){
        .memory = &aps_memory_host,
        .n = slice->length,
        .number = of->layer->number,
        .first = slice->begin,
        .stage = run->wire.stage,
        .rank = run->rank,
        .ranks = run->ranks,
        .exponent = of->exponent,
    };
}

/* --- contributions -------------------------------------------------------- */

/*
 * Computes the magnitude for an agreed exponent. APS keeps the sum of the
 * ranks' values within the format, but not the owner's residual, which may stem
 * from calls with much greater values: the residual may be a quarter of the
 * greatest sum.
 */
static void rounded_measure(const struct run *run, struct rounded *of)
{
    const struct aps_compressed *layer = of->layer;
    const struct aps_magnitudes magnitudes = aps_magnitudes_add(
        layer->in, layer->error, layer->matrix.count, layer->delta);
    const struct aps_slice slice = rounded_slice(run, of, run->rank);

    of->finite = magnitudes.finite;
    of->magnitude = magnitudes.finite ? magnitudes.max : 0;
    if (!aps_scale_ops_of(&run->wire.scale)->agreed)
        return;
    of->magnitude =
        fmaxf(of->magnitude, 4 * aps_max_finite(layer->kept, slice.length) /
                                 (float)run->ranks);
}

/* COLLECTIVE over the site's communicator if the scale is agreed. After an
 * error, which the outcome of the exchange keeps, this rank sends empty
 * messages. */
static void rounded_agree(struct run *run)
{
    float greatest[APS_VECTORS_MAX];
    int exponents[APS_VECTORS_MAX] = {0};

    for (int i = 0; i < run->count; i++)
        greatest[i] = run->layers[i].magnitude;
    *run->site->exchange->messages.outcome =
        aps_exponent_agree_all(run->site->vcomm, &run->wire, run->count,
                               greatest, exponents, run->cost);
    for (int i = 0; i < run->count; i++)
        run->layers[i].exponent = exponents[i];
}

/* Writes the header of a section of `bytes`, and zeros that the block may not
 * reach. */
static void rounded_begin_section(const struct header *header, size_t bytes,
                                  unsigned char *section)
{
    memset(section + bytes - 16, 0, 16);
    memcpy(section, header, sizeof *header);
}

/* Encodes the message to an owner. */
static void rounded_encode(const void *state, int owner, unsigned char *section)
{
    const struct run *run = state;

    for (int i = 0; i < run->count; i++) {
        const struct rounded *of = &run->layers[i];
        const struct aps_slice slice = rounded_slice(run, of, owner);
        const struct header header = {.flags =
                                          of->finite ? 0 : FLAG_NOT_FINITE};
        const size_t bytes = rounded_section(&run->wire, slice.length);

        if (!of->finite)
            memset(section, 0, bytes);
        rounded_begin_section(&header, bytes, section);
        if (slice.length > 0 && of->finite)
            aps_block_encode_residual(&run->wire,
                                      rounded_block(run, of, &slice),
                                      of->layer->delta + slice.begin,
                                      section + sizeof header, run->cost);
        section += bytes;
    }
}

/* True if a rank has reported that its values are not finite. Each rank reports
 * to all ranks, so all of them find the same. */
static bool rounded_is_whole(struct run *run, size_t at)
{
    bool whole = false;

    for (int rank = 0; rank < run->ranks; rank++) {
        struct header header;

        memcpy(&header, run->incoming + (size_t)rank * run->stride + at,
               sizeof header);
        run->damaged |= header.flags > FLAG_NOT_FINITE;
        whole |= header.flags != 0;
    }
    return whole;
}

/* --- sums ----------------------------------------------------------------- */

/* Returns values [begin, begin + n) of a section. */
static struct aps_block_part rounded_part(const struct run *run,
                                          const unsigned char *section,
                                          size_t begin, size_t n,
                                          struct aps_block_copy *copy)
{
    return aps_block_part_of(&run->wire, section + sizeof(struct header), begin,
                             n, copy);
}

/* Sums values [begin, begin + n) of this rank's slice, and adds its
 * residual. */
static void rounded_sum_part(const struct run *run, const struct rounded *of,
                             size_t at, size_t begin, size_t n)
{
    float *const sum = of->sum + begin;
    struct aps_block_copy copy;

    for (int rank = 0; rank < run->ranks; rank++) {
        const struct aps_block_part part =
            rounded_part(run, run->incoming + (size_t)rank * run->stride + at,
                         begin, n, &copy);

        if (rank == 0)
            aps_block_part_decode(&run->wire, &part, n, sum);
        else
            aps_block_part_add(&run->wire, &part, n, sum);
    }
    aps_feedback_add(of->layer->kept + begin, n, aps_cpu_chosen(), sum);
}

/* Sums a layer whose sections begin `at` bytes into the messages to this
 * rank. */
static void rounded_sum(const struct run *run, const struct rounded *of,
                        size_t at, unsigned char *section)
{
    const struct aps_slice slice = rounded_slice(run, of, run->rank);
    const size_t most = aps_block_part_max(&run->wire);
    struct aps_block sum = rounded_block(run, of, &slice);

    if (slice.length == 0)
        return;
    sum.x = of->sum;
    sum.stage++;
    sum.ranks = 1;
    sum.known = (struct aps_magnitude){0, true};
    sum.exact = true;
    for (size_t begin = 0; begin < slice.length; begin += most) {
        const size_t n =
            slice.length - begin < most ? slice.length - begin : most;

        rounded_sum_part(run, of, at, begin, n);
        aps_magnitude_add(of->sum + begin, n, &sum.known);
    }
    (void)aps_block_encode(&run->wire, &sum, section + sizeof(struct header));
}

/* Sums this rank's slices of the layers that do not fall back to FP32. */
static void rounded_sum_own(struct run *run)
{
    unsigned char *own = run->results + (size_t)run->rank * run->stride;
    size_t at = 0;

    for (int i = 0; i < run->count; i++) {
        struct rounded *of = &run->layers[i];
        const size_t bytes = rounded_section(
            &run->wire, rounded_slice(run, of, run->rank).length);

        of->layer->fp32_fallback = rounded_is_whole(run, at);
        if (of->layer->fp32_fallback)
            memset(own + at, 0, bytes);
        rounded_begin_section(&(struct header){0}, bytes, own + at);
        if (!of->layer->fp32_fallback)
            rounded_sum(run, of, at, own + at);
        at += bytes;
    }
}

/* --- results and residuals ------------------------------------------------ */

/* Writes the results of values [begin, begin + n) of an owner's slice from its
 * sections. */
static void rounded_settle_part(const struct run *run, const struct rounded *of,
                                const struct aps_slice *slice, int owner,
                                size_t at, size_t begin, size_t n)
{
    float *const out = of->layer->out + slice->begin + begin;
    struct aps_block_copy copy;
    const struct aps_block_part part =
        rounded_part(run, run->results + at, begin, n, &copy);

    aps_block_part_decode(&run->wire, &part, n, out);
    if (owner == run->rank)
        aps_feedback_left(of->sum + begin, out, n, aps_cpu_chosen(),
                          of->layer->kept + begin);
}

static void rounded_settle(const struct run *run, int owner)
{
    const size_t most = aps_block_part_max(&run->wire);
    size_t at = (size_t)owner * run->stride;

    for (int i = 0; i < run->count; i++) {
        const struct rounded *of = &run->layers[i];
        const struct aps_slice slice = rounded_slice(run, of, owner);

        for (size_t begin = 0;
             begin < slice.length && !of->layer->fp32_fallback; begin += most)
            rounded_settle_part(
                run, of, &slice, owner, at, begin,
                slice.length - begin < most ? slice.length - begin : most);
        at += rounded_section(&run->wire, slice.length);
    }
}

/* --- a call --------------------------------------------------------------- */

static int rounded_run(const struct aps_compressed_env *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .rank = site->vcomm->rank,
        .ranks = site->vcomm->size,
        .count = count,
        .cost = cost,
    };
    size_t room;
    int rc;

    aps_elements_wire(site->plan, false, &run.wire);
    aps_wire_draw(site->plan, site->vcomm->number, APS_CALL_ALLREDUCE, 0,
                  &run.wire);
    for (int i = 0; i < count; i++) {
        run.layers[i] =
            (struct rounded){.layer = &layers[i], .sum = layers[i].scratch};
        rounded_measure(&run, &run.layers[i]);
    }
    run.stride = rounded_bytes(&run, 0);
    room = (size_t)run.ranks * run.stride;
    run.incoming = site->messages + room;
    run.results = run.incoming + room;
    rounded_agree(&run);
    rc = aps_exchange_run(site->exchange,
                          &(struct aps_exchanged){
                              .outgoing = site->messages,
                              .incoming = run.incoming,
                              .stride = run.stride,
                              .bytes = rounded_bytes,
                              .make = rounded_encode,
                              .state = &run,
                          },
                          cost);
    if (rc == MPI_SUCCESS)
        rounded_sum_own(&run);
    /* Run this exchange after an error, too: other ranks may not know of it. */
    rc = aps_exchange_run(site->exchange,
                          &(struct aps_exchanged){
                              .incoming = run.results,
                              .stride = run.stride,
                              .bytes = rounded_bytes,
                              .state = &run,
                          },
                          cost);
    if (run.damaged)
        rc = MPI_ERR_OTHER;
    rc = aps_compressed_reduce_fp32(site, rc, count, layers, cost);
    /* No layer updates its error memory before all layers have succeeded. Until
     * then `delta` is scratch. */
    for (int i = 0; i < run.ranks && rc == MPI_SUCCESS; i++)
        rounded_settle(&run, i);
    return rc;
}

const struct aps_compressed_ops aps_compressed_rounded = {
    .kept = rounded_kept,
    .scratch = rounded_scratch,
    .message = rounded_message,
    .give_back = rounded_give_back,
    .run = rounded_run,
};
