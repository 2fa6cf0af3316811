/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad (Wen et al., NeurIPS 2017; compress/ternary.h). The ranks agree on the
 * scalers of all layers of a call in one message. Then each rank sends the digits
 * of its layers
 *
 *     reduce: direct    to the owners of the slices, who add them up, and send
 *                       the packed sums to all ranks
 *     reduce: gather    to all ranks, each of which adds them up
 *
 * and a result is a sum times the scaler. The sums are exact, so both give the
 * same bits. What the digits of a rank differ from its layer by is remembered.
 *
 * A message is a section a layer, with no headers: its length follows from the
 * layers' lengths and the number of ranks alone, whatever they hold. A rank that
 * has an INF or a NaN sends INF as its scaler: then the layer is reduced whole.
 */
#include "config.h"

#include "compressed/ternary.h"

#include <string.h>

#include "compress/ternary.h"
#include "compressed/whole.h"
#include "number/bits.h"
#include "number/philox.h"
#include "progress/agree.h"

#define GROUP APS_TERNARY_GROUP

/* Elements that are summed at a time, whole groups. */
#define BLOCK (10 * GROUP)

/* Five values that are 0. */
#define NOTHING 121

/* A layer while its digits travel. */
struct ternary {
    struct aps_compressed *layer;
    struct aps_ternary_scale scale; /* of this rank */
    float scaler;                   /* of all ranks */
};

struct run {
    const struct aps_compressed_site *site;
    int ranks, rank;
    enum aps_cpu cpu;
    int count;
    struct ternary layers[APS_VECTORS_MOST];
    struct aps_cost *cost;
};

/* --- slices --------------------------------------------------------------- */

/* Elements of a layer that rank `owner` sums: from `begin` on. */
struct slice {
    size_t begin, n;
};

/* Whole groups, except the last slice that is not empty. */
static struct slice ternary_slice(size_t n, int ranks, int owner)
{
    const size_t groups = n / GROUP + (n % GROUP > 0);
    const size_t all = (size_t)ranks, i = (size_t)owner;
    const size_t more = groups % all;
    const size_t first = groups / all * i + (i < more ? i : more);
    const size_t begin = first * GROUP;
    const size_t most = (groups / all + (i < more)) * GROUP;

    if (begin >= n)
        return (struct slice){n, 0};
    return (struct slice){begin, most < n - begin ? most : n - begin};
}

/* Bytes of an owner's digits, or of its sums, of all layers. */
static size_t ternary_digits(const struct run *run, int owner)
{
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_bytes(
            ternary_slice(run->layers[i].layer->matrix.count, run->ranks, owner)
                .n);
    return bytes;
}

static size_t ternary_sums(const struct run *run, int owner)
{
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_sum_bytes(
            run->ranks,
            ternary_slice(run->layers[i].layer->matrix.count, run->ranks, owner)
                .n);
    return bytes;
}

/* --- sizes ---------------------------------------------------------------- */

static size_t ternary_scratch(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    (void)plan;
    (void)matrix;
    (void)ranks;
    return 0;
}

/* By gather the digits of a layer. By direct, digits for and from a rank, and its
 * sums: rank 0 owns the most. */
static size_t ternary_message(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    const size_t most = ternary_slice(matrix->count, ranks->all, 0).n;

    return plan->reduce == APS_REDUCE_GATHER
               ? aps_ternary_bytes(matrix->count)
               : 2 * aps_ternary_bytes(most) +
                     aps_ternary_sum_bytes(ranks->all, most);
}

/* --- scalers -------------------------------------------------------------- */

static void ternary_measure(const struct run *run, struct ternary *of,
                            struct aps_compressed *layer)
{
    const float clip =
        (float)run->site->plan->compressor.parameters[APS_TERNARY_CLIP];
    const size_t n = layer->matrix.count;
    enum aps_ternary_kind kind;

    *of = (struct ternary){.layer = layer};
    kind = layer->error
               ? aps_ternary_measure_sum(layer->in, layer->error, n, clip,
                                         run->cpu, layer->delta, &of->scale)
               : aps_ternary_measure(layer->in, n, clip, run->cpu, &of->scale);
    if (kind == APS_TERNARY_NONFINITE)
        of->scale.scaler = aps_float_from_bits(APS_FLOAT_INF);
}

/*
 * COLLECTIVE over the site's communicator. The greatest scaler of all ranks:
 * magnitudes are in the order of their bits, and INF is above all others. A layer
 * is whole where sums of the ranks' digits might overflow, too.
 */
