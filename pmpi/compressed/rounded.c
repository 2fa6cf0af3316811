/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error feedback of a plain format (Seide et al., 1-bit SGD, Interspeech 2014; Tang
 * et al., DoubleSqueeze, ICML 2019). A layer has two roundings, and each is
 * remembered where it is done:
 *
 *     delta = g + e;  every rank sends Q(delta), slice by slice, to the slices'
 *     owners;  e = delta - Q(delta)
 *     an owner adds up what has come in the order of the ranks, and what it
 *     remembers of its slice, s = sum + f;  it sends Q(s) to all;  f = s - Q(s)
 *
 * So the sum over calls of what is handed out is that of all gradients, but for
 * what is remembered. A message to a rank has a section a layer: a header and the
 * block of that rank's slice.
 */
#include "config.h"

#include "compressed/rounded.h"

#include <math.h>
#include <string.h>

#include "compress/magnitudes.h"
#include "compressed/whole.h"
#include "reduce/block.h"
#include "reduce/exponent.h"
#include "reduce/origin.h"

/* Before the block of a section; the block begins at a multiple of 16. */
struct header {
    uint32_t flags;
    uint32_t unused[3];
};
#define FLAG_NOT_FINITE 1u

struct rounded {
    struct aps_compressed *layer;
    size_t begin;    /* of its sections in messages, in bytes */
    size_t longest;  /* slice */
    float *sum;      /* [longest] */
    float *decoded;  /* [longest] */
    float magnitude; /* the greatest */
    bool finite;     /* on this rank */
    int exponent;    /* of the stage */
};

struct run {
    const struct aps_compressed_site *site;
    struct aps_wire wire;
    int count;
    struct rounded layers[APS_VECTORS_MOST];
    size_t bytes; /* of a message */
    /* [ranks * bytes] each: to every rank, from every rank, and of every slice's
     * sums. */
    unsigned char *outgoing, *incoming, *results;
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static void rounded_wire(const struct aps_plan *plan, struct aps_wire *wire)
{
    *wire = (struct aps_wire){
        .memory = &aps_memory_host,
        .scale = plan->scale,
        .accumulate = APS_ACCUMULATE_FP32,
    };
    aps_codec_init(&plan->format, &wire->codec);
}

static struct aps_slice rounded_slice(const struct run *run,
                                      const struct rounded *of, int rank)
{
    return aps_slice_of(of->layer->matrix.count,
                        aps_codec_granule(&run->wire.codec),
                        run->site->vcomm->size, rank);
}

static size_t rounded_longest(const struct aps_plan *plan, size_t count,
                              int ranks)
{
    struct aps_wire wire;

    rounded_wire(plan, &wire);
    return aps_slice_longest(count, aps_codec_granule(&wire.codec), ranks);
}

static size_t rounded_section(const struct aps_wire *wire, size_t longest)
{
    return sizeof(struct header) +
           (aps_block_bytes(wire, longest) + 15) / 16 * 16;
}

/* What the slice's owner remembers. */
static size_t rounded_kept(const struct aps_plan *plan,
                           const struct aps_matrix *matrix, int ranks)
{
    return rounded_longest(plan, matrix->count, ranks);
}

/* Other plans have other slices, or none: from now on it is the owner's own, and
 * comes with its values. */
static void rounded_give_back(const struct aps_plan *before,
                              const struct aps_matrix *matrix, int ranks,
                              int rank, const float *kept, float *error)
{
    struct aps_wire wire;
    struct aps_slice slice;

    rounded_wire(before, &wire);
    slice = aps_slice_of(matrix->count, aps_codec_granule(&wire.codec), ranks,
                         rank);
    for (size_t i = 0; i < slice.length; i++)
        error[slice.begin + i] += kept[i];
}

static size_t rounded_scratch(const struct aps_plan *plan,
                              const struct aps_matrix *matrix, int ranks)
{
    return 2 * rounded_longest(plan, matrix->count, ranks);
}

static size_t rounded_message(const struct aps_plan *plan,
                              const struct aps_matrix *matrix, int ranks)
{
    struct aps_wire wire;

    rounded_wire(plan, &wire);
    return 3 *
           rounded_section(&wire, rounded_longest(plan, matrix->count, ranks));
}

static void rounded_present(struct run *run, int i,
                            struct aps_compressed *layer)
{
    const int ranks = run->site->vcomm->size;
    struct rounded *of = &run->layers[i];

