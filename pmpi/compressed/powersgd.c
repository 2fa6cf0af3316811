/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, Algorithms 1 and 2). M is
 * the sum of the layer and its error memory, a rows x columns matrix:
 *
 *     Q  of the last call, or random numbers; orthonormal columns
 *     P  = M Q, summed over the ranks; orthonormal columns
 *     Q' = M^T P, summed over the ranks
 *     P Q'^T is the result, and M - P Q'^T / ranks the new error memory
 *
 * The sums have the same bits on all ranks, and so do all values computed from
 * them. A value of M that is not finite makes its row of P not finite on all
 * ranks, and the layer falls back to FP32. It also falls back if P Q'^T might
 * not be finite. All P of a call travel together, and then all Q'.
 *
 * If the compressor selects elements, M consists of these alone, each rank's
 * own (mstopk+powersgd). The error memory then holds the residual of the whole
 * layer.
 */
#include "config.h"

#include "compressed/table.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "compress/lowrank.h"
#include "compressed/fp32_fallback.h"

/* The two vectors that travel for a layer. */
enum part { PART_P, PART_Q };

/* A layer during the exchange of its factors. */
struct factors {
    struct aps_compressed *layer;
    size_t rank;
    double *room;      /* scratch of aps_lowrank_orthogonalise */
    float *factors[2]; /* by part: [rows x rank], [columns x rank] */
    size_t floats[2];  /* floats of the factors */
    float *masked;     /* [count], if elements are selected */
    void *work;
    uint32_t *indices; /* [k] */
    size_t k;
};

struct run {
    const struct aps_compressed_env *site;
    int count;
    struct factors factors[APS_VECTORS_MAX];
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static size_t powersgd_rank(const struct aps_plan *plan,
                            const struct aps_matrix *matrix)
{
    return aps_lowrank_rank(
        matrix, (size_t)plan->compressor.parameters[APS_POWERSGD_RANK]);
}

static size_t powersgd_kept(const struct aps_plan *plan,
                            const struct aps_matrix *matrix,
                            const struct aps_compressed_ranks *ranks)
{
    (void)ranks;
    return plan->compressor.parameters[APS_POWERSGD_WARM] != 0
               ? matrix->columns * powersgd_rank(plan, matrix)
               : 0;
}

static size_t powersgd_room(const struct aps_matrix *matrix, size_t rank)
{
    const size_t left = aps_lowrank_room(matrix->rows, rank);
    const size_t right = aps_lowrank_room(matrix->columns, rank);

    return left > right ? left : right;
}

/* Returns the number of selected elements; 0: the matrix has all elements. */
static size_t powersgd_selected(const struct aps_plan *plan,
                                const struct aps_matrix *matrix)
{
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);

    return ops->most ? ops->most(&plan->compressor, matrix->count) : 0;
}

/* Returns the floats for a selection: the matrix, indices and work. */
static size_t powersgd_mask_floats(const struct aps_plan *plan,
                                   const struct aps_matrix *matrix)
{
    const size_t k = powersgd_selected(plan, matrix);

    return k == 0 ? 0
                  : matrix->count + k + 4 +
                        aps_compressed_work(k, matrix->count) / sizeof(float);
}

/* Floats in this order; arrays with two floats an element come first. */
static size_t powersgd_scratch(const struct aps_plan *plan,
                               const struct aps_matrix *matrix,
                               const struct aps_compressed_ranks *ranks)
{
    const size_t rank = powersgd_rank(plan, matrix);

    (void)ranks;
    return 2 * powersgd_room(matrix, rank) +
           (matrix->rows + matrix->columns) * rank +
           powersgd_mask_floats(plan, matrix);
}

static struct factors powersgd_factors(const struct aps_plan *plan,
                                       struct aps_compressed *layer)
{
    const struct aps_matrix *matrix = &layer->matrix;
    const size_t rank = powersgd_rank(plan, matrix);
    const size_t room = 2 * powersgd_room(matrix, rank);
    const size_t k = powersgd_selected(plan, matrix);
    const size_t work = k ? aps_compressed_work(k, matrix->count) : 0;
    struct factors of = {
        .layer = layer,
        .rank = rank,
        .work = layer->scratch,
        .room = (double *)(void *)(layer->scratch + work / sizeof(float)),
        .floats = {matrix->rows * rank, matrix->columns * rank},
        .k = k,
    };
    float *next = layer->scratch + work / sizeof(float) + room;

    of.factors[PART_P] = next;
    next += of.floats[PART_P];
    of.factors[PART_Q] = next;
    next += of.floats[PART_Q];
    if (k > 0) {
        of.masked = next;
        of.indices = (uint32_t *)(void *)(next + matrix->count);
    }
    return of;
}

/* --- a call --------------------------------------------------------------- */

/* Prepares Q: of the layer's last call, with orthonormal columns, or a draw. */
static void powersgd_prepare(const struct aps_plan *plan, struct factors *of)
{
    const struct aps_compressed *layer = of->layer;
    const struct aps_matrix *matrix = &layer->matrix;
    const struct aps_lowrank_seed seed = {
        .seed = (uint64_t)plan->compressor.parameters[APS_POWERSGD_SEED],
        .layer = (uint32_t)layer->place,
        .step = (uint32_t)layer->calls,
    };

    if (layer->kept)
        memcpy(of->factors[PART_Q], layer->kept,
               of->floats[PART_Q] * sizeof(float));
    else
        memset(of->factors[PART_Q], 0, of->floats[PART_Q] * sizeof(float));
    aps_lowrank_prepare(matrix->columns, of->rank, &seed, of->factors[PART_Q],
                        of->room);
}