static int ternary_agree(struct run *run)
{
    int bits[APS_VECTORS_MOST];
    int rc;

    for (int i = 0; i < run->count; i++)
        bits[i] = (int)aps_float_bits(run->layers[i].scale.scaler);
    rc = aps_agree_max(run->site->vcomm, run->count, bits);
    /* A rank that does not know the scaler sends empty messages, which tell the
     * others. */
    if (rc != MPI_SUCCESS)
        *run->site->exchange->messages.outcome = rc;
    for (int i = 0; i < run->count; i++) {
        struct ternary *of = &run->layers[i];
        const float scaler = aps_float_from_bits((uint32_t)bits[i]);
        const float greatest = scaler * (float)run->ranks;

        of->layer->whole = run->ranks > APS_TERNARY_RANKS ||
                           aps_float_bits(greatest) >= APS_FLOAT_INF;
        of->scaler = of->layer->whole ? 0 : scaler;
    }
    return rc;
}

/* --- digits and sums ------------------------------------------------------ */

/* The digits of a slice, once; with feedback, `delta` becomes what they leave out.
 * Random bits of its elements are drawn by their numbers in the layer, so that they
 * do not depend on the slices. */
static void ternary_encode(const struct run *run, const struct ternary *of,
                           const struct slice *slice, uint8_t *digits)
{
    const struct aps_compressor *compressor = &run->site->plan->compressor;
    const uint64_t number = of->layer->number;
    struct aps_cast_options draw = APS_CAST_OPTIONS_INIT;

    if (of->scaler == 0) {
        memset(digits, NOTHING, aps_ternary_bytes(slice->n));
        return;
    }
    draw.seed = aps_stream_mix(run->site->vcomm->number) ^
                aps_compressor_ops_of(compressor)->seed(compressor);
    draw.layer = (uint32_t)(number >> 32);
    draw.step = (uint32_t)number;
    draw.rank = (uint32_t)run->rank;
    draw.offset = slice->begin;
    if (of->layer->error)
        aps_ternary_take(of->layer->delta + slice->begin, slice->n,
                         of->scale.limit, of->scaler, &draw, run->cpu, digits);
    else
        aps_ternary_encode(of->layer->in + slice->begin, slice->n,
                           of->scale.limit, of->scaler, &draw, run->cpu,
                           digits);
}

/* The sums of n elements, at most BLOCK, from element `at` of a slice on, of which
 * rank i has sent from[i * stride ...]. */
static void ternary_add(const struct run *run, const uint8_t *from,
                        size_t stride, size_t at, size_t n, int16_t *sum)
{
    memset(sum, 0, n * sizeof *sum);
    for (int i = 0; i < run->ranks; i++)
        aps_ternary_add(from + (size_t)i * stride + aps_ternary_bytes(at), n,
                        run->cpu, sum);
}

/* --- to all ranks --------------------------------------------------------- */

static void ternary_sum_all(const struct run *run, const struct ternary *of,
                            const uint8_t *from, size_t stride)
{
    const size_t n = of->layer->matrix.count;
    int16_t sum[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;

        ternary_add(run, from, stride, at, count, sum);
        aps_ternary_sum_scale(sum, count, of->scaler, of->layer->out + at);
    }
}

static size_t ternary_alike(const void *state, int rank)
{
    (void)rank;
    return *(const size_t *)state;
}

/* COLLECTIVE over the site's communicator. */
static int ternary_gather(struct run *run)
{
    unsigned char *messages = run->site->messages;
    unsigned char *own;
    size_t bytes = 0, at = 0;
    int rc;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_bytes(run->layers[i].layer->matrix.count);
    own = messages + (size_t)run->rank * bytes;
    for (int i = 0; i < run->count; i++) {
        const struct slice all = {0, run->layers[i].layer->matrix.count};

        ternary_encode(run, &run->layers[i], &all, own + at);
        at += aps_ternary_bytes(all.n);
    }
    run->cost->wire_bytes += (unsigned long long)(run->ranks - 1) * bytes;
    rc = aps_exchange_run(run->site->exchange, &(struct aps_exchanged){
                                                   .outgoing = own,
                                                   .incoming = messages,
                                                   .incoming_stride = bytes,
                                                   .sent = ternary_alike,
                                                   .received = ternary_alike,
                                                   .state = &bytes,
                                                   .longest = bytes,
                                               });
    at = 0;
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        const struct ternary *of = &run->layers[i];
        const struct slice all = {0, of->layer->matrix.count};

        if (!of->layer->whole)
            ternary_sum_all(run, of, messages + at, bytes);
        at += aps_ternary_bytes(all.n);
    }
    return rc;
}

/* --- by the owners -------------------------------------------------------- */

/* The digits for an owner. */
static void ternary_encode_for(const struct run *run, int owner,
                               unsigned char *digits)
{
    for (int i = 0; i < run->count; i++) {
        const struct ternary *of = &run->layers[i];
        const struct slice slice =
            ternary_slice(of->layer->matrix.count, run->ranks, owner);

        ternary_encode(run, of, &slice, digits);
        digits += aps_ternary_bytes(slice.n);
    }
}

