/* SPDX-License-Identifier: BSD-3-Clause */
/* PowerSGD: the factors P and Q, as floats that the ranks add up
 * (compress/lowrank.h). */
#include "config.h"

#include "offline/layer_compressor.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "compress/lowrank.h"

/* The scratch: the room of an orthogonalisation, P and Q. */
struct factors {
    size_t rank, p_count, q_count;
    double *room;
    float *p, *q;
};

static size_t factors_room(const struct aps_matrix *matrix, size_t rank)
{
    const size_t left = aps_lowrank_room(matrix->rows, rank);
    const size_t right = aps_lowrank_room(matrix->columns, rank);

    return left > right ? left : right;
}

static struct factors factors_of(const struct aps_layer_compressor *of)
{
    const struct aps_matrix *matrix = &of->matrix;
    const size_t rank = aps_lowrank_rank(
        matrix, (size_t)of->plan.compressor.parameters[APS_POWERSGD_RANK]);
    struct factors factors = {
        .rank = rank,
        .p_count = matrix->rows * rank,
        .q_count = matrix->columns * rank,
        .room = of->scratch,
    };

    if (of->scratch) {
        factors.p =
            (float *)(void *)(factors.room + factors_room(matrix, rank));
        factors.q = factors.p + factors.p_count;
    }
    return factors;
}

static size_t powersgd_scratch(const struct aps_layer_compressor *of)
{
    const struct factors factors = factors_of(of);

    return factors_room(&of->matrix, factors.rank) * sizeof(double) +
           (factors.p_count + factors.q_count) * sizeof(float);
}

static size_t powersgd_bytes(const struct aps_layer_compressor *of)
{
    const struct factors factors = factors_of(of);

    return (factors.p_count > factors.q_count ? factors.p_count
                                              : factors.q_count) *
           sizeof(float);
}

static size_t powersgd_encode(struct aps_layer_compressor *of, const float *x,
                              void *message)
{
    const struct factors factors = factors_of(of);
    const struct aps_matrix *matrix = &of->matrix;
    const struct aps_lowrank_seed seed = {
        .seed = (uint64_t)of->plan.compressor.parameters[APS_POWERSGD_SEED],
        .layer = (uint32_t)of->key.layer,
        .step = (uint32_t)of->calls,
    };

    if (of->round == 0) {
        if (!of->warm || of->plan.compressor.parameters[APS_POWERSGD_WARM] == 0)
            memset(factors.q, 0, factors.q_count * sizeof *factors.q);
        aps_lowrank_prepare(matrix->columns, factors.rank, &seed, factors.q,
                            factors.room);
        aps_lowrank_left(matrix, factors.rank, aps_layer_compressor_add(of, x),
                         factors.q, factors.p);
        if (!aps_magnitude_of(factors.p, factors.p_count).finite)
            return 0;
        memcpy(message, factors.p, factors.p_count * sizeof *factors.p);
        return factors.p_count * sizeof *factors.p;
    }
    aps_lowrank_right(matrix, factors.rank, of->delta, factors.p, factors.q);
    memcpy(message, factors.q, factors.q_count * sizeof *factors.q);
    return factors.q_count * sizeof *factors.q;
}

/* sum[count] = the sum of the messages, in rank order. */
static int add_messages(const struct aps_round *round, size_t count, float *sum)
{
    for (int r = 0; r < round->count; r++) {
        const float *term = round->messages[r];

        if (round->bytes[r] != count * sizeof *term)
            return -1;
        for (size_t i = 0; i < count; i++)
            sum[i] = r > 0 ? sum[i] + term[i] : term[i];
    }
    return 0;
}

static int powersgd_decode(struct aps_layer_compressor *of,
                           const struct aps_round *round, float *y)
{
    const struct factors factors = factors_of(of);
    const struct aps_matrix *matrix = &of->matrix;

    of->warm = false; /* after an error the next call draws */
    if (of->round == 0) {
        if (add_messages(round, factors.p_count, factors.p) < 0 ||
            !aps_magnitude_of(factors.p, factors.p_count).finite)
            return -1;
        (void)aps_lowrank_orthogonalise(matrix->rows, factors.rank, factors.p,
                                        factors.room);
        return 0;
    }
    if (add_messages(round, factors.q_count, factors.q) < 0 ||
        !aps_lowrank_is_restorable(matrix, factors.rank, factors.q))
        return -1;
    aps_lowrank_restore_feedback(matrix, factors.rank, factors.p, factors.q,
                                 1.0f / (float)of->ranks, of->delta, y,
                                 of->delta);
    of->warm = true;
    return 0;
}

const struct aps_compressor_rounds aps_rounds_powersgd = {
    .rounds = 2,
    .kinds = {APS_MESSAGE_FLOATS_SUM, APS_MESSAGE_FLOATS_SUM},
    .scratch = powersgd_scratch,
    .bytes = powersgd_bytes,
    .encode = powersgd_encode,
    .decode = powersgd_decode,
};