/* Selects elements of the layer, and sets the others to zeros. Returns false if
 * not all elements are finite. */
static bool powersgd_mask(const struct aps_plan *plan, struct factors *of)
{
    struct aps_bracket bracket;
    const long count = aps_compressed_select(
        &plan->compressor, of->layer, of->k, of->work, &bracket, of->indices);

    memset(of->masked, 0, of->layer->matrix.count * sizeof *of->masked);
    for (long i = 0; i < count; i++)
        of->masked[of->indices[i]] = bracket.x[of->indices[i]];
    return count >= 0;
}

/* P = M Q. */
static void powersgd_multiply(const struct aps_plan *plan, struct factors *of)
{
    const struct aps_compressed *layer = of->layer;
    const bool finite = !of->masked || powersgd_mask(plan, of);
    float *p = of->factors[PART_P], *q = of->factors[PART_Q];

    if (of->masked)
        aps_lowrank_left(&layer->matrix, of->rank, of->masked, q, p);
    else if (layer->error)
        aps_lowrank_left_feedback(&layer->matrix, of->rank, layer->in,
                                  layer->error, layer->delta, q, p);
    else
        aps_lowrank_left(&layer->matrix, of->rank, layer->in, q, p);
    /* All ranks must see the NaN. */
    if (!finite)
        p[0] = NAN;
}

/* Q' = M^T P. */
static void powersgd_multiply_back(struct factors *of)
{
    const struct aps_compressed *layer = of->layer;
    const struct aps_matrix *matrix = &layer->matrix;
    const float *m = of->masked     ? of->masked
                     : layer->error ? layer->delta
                                    : layer->in;

    (void)aps_lowrank_orthogonalise(matrix->rows, of->rank, of->factors[PART_P],
                                    of->room);
    aps_lowrank_right(matrix, of->rank, m, of->factors[PART_P],
                      of->factors[PART_Q]);
}

/* Computes P Q'^T and its residual. */
static void powersgd_restore(struct factors *of, int ranks)
{
    struct aps_compressed *layer = of->layer;

    if (layer->error)
        aps_lowrank_restore_feedback(
            &layer->matrix, of->rank, of->factors[PART_P], of->factors[PART_Q],
            1.0f / (float)ranks, layer->delta, layer->out, layer->delta);
    else
        aps_lowrank_restore(&layer->matrix, of->rank, of->factors[PART_P],
                            of->factors[PART_Q], layer->out);
    if (layer->kept)
        memcpy(layer->kept, of->factors[PART_Q],
               of->floats[PART_Q] * sizeof(float));
}

/* True if the sum can be used. The result is equal on all ranks, because it
 * depends on the sum alone. */
static bool powersgd_is_good(const struct factors *of, enum part part)
{
    const float *sum = of->factors[part];

    return part == PART_Q
               ? aps_lowrank_is_restorable(&of->layer->matrix, of->rank, sum)
               : aps_magnitude_of(sum, of->floats[part]).finite;
}

/* COLLECTIVE over the reductions' communicator. Sums a factor of all layers,
 * including layers that fall back to FP32, because a rank that has failed does
 * not know which layers these are. Layers whose sums cannot be used fall back
 * on all ranks. Returns an MPI error code. */
static int powersgd_reduce(struct run *run, enum part part)
{
    struct aps_vector vectors[APS_VECTORS_MAX];
    int rc;

    for (int i = 0; i < run->count; i++) {
        struct factors *of = &run->factors[i];

        vectors[i] = (struct aps_vector){
            .in = of->factors[part],
            .out = of->factors[part],
            .n = of->floats[part],
            .memory = &aps_memory_host,
            .number = aps_compressed_number(of->layer, part),
        };
    }
    rc = aps_reductions_run(run->site->reductions, run->site->plan, run->count,
                            vectors, run->cost);
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++)
        run->factors[i].layer->fp32_fallback |=
            !powersgd_is_good(&run->factors[i], part);
    return rc;
}

static int powersgd_run(const struct aps_compressed_env *site, int count,
                        struct aps_compressed layers[], struct aps_cost *cost)
{
    struct run run = {.site = site, .count = count, .cost = cost};
    int rc;

    for (int i = 0; i < count; i++) {
        run.factors[i] = powersgd_factors(site->plan, &layers[i]);
        powersgd_prepare(site->plan, &run.factors[i]);
        powersgd_multiply(site->plan, &run.factors[i]);
    }
    rc = powersgd_reduce(&run, PART_P);
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < count; i++)
        if (!layers[i].fp32_fallback)
            powersgd_multiply_back(&run.factors[i]);
    rc = powersgd_reduce(&run, PART_Q);
    rc = aps_compressed_reduce_fp32(site, rc, count, layers, cost);
    /* No layer updates its error memory before all layers have succeeded. */
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (!layers[i].fp32_fallback)
            powersgd_restore(&run.factors[i], site->vcomm->size);
    return rc;
}

/* A lower rank keeps the first columns; a higher one has zeros after them,
 * which a call draws again. */
static void powersgd_carry_on(const struct aps_compressor *before,
                              const float *was, const struct aps_plan *plan,
                              const struct aps_matrix *matrix, float *kept)
{
    const size_t old =
        aps_lowrank_rank(matrix, (size_t)before->parameters[APS_POWERSGD_RANK]);
    const size_t new = powersgd_rank(plan, matrix);

    memcpy(kept, was, matrix->columns * (old < new ? old : new) * sizeof *kept);
}

const struct aps_compressed_ops aps_compressed_powersgd = {
    .kept = powersgd_kept,
    .scratch = powersgd_scratch,
    .carry_on = powersgd_carry_on,
    .run = powersgd_run,
};