    *of = (struct rounded){.layer = layer, .begin = run->bytes};
    of->longest = rounded_longest(run->site->plan, layer->matrix.count, ranks);
    of->sum = layer->scratch;
    of->decoded = of->sum + of->longest;
    run->bytes += rounded_section(&run->wire, of->longest);
}

/* --- contributions -------------------------------------------------------- */

static void rounded_measure(struct rounded *of)
{
    const struct aps_compressed *layer = of->layer;
    const struct aps_magnitudes magnitudes = aps_magnitudes_add(
        layer->in, layer->error, layer->matrix.count, layer->delta);

    of->finite = magnitudes.finite;
    of->magnitude = magnitudes.finite ? magnitudes.max : 0;
}

/* COLLECTIVE over the site's communicator where the scale is agreed. */
static int rounded_agree(struct run *run)
{
    float greatest[APS_VECTORS_MOST];
    int exponents[APS_VECTORS_MOST] = {0};
    int rc;

    for (int i = 0; i < run->count; i++)
        greatest[i] = run->layers[i].magnitude;
    rc = aps_exponent_agree_all(run->site->vcomm, &run->wire, run->count,
                                greatest, exponents);
    for (int i = 0; i < run->count; i++)
        run->layers[i].exponent = exponents[i];
    return rc;
}

static void rounded_encode(struct run *run, const struct rounded *of, int to)
{
    const int rank = run->site->vcomm->rank;
    const struct aps_slice slice = rounded_slice(run, of, to);
    const struct header header = {.flags = of->finite ? 0 : FLAG_NOT_FINITE};
    const struct aps_origin origin = {.number = of->layer->number,
                                      .first = slice.begin,
                                      .stage = run->wire.stage,
                                      .rank = rank,
                                      .ranks = run->site->vcomm->size};
    unsigned char *section =
        run->outgoing + (size_t)to * run->bytes + of->begin;

    memset(section, 0, rounded_section(&run->wire, of->longest));
    memcpy(section, &header, sizeof header);
    if (slice.length == 0 || !of->finite)
        return;
    aps_cost_note(run->cost,
                  aps_block_encode(&run->wire, &origin, &aps_memory_host,
                                   of->layer->delta + slice.begin, slice.length,
                                   of->exponent, section + sizeof header));
}

/* Has a rank said that its values are not finite? All hear it of all. */
static bool rounded_is_whole(const struct run *run, const struct rounded *of)
{
    for (int rank = 0; rank < run->site->vcomm->size; rank++) {
        struct header header;

        memcpy(&header, run->incoming + (size_t)rank * run->bytes + of->begin,
               sizeof header);
        if (header.flags != 0)
            return true;
    }
    return false;
}

/* left[n] = x[n] - sent[n]; nothing of a value that was rounded to INF. */
static void rounded_remember(const float *x, const float *sent, size_t n,
                             float *left)
{
    for (size_t i = 0; i < n; i++)
        left[i] = isfinite(sent[i]) ? x[i] - sent[i] : 0;
}

static void rounded_remember_contributions(const struct run *run,
                                           const struct rounded *of)
{
    float *delta = of->layer->delta;

    for (int rank = 0; rank < run->site->vcomm->size; rank++) {
        const struct aps_slice slice = rounded_slice(run, of, rank);

        if (slice.length == 0)
            continue;
        aps_block_decode(&run->wire, &aps_memory_host,
                         run->outgoing + (size_t)rank * run->bytes + of->begin +
                             sizeof(struct header),
                         slice.length, of->decoded);
        rounded_remember(delta + slice.begin, of->decoded, slice.length,
                         delta + slice.begin);
    }
}

/* --- sums ----------------------------------------------------------------- */

static void rounded_sum(struct run *run, struct rounded *of)
{
    const int own = run->site->vcomm->rank;
    const struct aps_slice slice = rounded_slice(run, of, own);
    const struct aps_origin origin = {.number = of->layer->number,
                                      .first = slice.begin,
                                      .stage = run->wire.stage + 1,
                                      .rank = own,
                                      .ranks = 1};
    unsigned char *block = run->results + (size_t)own * run->bytes + of->begin +
                           sizeof(struct header);
    float *memory = of->layer->kept;

    memset(run->results + (size_t)own * run->bytes + of->begin, 0,
           rounded_section(&run->wire, of->longest));
    if (slice.length == 0)
        return;
    memset(of->sum, 0, slice.length * sizeof *of->sum);
    for (int rank = 0; rank < run->site->vcomm->size; rank++) {
        aps_block_decode(&run->wire, &aps_memory_host,
                         run->incoming + (size_t)rank * run->bytes + of->begin +
                             sizeof(struct header),
                         slice.length, of->decoded);
        for (size_t i = 0; i < slice.length; i++)
            of->sum[i] += of->decoded[i];
    }
    for (size_t i = 0; i < slice.length; i++)
        of->sum[i] += memory[i];
    (void)aps_block_encode(&run->wire, &origin, &aps_memory_host, of->sum,
                           slice.length, of->exponent, block);
    aps_block_decode(&run->wire, &aps_memory_host, block, slice.length,
                     of->decoded);
    rounded_remember(of->sum, of->decoded, slice.length, memory);
}

static void rounded_restore(const struct run *run, const struct rounded *of)
{
    for (int rank = 0; rank < run->site->vcomm->size; rank++) {
        const struct aps_slice slice = rounded_slice(run, of, rank);

        if (slice.length > 0)
            aps_block_decode(&run->wire, &aps_memory_host,
                             run->results + (size_t)rank * run->bytes +
                                 of->begin + sizeof(struct header),
                             slice.length, of->layer->out + slice.begin);
    }
}

/* --- a call --------------------------------------------------------------- */

/* COLLECTIVE over the site's communicator. */
static int rounded_exchange_contributions(struct run *run)
{
    struct aps_exchange *exchange = run->site->exchange;
    const struct aps_vcomm *vcomm = run->site->vcomm;

    aps_exchange_receive_alike(exchange, run->incoming, run->bytes, run->bytes);
    for (int i = 1; i <= vcomm->size; i++) {
        const int peer = aps_exchange_peer(exchange, i);
        unsigned char *message = run->outgoing + (size_t)peer * run->bytes;

        for (int j = 0; j < run->count; j++)
            rounded_encode(run, &run->layers[j], peer);
        if (peer == vcomm->rank)
            memcpy(run->incoming + (size_t)peer * run->bytes, message,
                   run->bytes);
        else
            aps_exchange_send(exchange, peer, message, run->bytes);
    }
    return aps_exchange_wait(exchange);
}

/* COLLECTIVE over the site's communicator. */
static int rounded_exchange_sums(struct run *run)
{
    struct aps_exchange *exchange = run->site->exchange;
    const size_t own = (size_t)run->site->vcomm->rank;

    aps_exchange_receive_alike(exchange, run->results, run->bytes, run->bytes);
    aps_exchange_send_all(exchange, run->results + own * run->bytes,
                          run->bytes);
    return aps_exchange_wait(exchange);
}

static int rounded_run(const struct aps_compressed_site *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    const size_t ranks = (size_t)site->vcomm->size;
    struct run run = {.site = site, .count = count, .cost = cost};
    int rc, now;

    rounded_wire(site->plan, &run.wire);
    aps_wire_draw(site->plan, site->vcomm, APS_CALL_ALLREDUCE, 0, &run.wire);
    for (int i = 0; i < count; i++) {
        rounded_present(&run, i, &layers[i]);
        rounded_measure(&run.layers[i]);
    }
    run.outgoing = site->messages;
    run.incoming = run.outgoing + ranks * run.bytes;
    run.results = run.incoming + ranks * run.bytes;
    rc = rounded_agree(&run);
    now = rounded_exchange_contributions(&run);
    rc = rc == MPI_SUCCESS ? now : rc;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        layers[i].whole = rounded_is_whole(&run, &run.layers[i]);
        if (!layers[i].whole) {
            rounded_remember_contributions(&run, &run.layers[i]);
            rounded_sum(&run, &run.layers[i]);
        }
    }
    /* Also after an error, of which other ranks may know nothing. */
    now = rounded_exchange_sums(&run);
    rc = rc == MPI_SUCCESS ? now : rc;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (!layers[i].whole)
            rounded_restore(&run, &run.layers[i]);
    cost->wire_bytes += 2 * (ranks - 1) * run.bytes;
    return aps_compressed_reduce_whole(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_rounded = {
    .kept = rounded_kept,
    .scratch = rounded_scratch,
    .message = rounded_message,
    .give_back = rounded_give_back,
    .run = rounded_run,
};
