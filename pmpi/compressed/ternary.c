/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad (Wen et al., NeurIPS 2017; compress/ternary.h). The ranks agree on
 * the scalers of all layers of a call in one message. Then each rank sends the
 * digits of its layers
 *
 *     reduce: direct    to the owners of the slices, which add them up, and send
 *                       the packed sums to all ranks
 *     reduce: gather    to all ranks, each of which adds them up
 *
 * and a result is a sum times the scaler. The sums are exact, so both give the
 * same bits. The error memory holds the difference of a rank's digits to its
 * layer.
 *
 * A message has a section for each layer, without headers: its length follows
 * only from the layers' lengths and the number of ranks. A rank that has an INF
 * or a NaN sends INF as its scaler, and the layer falls back to FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <string.h>

#include "compress/ternary_sums.h"
#include "compressed/digits.h"
#include "compressed/fp32_fallback.h"

/* Returns the bytes of an owner's digits, or of its sums, of all layers. */
static size_t ternary_digits(const struct aps_digits_run *run, int owner)
{
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_bytes(
            aps_digits_slice(run->layers[i].layer->matrix.count, run->ranks,
                             owner)
                .length);
    return bytes;
}

static size_t ternary_sums(const struct aps_digits_run *run, int owner)
{
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_sum_bytes(
            run->ranks, aps_digits_slice(run->layers[i].layer->matrix.count,
                                         run->ranks, owner)
                            .length);
    return bytes;
}

/* --- sizes ---------------------------------------------------------------- */

/* Returns the most bytes of a message. With gather: the digits of a layer. With
 * direct: digits for and from a rank, and its sums; rank 0 owns the most. */
static size_t ternary_message(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    const size_t most = aps_digits_slice(matrix->count, ranks->all, 0).length;

    return plan->reduce == APS_REDUCE_GATHER
               ? aps_ternary_bytes(matrix->count)
               : 2 * aps_ternary_bytes(most) +
                     aps_ternary_sum_bytes(ranks->all, most);
}

/* --- to all ranks --------------------------------------------------------- */

static void ternary_sum_all(const struct aps_digits_run *run,
                            const struct aps_digits *of, const uint8_t *from,
                            size_t stride)
{
    const size_t n = of->layer->matrix.count;
    int16_t sum[APS_DIGITS_BLOCK];

    for (size_t at = 0; at < n; at += APS_DIGITS_BLOCK) {
        const size_t count =
            n - at < APS_DIGITS_BLOCK ? n - at : APS_DIGITS_BLOCK;

        aps_digits_sum(run, run->ranks, from, stride, at, count, sum);
        aps_ternary_sum_scale(sum, count, of->scaler, of->layer->out + at);
    }
}

static size_t ternary_alike(const void *state, int rank)
{
    (void)rank;
    return *(const size_t *)state;
}

/* COLLECTIVE over the site's communicator. Returns an MPI error code. */
static int ternary_gather(struct aps_digits_run *run)
{
    unsigned char *messages = run->site->messages;
    unsigned char *own;
    size_t bytes = 0, at = 0;
    int rc;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_bytes(run->layers[i].layer->matrix.count);
    own = messages + (size_t)run->rank * bytes;
    for (int i = 0; i < run->count; i++) {
        const struct aps_slice all = {0, run->layers[i].layer->matrix.count};

        aps_digits_encode(run, &run->layers[i], &all, own + at);
        at += aps_ternary_bytes(all.length);
    }
    rc = aps_exchange_run(run->site->exchange,
                          &(struct aps_exchanged){
                              .outgoing = own,
                              .incoming = messages,
                              .incoming_stride = bytes,
                              .bytes = ternary_alike,
                              .state = &bytes,
                              .longest = bytes,
                          },
                          run->cost);
    at = 0;
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        const struct aps_digits *of = &run->layers[i];
        const struct aps_slice all = {0, of->layer->matrix.count};

        if (!of->layer->fp32_fallback)
            ternary_sum_all(run, of, messages + at, bytes);
        at += aps_ternary_bytes(all.length);
    }
    return rc;
}

/* --- by the owners -------------------------------------------------------- */

/* Encodes the digits for an owner. */
static void ternary_encode_for(const struct aps_digits_run *run, int owner,
                               unsigned char *digits)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_digits *of = &run->layers[i];
        const struct aps_slice slice =
            aps_digits_slice(of->layer->matrix.count, run->ranks, owner);

        aps_digits_encode(run, of, &slice, digits);
        digits += aps_ternary_bytes(slice.length);
    }
}

