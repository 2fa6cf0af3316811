/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model's compressors, between pmpi/compressed and src/compress. If the
 * model computes nothing, arrays of a layer's length are not touched: 256 ranks
 * of a whole network would not fit this machine. Messages whose length depends
 * on their content (compressed/elements.h) are always computed.
 */
#include "config.h"

#include <string.h>

#include "compress/indices.h"
#include "compress/lowrank.h"
#include "compress/sparse.h"
#include "compress/ternary.h"
#include "compress/ternary_sums.h"
#include "compressed/elements.h"
#include "compressed/fp32_fallback.h"
#include "model.h"

/* The linker's names of the wrapped functions. */
#define WRAP(type, name, parameters)                                           \
    type __wrap_##name parameters;                                             \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters

/* Returns the bytes a second of a product with a factor of `rank` columns: the
 * cost of a column is added to that of the matrix. */
static double product_rate(double one, double four, size_t rank)
{
    const double column = (1 / four - 1 / one) / 3;

    return 1 / (1 / one + column * ((double)rank - 1));
}

/* --- PowerSGD ------------------------------------------------------------- */

WRAP(void, aps_lowrank_left,
     (const struct aps_matrix *matrix, size_t rank, const float *m,
      const float *q, float *p))
{
    model_spend(matrix->count, product_rate(MODEL_LEFT_1, MODEL_LEFT_4, rank));
    if (model_computes)
        __real_aps_lowrank_left(matrix, rank, m, q, p);
    else
        memset(p, 0, matrix->rows * rank * sizeof *p);
}

WRAP(void, aps_lowrank_left_feedback,
     (const struct aps_matrix *matrix, size_t rank, const float *g,
      const float *e, float *delta, const float *q, float *p))
{
    model_spend(matrix->count, product_rate(MODEL_LEFT_FEEDBACK_1,
                                            MODEL_LEFT_FEEDBACK_4, rank));
    if (model_computes)
        __real_aps_lowrank_left_feedback(matrix, rank, g, e, delta, q, p);
    else
        memset(p, 0, matrix->rows * rank * sizeof *p);
}

WRAP(void, aps_lowrank_right,
     (const struct aps_matrix *matrix, size_t rank, const float *m,
      const float *p, float *q))
{
    model_spend(matrix->count,
                product_rate(MODEL_RIGHT_1, MODEL_RIGHT_4, rank));
    if (model_computes)
        __real_aps_lowrank_right(matrix, rank, m, p, q);
    else
        memset(q, 0, matrix->columns * rank * sizeof *q);
}

WRAP(void, aps_lowrank_restore,
     (const struct aps_matrix *matrix, size_t rank, const float *p,
      const float *q, float *out))
{
    model_spend(matrix->count,
                product_rate(MODEL_RESTORE_1, MODEL_RESTORE_4, rank));
    if (model_computes)
        __real_aps_lowrank_restore(matrix, rank, p, q, out);
}

WRAP(void, aps_lowrank_restore_feedback,
     (const struct aps_matrix *matrix, size_t rank, const float *p,
      const float *q, float share, const float *delta, float *out,
      float *residual))
{
    model_spend(matrix->count, product_rate(MODEL_RESTORE_FEEDBACK_1,
                                            MODEL_RESTORE_FEEDBACK_4, rank));
    if (model_computes)
        __real_aps_lowrank_restore_feedback(matrix, rank, p, q, share, delta,
                                            out, residual);
}

WRAP(size_t, aps_lowrank_orthogonalise,
     (size_t n, size_t rank, float *x, double *room))
{
    model_spend(n * rank * rank, MODEL_ORTHOGONAL);
    return model_computes ? __real_aps_lowrank_orthogonalise(n, rank, x, room)
                          : rank;
}

/* --- selected elements ---------------------------------------------------- */

/* Selects elements at equal distances, if nothing is computed. */
WRAP(long, aps_compressed_select,
     (const struct aps_compressor *compressor,
      const struct aps_compressed *layer, size_t k, void *work,
      struct aps_bracket *bracket, uint32_t *indices))
{
    const size_t n = layer->matrix.count;

    model_spend(n, layer->error ? MODEL_SELECT_FEEDBACK : MODEL_SELECT);
    if (model_computes)
        return __real_aps_compressed_select(compressor, layer, k, work, bracket,
                                            indices);
    *bracket = (struct aps_bracket){.x = layer->in, .n = n};
    for (size_t i = 0; i < k; i++)
        indices[i] = (uint32_t)(i * (n / k));
    return (long)k;
}

