/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressors whose messages are bytes: selected elements, values in blocks,
 * digits and signs. */
#include "config.h"

#include "offline/layer_compressor.h"

#include <math.h>
#include <string.h>

#include "compress/bracket.h"
#include "compress/feedback.h"
#include "codec/codec.h"
#include "compress/magnitudes.h"
#include "compress/sparse.h"
#include "compress/ternary_sums.h"
#include "compress/vote.h"
#include "compressed/elements.h"
#include "number/bits.h"
#include "number/philox.h"

/* Returns the block of values that this rank rounds. */
static struct aps_block own_block(const struct aps_layer_compressor *of)
{
    return (struct aps_block){
        .memory = &aps_memory_host,
        .number = aps_layer_compressor_number(of),
        .stage = of->wire.stage,
        .rank = of->rank,
        .ranks = 1,
    };
}

/* --- selected elements ------------------------------------------------------ */

static size_t selected_most(const struct aps_layer_compressor *of)
{
    return aps_compressor_ops_of(&of->plan.compressor)
        ->most(&of->plan.compressor, of->matrix.count);
}

static size_t selected_work(const struct aps_layer_compressor *of)
{
    const size_t n = of->matrix.count, k = selected_most(of);
    const size_t bytes = aps_bracket_room(n, k < n ? k + 1 : n);

    return (bytes + 15) / 16 * 16;
}

/* The scratch: indices and values of a message, which may have all elements. */
static struct aps_elements
selected_elements(const struct aps_layer_compressor *of)
{
    const size_t n = of->matrix.count;
    unsigned char *scratch = (unsigned char *)of->scratch + selected_work(of);

    return (struct aps_elements){
        .slice = {0, n},
        .indices = (uint32_t *)(void *)scratch,
        .values = (float *)(void *)(scratch + n * sizeof(uint32_t)),
    };
}

static size_t selected_scratch(const struct aps_layer_compressor *of)
{
    return selected_work(of) +
           of->matrix.count * (sizeof(uint32_t) + sizeof(float));
}

static size_t selected_bytes(const struct aps_layer_compressor *of)
{
    return aps_elements_max(&of->wire, selected_most(of), of->matrix.count);
}

static size_t selected_encode(struct aps_layer_compressor *of, const float *x,
                              void *message)
{
    const struct aps_compressor *compressor = &of->plan.compressor;
    const struct aps_compressor_ops *ops = aps_compressor_ops_of(compressor);
    const size_t n = of->matrix.count, k = selected_most(of);
    const struct aps_bracket_work room = {of->scratch, selected_work(of)};
    struct aps_elements elements = selected_elements(of);
    struct aps_cast_options draw = APS_CAST_OPTIONS_INIT;
    struct aps_bracket bracket;
    struct aps_cost cost = {0};

    draw.seed = aps_compressor_seed(compressor);
    draw.layer = (uint32_t)of->key.layer;
    draw.step = (uint32_t)of->calls;
    aps_bracket_begin(x, of->memory, n, k < n ? k + 1 : n, of->delta, &room,
                      aps_cpu_chosen(), &bracket);
    if (!bracket.magnitudes.finite)
        return 0;
    elements.count =
        ops->select(compressor, &bracket, k, &draw, elements.indices);
    aps_sparse_gather(of->delta, elements.indices, elements.count,
                      elements.values);
    return aps_elements_encode(&of->wire, own_block(of), &elements, &cost,
                               message);
}

static int selected_decode(struct aps_layer_compressor *of,
                           const struct aps_round *round, float *y)
{
    memset(y, 0, of->matrix.count * sizeof *y);
    for (int r = 0; r < round->count; r++) {
        struct aps_elements elements = selected_elements(of);

        (void)aps_elements_decode(&of->wire, round->messages[r],
                                  round->bytes[r], &elements);
        if (elements.bad || elements.damaged ||
            !aps_magnitude_of(elements.values, elements.count).finite)
            return -1;
        aps_elements_add(&elements, y);
        for (size_t i = 0; i < elements.count && r == of->rank; i++)
            of->delta[elements.indices[i]] -= elements.values[i];
    }
    return 0;
}

