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

/* --- sizes ---------------------------------------------------------------- */

/* Returns the bytes of an owner's sums, of all layers. */
static size_t ternary_sums(const void *state, int owner)
{
    const struct aps_digits_run *run = state;
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_sum_bytes(
            run->ranks, aps_digits_slice_of(run, i, owner).length);
    return bytes;
}

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

/* COLLECTIVE over the site's communicator. Returns an MPI error code. */
static int ternary_gather(struct aps_digits_run *run)
{
    const unsigned char *from = run->site->messages;
    const size_t bytes = aps_digits_bytes(run, run->rank);
    const int rc = aps_exchange_run(run->site->exchange,
                                    &(struct aps_exchanged){
                                        .incoming = run->site->messages,
                                        .stride = bytes,
                                        .bytes = aps_digits_bytes,
                                        .make = aps_digits_encode,
                                        .state = run,
                                    },
                                    run->cost);

    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        const struct aps_digits *of = &run->layers[i];

        if (!of->layer->fp32_fallback)
            ternary_sum_all(run, of, from, bytes);
        from += aps_ternary_bytes(of->layer->matrix.count);
    }
    return rc;
}

/* --- by the owners -------------------------------------------------------- */

/* Sums the digits of rank i at from[i * stride ...], for all ranks. The sums of
 * a layer that falls back to FP32 are zeros, because they are not used and
 * there may be too many ranks for them. */
static void ternary_sum_own(const struct aps_digits_run *run,
                            const unsigned char *from, size_t stride,
                            unsigned char *sums)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = aps_digits_slice_of(run, i, run->rank);

        if (run->layers[i].layer->fp32_fallback)
            memset(sums, 0, aps_ternary_sum_bytes(run->ranks, slice.length));
        else
            aps_digits_pack_sums(run, run->ranks, from, stride,
                                 &(struct aps_slice){0, slice.length},
                                 run->ranks, sums);
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
        const struct aps_slice slice = aps_digits_slice_of(run, i, owner);

        if (!of->layer->fp32_fallback)
            aps_ternary_sum_decode(sums, slice.length, run->ranks, of->scaler,
                                   run->cpu, of->layer->out + slice.begin);
        sums += aps_ternary_sum_bytes(run->ranks, slice.length);
    }
}

/* COLLECTIVE over the site's communicator. Digits go to all owners and come
 * from all ranks; then sums come from the owners. The three areas follow one
 * another, each with the stride of rank 0, which owns the most. Returns an MPI
 * error code. */
static int ternary_direct(struct aps_digits_run *run)
{
    const size_t ranks = (size_t)run->ranks, rank = (size_t)run->rank;
    const size_t digits = aps_digits_bytes(run, 0), sums = ternary_sums(run, 0);
    unsigned char *from = run->site->messages;
    unsigned char *to = from + ranks * digits, *result = to + ranks * digits;
    int rc = aps_exchange_run(run->site->exchange,
                              &(struct aps_exchanged){
                                  .outgoing = to,
                                  .incoming = from,
                                  .stride = digits,
                                  .bytes = aps_digits_bytes,
                                  .make = aps_digits_encode,
                                  .state = run,
                              },
                              run->cost);

    if (rc == MPI_SUCCESS)
        ternary_sum_own(run, from, digits, result + rank * sums);
    /* Run this exchange after an error, too: other ranks may not know of it. */
    rc = aps_exchange_run(run->site->exchange,
                          &(struct aps_exchanged){
                              .incoming = result,
                              .stride = sums,
                              .bytes = ternary_sums,
                              .state = run,
                          },
                          run->cost);
    for (int i = 0; i < run->ranks && rc == MPI_SUCCESS; i++)
        ternary_settle(run, i, result + (size_t)i * sums);
    return rc;
}

static int ternary_run(const struct aps_compressed_env *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    const bool gathers = site->plan->reduce == APS_REDUCE_GATHER;
    struct aps_digits_run run;
    int rc;

    aps_digits_begin(&run, site, gathers ? 0 : site->vcomm->size, count, layers,
                     cost);
    aps_digits_agree(&run);
    rc = gathers ? ternary_gather(&run) : ternary_direct(&run);
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_ternary = {
    .message = ternary_message,
    .run = ternary_run,
};
