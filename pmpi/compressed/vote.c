/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signSGD with majority vote (compress/vote.h). Each rank sends the signs of
 * its layers
 *
 *     reduce: direct    to the owners of the slices, which count them and send the
 *                       outcomes to all ranks
 *     reduce: gather    to all ranks, each of which counts them
 *
 * and a result is an outcome times a magnitude: the sum over the ranks of the
 * mean magnitudes of their layers, in the order of the ranks in FP64, or N
 * times the policy's value. Counts are exact, so both give the same bits.
 *
 * A message has a section for each layer: a float, which is the mean of the
 * rank's layer or the sum of the means, and signs or outcomes. Its length
 * follows from the layers' lengths and the number of ranks alone. A rank with
 * an INF or a NaN sends NaN as its mean. The sum then is NaN, and the layer
 * falls back to FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <math.h>
#include <string.h>

#include "compress/magnitudes.h"
#include "compress/vote.h"
#include "compressed/fp32_fallback.h"

struct run {
    const struct aps_compressed_env *site;
    int ranks, rank;
    int count;
    struct aps_compressed *layers;
    float means[APS_VECTORS_MAX]; /* means of this rank's layers */
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

/* Returns the elements that a rank counts: all with gather. Signs of slices begin
 * at a byte. */
static struct aps_slice vote_slice(const struct aps_plan *plan, size_t n,
                                   int ranks, int owner)
{
    return plan->reduce == APS_REDUCE_GATHER ? (struct aps_slice){0, n}
                                             : aps_slice_of(n, 8, ranks, owner);
}

static struct aps_slice vote_slice_of(const struct run *run, int i, int owner)
{
    return vote_slice(run->site->plan, run->layers[i].matrix.count, run->ranks,
                      owner);
}

static size_t vote_ballot(size_t n)
{
    return sizeof(float) + aps_vote_bytes(n);
}

static size_t vote_outcome(int ranks, size_t n)
{
    return sizeof(float) + aps_vote_outcome_bytes(ranks, n);
}

/* Return the bytes of all layers: received by an owner from a rank, and sent by
 * the owner. */
static size_t vote_ballots(const void *state, int owner)
{
    const struct run *run = state;
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += vote_ballot(vote_slice_of(run, i, owner).length);
    return bytes;
}

static size_t vote_outcomes(const void *state, int owner)
{
    const struct run *run = state;
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += vote_outcome(run->ranks, vote_slice_of(run, i, owner).length);
    return bytes;
}

/* Returns the scratch that a count needs in addition to messages. */
static size_t vote_scratch(const struct aps_plan *plan,
                           const struct aps_matrix *matrix,
                           const struct aps_compressed_ranks *ranks)
{
    const size_t longest =
        vote_slice(plan, matrix->count, ranks->all, 0).length;

    return aps_vote_outcome_bytes(ranks->all, longest) / sizeof(float) + 1;
}

/* Returns the most bytes of a message. With gather: the signs of a layer. With
 * direct: signs for and from a rank, and its outcomes; rank 0 owns the most. */
static size_t vote_message(const struct aps_plan *plan,
                           const struct aps_matrix *matrix,
                           const struct aps_compressed_ranks *ranks)
{
    const size_t most = vote_slice(plan, matrix->count, ranks->all, 0).length;

    return plan->reduce == APS_REDUCE_GATHER
               ? vote_ballot(most)
               : 2 * vote_ballot(most) + vote_outcome(ranks->all, most);
}

/* --- signs and outcomes --------------------------------------------------- */

static void vote_measure(struct run *run)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_compressed *layer = &run->layers[i];
        const struct aps_magnitudes of =
            aps_magnitudes_of(layer->in, layer->matrix.count);

        run->means[i] =
            of.finite ? (float)(of.sum / (double)layer->matrix.count) : NAN;
    }
}

/* Counts the outcomes of a slice from the signs of rank i at from[i * stride
 * ...]. Returns the magnitude of the slice. */
static float vote_count(const struct run *run, const unsigned char *from,
                        size_t stride, size_t n, unsigned char *outcome)
{
    const double value = run->site->plan->compressor.parameters[APS_VOTE_VALUE];
    double sum = 0;

    for (int i = 0; i < run->ranks; i++) {
        float mean;

        memcpy(&mean, from + (size_t)i * stride, sizeof mean);
        sum += value > 0 && isfinite(mean) ? value : (double)mean;
    }
    aps_vote_count(from + sizeof(float), stride, run->ranks, n, outcome);
    return (float)sum;
}

static void vote_restore(const struct run *run, int i,
                         const struct aps_slice *slice, float magnitude,
                         const unsigned char *outcome)
{
    if (!run->layers[i].fp32_fallback)
        aps_vote_decode(outcome, run->ranks, slice->length, magnitude,
                        run->layers[i].out + slice->begin);
}