/* The sums of what rank i has sent, from[i * stride ...]. */
static void ternary_sum_own(const struct run *run, const unsigned char *from,
                            size_t stride, unsigned char *sums)
{
    for (int i = 0; i < run->count; i++) {
        const struct slice slice = ternary_slice(
            run->layers[i].layer->matrix.count, run->ranks, run->rank);
        int16_t sum[BLOCK];

        for (size_t at = 0; at < slice.n; at += BLOCK) {
            const size_t n = slice.n - at < BLOCK ? slice.n - at : BLOCK;

            ternary_add(run, from, stride, at, n, sum);
            aps_ternary_sum_pack(sum, n, run->ranks,
                                 sums + aps_ternary_sum_bytes(run->ranks, at));
        }
        from += aps_ternary_bytes(slice.n);
        sums += aps_ternary_sum_bytes(run->ranks, slice.n);
    }
}

/* An owner's sums become results. */
static void ternary_settle(const struct run *run, int owner,
                           const unsigned char *sums)
{
    for (int i = 0; i < run->count; i++) {
        const struct ternary *of = &run->layers[i];
        const struct slice slice =
            ternary_slice(of->layer->matrix.count, run->ranks, owner);

        if (!of->layer->whole)
            aps_ternary_sum_decode(sums, slice.n, run->ranks, of->scaler,
                                   run->cpu, of->layer->out + slice.begin);
        sums += aps_ternary_sum_bytes(run->ranks, slice.n);
    }
}

static size_t ternary_sums_of(const void *state, int rank)
{
    return ternary_sums(state, rank);
}

static size_t ternary_own_sums(const void *state, int rank)
{
    const struct run *run = state;

    (void)rank;
    return ternary_sums(run, run->rank);
}

static size_t ternary_digits_for(const void *state, int rank)
{
    return ternary_digits(state, rank);
}

static size_t ternary_own_digits(const void *state, int rank)
{
    const struct run *run = state;

    (void)rank;
    return ternary_digits(run, run->rank);
}

/* The digits for an owner, in the messages: rooms for those from all ranks, for
 * those to all ranks, and for all sums. */
static void ternary_make(const void *state, int owner)
{
    const struct run *run = state;
    const size_t digits = ternary_digits(run, 0);

    ternary_encode_for(run, owner,
                       run->site->messages +
                           (size_t)(run->ranks + owner) * digits);
}

/* COLLECTIVE over the site's communicator. Digits come from all ranks, go to all
 * owners, and sums come from them: rooms of that many bytes, one after the other,
 * each with a stride of what belongs to rank 0, which owns the most. */
static int ternary_direct(struct run *run)
{
    struct aps_exchange *exchange = run->site->exchange;
    const size_t ranks = (size_t)run->ranks, rank = (size_t)run->rank;
    const size_t digits = ternary_digits(run, 0), sums = ternary_sums(run, 0);
    unsigned char *from = run->site->messages;
    unsigned char *to = from + ranks * digits, *result = to + ranks * digits;
    int rc;

    ternary_make(run, run->rank);
    memcpy(from + rank * digits, to + rank * digits,
           ternary_digits(run, run->rank));
    (void)aps_exchange_run(exchange, &(struct aps_exchanged){
                                         .outgoing = to,
                                         .outgoing_stride = digits,
                                         .incoming = from,
                                         .incoming_stride = digits,
                                         .sent = ternary_digits_for,
                                         .received = ternary_own_digits,
                                         .make = ternary_make,
                                         .state = run,
                                         .longest = digits,
                                     });
    ternary_sum_own(run, from, digits, result + rank * sums);
    /* Also after an error, of which other ranks may know nothing. */
    rc = aps_exchange_run(exchange, &(struct aps_exchanged){
                                        .outgoing = result + rank * sums,
                                        .incoming = result,
                                        .incoming_stride = sums,
                                        .sent = ternary_own_sums,
                                        .received = ternary_sums_of,
                                        .state = run,
                                        .longest = sums,
                                    });
    for (int i = 0; i < run->ranks; i++)
        run->cost->wire_bytes +=
            i == run->rank ? (ranks - 1) * ternary_sums(run, run->rank)
                           : ternary_digits(run, i);
    for (int i = 0; i < run->ranks && rc == MPI_SUCCESS; i++)
        ternary_settle(run, i, result + (size_t)i * sums);
    return rc;
}

static int ternary_run(const struct aps_compressed_site *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .ranks = site->vcomm->size,
        .rank = site->vcomm->rank,
        .cpu = aps_cpu_chosen(),
        .count = count,
        .cost = cost,
    };
    int rc, now;

    for (int i = 0; i < count; i++)
        ternary_measure(&run, &run.layers[i], &layers[i]);
    rc = ternary_agree(&run);
    /* Also after an error, of which other ranks may know nothing. */
    now = site->plan->reduce == APS_REDUCE_GATHER ? ternary_gather(&run)
                                                  : ternary_direct(&run);
    rc = rc == MPI_SUCCESS ? now : rc;
    return aps_compressed_reduce_whole(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_ternary = {
    .scratch = ternary_scratch,
    .message = ternary_message,
    .run = ternary_run,
};