const struct aps_compressor_rounds aps_rounds_selected = {
    .rounds = 1,
    .kinds = {APS_MESSAGE_BYTES},
    .scratch = selected_scratch,
    .bytes = selected_bytes,
    .encode = selected_encode,
    .decode = selected_decode,
};

/* --- values in blocks, with feedback ----------------------------------------- */

static size_t rounded_scratch(const struct aps_layer_compressor *of)
{
    return of->matrix.count * sizeof(float);
}

static size_t rounded_bytes(const struct aps_layer_compressor *of)
{
    return aps_block_bytes(&of->wire, of->matrix.count);
}

static size_t rounded_encode(struct aps_layer_compressor *of, const float *x,
                             void *message)
{
    struct aps_block block = own_block(of);

    block.x = aps_layer_compressor_add(of, x);
    block.n = of->matrix.count;
    if (!aps_magnitude_of(block.x, block.n).finite)
        return 0;
    (void)aps_block_encode(&of->wire, &block, message);
    return rounded_bytes(of);
}

static int rounded_decode(struct aps_layer_compressor *of,
                          const struct aps_round *round, float *y)
{
    const size_t n = of->matrix.count;
    float *values = of->scratch;

    memset(y, 0, n * sizeof *y);
    for (int r = 0; r < round->count; r++) {
        if (round->bytes[r] != rounded_bytes(of))
            return -1;
        aps_block_decode(&of->wire, &aps_memory_host, round->messages[r], n,
                         values);
        if (!aps_magnitude_of(values, n).finite)
            return -1;
        for (size_t i = 0; i < n; i++)
            y[i] += values[i];
        if (r == of->rank)
            aps_feedback_left(of->delta, values, n, aps_cpu_chosen(),
                              of->delta);
    }
    return 0;
}

const struct aps_compressor_rounds aps_rounds_rounded = {
    .rounds = 1,
    .kinds = {APS_MESSAGE_BYTES},
    .scratch = rounded_scratch,
    .bytes = rounded_bytes,
    .encode = rounded_encode,
    .decode = rounded_decode,
};

/* --- TernGrad ----------------------------------------------------------------- */

static size_t ternary_scratch(const struct aps_layer_compressor *of)
{
    return of->matrix.count * sizeof(int16_t);
}

static size_t ternary_bytes(const struct aps_layer_compressor *of)
{
    const size_t bytes = aps_ternary_bytes(of->matrix.count);

    return bytes > sizeof(float) ? bytes : sizeof(float);
}

static size_t ternary_encode(struct aps_layer_compressor *of, const float *x,
                             void *message)
{
    const struct aps_compressor *compressor = &of->plan.compressor;
    const size_t n = of->matrix.count;
    const uint64_t number = aps_layer_compressor_number(of);
    struct aps_cast_options draw = APS_CAST_OPTIONS_INIT;

    if (of->round == 0) {
        const enum aps_ternary_kind kind =
            aps_ternary_measure(aps_layer_compressor_add(of, x), n,
                                (float)compressor->parameters[APS_TERNARY_CLIP],
                                aps_cpu_chosen(), &of->scale);

        memcpy(message, &of->scale.scaler, sizeof of->scale.scaler);
        return kind == APS_TERNARY_NONFINITE ? 0 : sizeof of->scale.scaler;
    }
    draw.seed = aps_stream_mix(0) ^ aps_compressor_seed(compressor);
    draw.layer = (uint32_t)(number >> 32);
    draw.step = (uint32_t)number;
    draw.rank = (uint32_t)of->rank;
    if (of->scaler > 0)
        aps_ternary_take(of->delta, n, of->scale.limit, of->scaler, &draw,
                         aps_cpu_chosen(), message);
    else
        memset(message, 0, aps_ternary_bytes(n));
    return aps_ternary_bytes(n);
}