/* Sums the digits of rank i at from[i * stride ...], for all ranks. The sums of
 * a layer that falls back to FP32 are zeros, because they are not used and
 * there may be too many ranks for them. */
static void ternary_sum_own(const struct aps_digits_run *run,
                            const unsigned char *from, size_t stride,
                            unsigned char *sums)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = aps_digits_slice(
            run->layers[i].layer->matrix.count, run->ranks, run->rank);
        const bool whole = run->layers[i].layer->fp32_fallback;
        int16_t sum[APS_DIGITS_BLOCK];

        if (whole)
            memset(sums, 0, aps_ternary_sum_bytes(run->ranks, slice.length));
        for (size_t at = 0; at < slice.length && !whole;
             at += APS_DIGITS_BLOCK) {
            const size_t n = slice.length - at < APS_DIGITS_BLOCK
                                 ? slice.length - at
                                 : APS_DIGITS_BLOCK;

            aps_digits_sum(run, run->ranks, from, stride, at, n, sum);
            aps_ternary_sum_pack(sum, n, run->ranks,
                                 sums + aps_ternary_sum_bytes(run->ranks, at));
        }
        from += aps_ternary_bytes(slice.length);
        sums += aps_ternary_sum_bytes(run->ranks, slice.length);
    }
}

/* Writes an owner's sums to the results. */
static void ternary_settle(const struct aps_digits_run *run, int owner,
                           const unsigned char *sums)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_digits *of = &run->layers[i];
        const struct aps_slice slice =
            aps_digits_slice(of->layer->matrix.count, run->ranks, owner);

        if (!of->layer->fp32_fallback)
            aps_ternary_sum_decode(sums, slice.length, run->ranks, of->scaler,
                                   run->cpu, of->layer->out + slice.begin);
        sums += aps_ternary_sum_bytes(run->ranks, slice.length);
    }
}

static size_t ternary_sums_of(const void *state, int rank)
{
    return ternary_sums(state, rank);
}

static size_t ternary_digits_for(const void *state, int rank)
{
    return ternary_digits(state, rank);
}

/* Encodes the digits for an owner into the messages, which have space for
 * digits from all ranks, digits to all ranks, and all sums. */
static void ternary_make(const void *state, int owner)
{
    const struct aps_digits_run *run = state;
    const size_t digits = ternary_digits(run, 0);

    ternary_encode_for(run, owner,
                       run->site->messages +
                           (size_t)(run->ranks + owner) * digits);
}

/* COLLECTIVE over the site's communicator. Digits go to all owners and come
 * from all ranks; then sums come from the owners. The three areas follow one
 * another, each with the stride of rank 0, which owns the most. Returns an MPI
 * error code. */
static int ternary_direct(struct aps_digits_run *run)
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
    (void)aps_exchange_run(exchange,
                           &(struct aps_exchanged){
                               .outgoing = to,
                               .outgoing_stride = digits,
                               .incoming = from,
                               .incoming_stride = digits,
                               .scatters = true,
                               .bytes = ternary_digits_for,
                               .make = ternary_make,
                               .state = run,
                               .longest = digits,
                           },
                           run->cost);
    ternary_sum_own(run, from, digits, result + rank * sums);
    /* Run this exchange after an error, too: other ranks may not know of it. */
    rc = aps_exchange_run(exchange,
                          &(struct aps_exchanged){
                              .outgoing = result + rank * sums,
                              .incoming = result,
                              .incoming_stride = sums,
                              .bytes = ternary_sums_of,
                              .state = run,
                              .longest = sums,
                          },
                          run->cost);
    for (int i = 0; i < run->ranks && rc == MPI_SUCCESS; i++)
        ternary_settle(run, i, result + (size_t)i * sums);
    return rc;
}

static int ternary_run(const struct aps_compressed_env *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    struct aps_digits_run run;
    int rc;

    aps_digits_begin(&run, site, count, layers, cost);
    aps_digits_agree(&run);
    rc = site->plan->reduce == APS_REDUCE_GATHER ? ternary_gather(&run)
                                                 : ternary_direct(&run);
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_ternary = {
    .message = ternary_message,
    .run = ternary_run,
};