WRAP(void, aps_sparse_gather,
     (const float *x, const uint32_t *indices, size_t k, float *values))
{
    model_spend(k, MODEL_GATHER);
    if (model_computes)
        __real_aps_sparse_gather(x, indices, k, values);
}

WRAP(void, aps_sparse_take,
     (float *delta, const uint32_t *indices, size_t k, const float *values,
      const float *sent))
{
    model_spend(k, MODEL_TAKE);
    if (model_computes)
        __real_aps_sparse_take(delta, indices, k, values, sent);
}

WRAP(void, aps_sparse_sum,
     (const struct aps_sparse *ranks, size_t count, size_t n, size_t *at,
      float *sum))
{
    size_t k = 0;

    for (size_t i = 0; i < count; i++)
        k += ranks[i].count;
    model_spend(n, MODEL_ZEROS);
    model_spend(k, MODEL_SPARSE_ADD);
    if (model_computes)
        __real_aps_sparse_sum(ranks, count, n, at, sum);
}

WRAP(void, aps_indices_encode,
     (const uint32_t *indices, size_t k, uint32_t base, size_t n, void *wire))
{
    model_spend(k, MODEL_INDICES_ENCODE);
    if (model_computes)
        __real_aps_indices_encode(indices, k, base, n, wire);
}

WRAP(int, aps_indices_decode,
     (const void *wire, size_t k, uint32_t base, size_t n, uint32_t *indices))
{
    model_spend(k, MODEL_INDICES_DECODE);
    return model_computes ? __real_aps_indices_decode(wire, k, base, n, indices)
                          : 0;
}

/* Every element that is decoded is added or stored. */
WRAP(size_t, aps_elements_decode,
     (const struct aps_wire *wire, const unsigned char *from, size_t room,
      struct aps_elements *elements))
{
    const size_t bytes = __real_aps_elements_decode(wire, from, room, elements);

    if (!elements->bad)
        model_spend(elements->count, MODEL_SPARSE_ADD);
    return bytes;
}

WRAP(void, aps_elements_gather,
     (const uint32_t *indices, size_t k, const float *x,
      struct aps_elements *elements))
{
    __real_aps_elements_gather(indices, k, x, elements);
    model_spend(elements->count, MODEL_GATHER);
}

WRAP(void, aps_elements_find, (const float *x, struct aps_elements *elements))
{
    model_spend(elements->slice.length, MODEL_ZEROS);
    __real_aps_elements_find(x, elements);
}

/* --- TernGrad ------------------------------------------------------------- */

WRAP(enum aps_ternary_kind, aps_ternary_measure_sum,
     (const float *g, const float *e, size_t n, float clip, enum aps_cpu cpu,
      float *delta, struct aps_ternary_scale *scale))
{
    model_spend(n, MODEL_TERNARY_MEASURE);
    if (model_computes)
        return __real_aps_ternary_measure_sum(g, e, n, clip, cpu, delta, scale);
    *scale = (struct aps_ternary_scale){1, 1};
    return APS_TERNARY_VALUES;
}

WRAP(void, aps_ternary_take,
     (float *x, size_t n, float limit, float scaler,
      const struct aps_cast_options *options, enum aps_cpu cpu,
      uint8_t *digits))
{
    model_spend(n, MODEL_TERNARY_TAKE);
    if (model_computes)
        __real_aps_ternary_take(x, n, limit, scaler, options, cpu, digits);
}

WRAP(void, aps_ternary_add,
     (const uint8_t *digits, size_t n, enum aps_cpu cpu, int16_t *sum))
{
    model_spend(n, MODEL_TERNARY_ADD);
    if (model_computes)
        __real_aps_ternary_add(digits, n, cpu, sum);
}

WRAP(void, aps_ternary_sum_pack,
     (const int16_t *sum, size_t n, int ranks, uint8_t *wire))
{
    model_spend(n, MODEL_TERNARY_PACK);
    if (model_computes)
        __real_aps_ternary_sum_pack(sum, n, ranks, wire);
}

/* Fewer bytes to read, and as many sums to write as for digits. */
WRAP(void, aps_ternary_sum_add,
     (const uint8_t *wire, size_t n, int ranks, enum aps_cpu cpu, int16_t *sum))
{
    model_spend(n, MODEL_TERNARY_ADD);
    if (model_computes)
        __real_aps_ternary_sum_add(wire, n, ranks, cpu, sum);
}

WRAP(void, aps_ternary_sum_decode,
     (const uint8_t *wire, size_t n, int ranks, float scaler, enum aps_cpu cpu,
      float *y))
{
    model_spend(n, MODEL_TERNARY_DECODE);
    if (model_computes)
        __real_aps_ternary_sum_decode(wire, n, ranks, scaler, cpu, y);
}