static int ternary_decode(struct aps_layer_compressor *of,
                          const struct aps_round *round, float *y)
{
    const size_t n = of->matrix.count;
    int16_t *sum = of->scratch;
    float greatest = 0;

    if (of->round == 0) {
        for (int r = 0; r < round->count; r++) {
            float scaler;

            if (round->bytes[r] != sizeof scaler)
                return -1;
            memcpy(&scaler, round->messages[r], sizeof scaler);
            if (!(scaler >= 0) || !isfinite(scaler * (float)of->ranks))
                return -1;
            greatest = scaler > greatest ? scaler : greatest;
        }
        of->scaler = greatest;
        return 0;
    }
    memset(sum, 0, n * sizeof *sum);
    for (int r = 0; r < round->count && of->scaler > 0; r++) {
        if (round->bytes[r] != aps_ternary_bytes(n))
            return -1;
        aps_ternary_add(round->messages[r], n, aps_cpu_chosen(), sum);
    }
    aps_ternary_sum_scale(sum, n, of->scaler, y);
    return 0;
}

const struct aps_compressor_rounds aps_rounds_ternary = {
    .rounds = 2,
    .kinds = {APS_MESSAGE_FLOATS_MAX, APS_MESSAGE_BYTES},
    .scratch = ternary_scratch,
    .bytes = ternary_bytes,
    .encode = ternary_encode,
    .decode = ternary_decode,
};

/* --- votes ---------------------------------------------------------------------- */

/* A message: the mean magnitude of the layer, and the ballot. */
static size_t vote_bytes(const struct aps_layer_compressor *of)
{
    return sizeof(float) + aps_vote_bytes(of->matrix.count);
}

/* The scratch: the ballots of all ranks, and the outcomes. */
static size_t vote_scratch(const struct aps_layer_compressor *of)
{
    const size_t n = of->matrix.count;

    return (size_t)of->ranks * aps_vote_bytes(n) +
           aps_vote_outcome_bytes(of->ranks, n);
}

static size_t vote_encode(struct aps_layer_compressor *of, const float *x,
                          void *message)
{
    const size_t n = of->matrix.count;
    const struct aps_magnitudes magnitudes = aps_magnitudes_of(x, n);
    const float mean = (float)(magnitudes.sum / (double)n);

    if (!magnitudes.finite)
        return 0;
    memcpy(message, &mean, sizeof mean);
    aps_vote_cast(x, n, (uint8_t *)message + sizeof mean);
    return vote_bytes(of);
}

static int vote_decode(struct aps_layer_compressor *of,
                       const struct aps_round *round, float *y)
{
    const size_t n = of->matrix.count;
    const double value = of->plan.compressor.parameters[APS_VOTE_VALUE];
    uint8_t *ballots = of->scratch;
    uint8_t *outcome = ballots + (size_t)of->ranks * aps_vote_bytes(n);
    double sum = 0;

    for (int r = 0; r < round->count; r++) {
        float mean;

        if (round->bytes[r] != vote_bytes(of))
            return -1;
        memcpy(&mean, round->messages[r], sizeof mean);
        memcpy(ballots + (size_t)r * aps_vote_bytes(n),
               (const uint8_t *)round->messages[r] + sizeof mean,
               aps_vote_bytes(n));
        sum += value > 0 ? value : (double)mean;
    }
    if (!isfinite((float)sum))
        return -1;
    aps_vote_count(ballots, aps_vote_bytes(n), of->ranks, n, outcome);
    aps_vote_decode(outcome, of->ranks, n, (float)sum, y);
    return 0;
}

const struct aps_compressor_rounds aps_rounds_vote = {
    .rounds = 1,
    .kinds = {APS_MESSAGE_BYTES},
    .scratch = vote_scratch,
    .bytes = vote_bytes,
    .encode = vote_encode,
    .decode = vote_decode,
};