/* Encodes the signs for an owner. */
static void vote_make(const void *state, int owner, unsigned char *ballots)
{
    const struct run *run = state;

    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = vote_slice_of(run, i, owner);

        memcpy(ballots, &run->means[i], sizeof(float));
        aps_vote_cast(run->layers[i].in + slice.begin, slice.length,
                      ballots + sizeof(float));
        ballots += vote_ballot(slice.length);
    }
}

/* --- to all ranks --------------------------------------------------------- */

/* COLLECTIVE over the site's communicator. Returns an MPI error code. */
static int vote_gather(struct run *run)
{
    const unsigned char *from = run->site->messages;
    const size_t bytes = vote_ballots(run, run->rank);
    const int rc = aps_exchange_run(run->site->exchange,
                                    &(struct aps_exchanged){
                                        .incoming = run->site->messages,
                                        .stride = bytes,
                                        .bytes = vote_ballots,
                                        .make = vote_make,
                                        .state = run,
                                    },
                                    run->cost);

    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++) {
        const struct aps_slice all = vote_slice_of(run, i, run->rank);
        unsigned char *outcome = (unsigned char *)run->layers[i].scratch;
        const float magnitude =
            vote_count(run, from, bytes, all.length, outcome);

        run->layers[i].fp32_fallback = !isfinite(magnitude);
        vote_restore(run, i, &all, magnitude, outcome);
        from += vote_ballot(all.length);
    }
    return rc;
}

/* --- by the owners -------------------------------------------------------- */

static void vote_count_own(const struct run *run, const unsigned char *from,
                           size_t stride, unsigned char *outcomes)
{
    for (int i = 0; i < run->count; i++) {
        const size_t n = vote_slice_of(run, i, run->rank).length;
        const float magnitude =
            vote_count(run, from, stride, n, outcomes + sizeof magnitude);

        memcpy(outcomes, &magnitude, sizeof magnitude);
        from += vote_ballot(n);
        outcomes += vote_outcome(run->ranks, n);
    }
}

/* Writes an owner's outcomes to the results. All owners compute their
 * magnitudes from the same means. */
static void vote_settle(const struct run *run, int owner,
                        const unsigned char *outcomes)
{
    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = vote_slice_of(run, i, owner);
        float magnitude;

        memcpy(&magnitude, outcomes, sizeof magnitude);
        run->layers[i].fp32_fallback |= !isfinite(magnitude);
        vote_restore(run, i, &slice, magnitude, outcomes + sizeof magnitude);
        outcomes += vote_outcome(run->ranks, slice.length);
    }
}

/* COLLECTIVE over the site's communicator. Signs go to all owners and come from
 * all ranks; then outcomes come from the owners. The three areas follow one
 * another, each with the stride of rank 0, which owns the most. Returns an MPI
 * error code. */
static int vote_direct(struct run *run)
{
    const size_t ranks = (size_t)run->ranks, rank = (size_t)run->rank;
    const size_t ballots = vote_ballots(run, 0);
    const size_t outcomes = vote_outcomes(run, 0);
    unsigned char *from = run->site->messages;
    unsigned char *to = from + ranks * ballots;
    unsigned char *result = to + ranks * ballots;
    int rc = aps_exchange_run(run->site->exchange,
                              &(struct aps_exchanged){
                                  .outgoing = to,
                                  .incoming = from,
                                  .stride = ballots,
                                  .bytes = vote_ballots,
                                  .make = vote_make,
                                  .state = run,
                              },
                              run->cost);

    if (rc == MPI_SUCCESS)
        vote_count_own(run, from, ballots, result + rank * outcomes);
    /* Run this exchange after an error, too: other ranks may not know of it. */
    rc = aps_exchange_run(run->site->exchange,
                          &(struct aps_exchanged){
                              .incoming = result,
                              .stride = outcomes,
                              .bytes = vote_outcomes,
                              .state = run,
                          },
                          run->cost);
    for (int i = 0; i < run->ranks && rc == MPI_SUCCESS; i++)
        vote_settle(run, i, result + (size_t)i * outcomes);
    return rc;
}

static int vote_run(const struct aps_compressed_env *site, int count,
                    struct aps_compressed layers[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .ranks = site->vcomm->size,
        .rank = site->vcomm->rank,
        .count = count,
        .layers = layers,
        .cost = cost,
    };
    int rc;

    vote_measure(&run);
    rc = site->plan->reduce == APS_REDUCE_GATHER ? vote_gather(&run)
                                                 : vote_direct(&run);
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_vote = {
    .scratch = vote_scratch,
    .message = vote_message,
    .run = vote_run,
};
