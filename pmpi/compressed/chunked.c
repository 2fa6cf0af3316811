/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks (GradientFlow; compress/chunks.h). delta is the sum of the layer and
 * its error memory.
 *
 *     The norms of all chunks of delta are summed over the ranks, in FP32.
 *     The chunks of the greatest sums, the same on all ranks, are summed over the
 *     ranks in the plan's format: the result, with zeros elsewhere.
 *     The other chunks go into the error memory.
 *
 * With feedback of a format that rounds, the chosen chunks travel as in
 * rounded.c, and the residuals of both roundings are remembered, too. The owner
 * of a slice remembers the residual of a sum in its own memory.
 *
 * The number of floats that travel follows from the layer's length. A rank that
 * has an INF or a NaN sends NaN as its first norm, and the layer falls back to
 * FP32.
 */
#include "config.h"

#include "compressed/table.h"

#include <math.h>
#include <string.h>

#include "compress/chunks.h"
#include "codec/codec.h"
#include "compress/magnitudes.h"
#include "compressed/fp32_fallback.h"

/* The two vectors that travel for a layer. */
enum part { PART_NORMS, PART_CHUNKS };

/* A layer during the exchange of its chunks. */
struct chunked {
    struct aps_compressed *layer;
    const float *x; /* [n]: sum of the layer and its error memory */
    void *work;     /* scratch for choosing chunks */
    size_t work_bytes;
    size_t size, chunks, keep;
    size_t length;    /* floats of the chosen chunks in a message */
    float *norms;     /* [chunks] */
    uint32_t *chosen; /* [keep] */
    float *packed;    /* [length] */
    /* Residuals, with feedback of a format that rounds: */
    float *lost;      /* [length]: residual of this rank's rounding */
    float *lost_sums; /* residual of its rounding of sums */
    float *scratch;   /* scratch of rounded.c */
};

struct run {
    const struct aps_compressed_env *site;
    int count;
    bool rounded; /* rounds, and remembers the residual */
    struct chunked layers[APS_VECTORS_MAX];
    struct aps_cost *cost;
};

/* --- sizes ---------------------------------------------------------------- */

static bool chunked_is_rounded(const struct aps_plan *plan)
{
    return plan->feedback && !aps_format_is_full(&plan->format);
}

static size_t chunked_line(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* Cuts a layer into chunks and fills in nothing else. */
static struct chunked chunked_cut(const struct aps_plan *plan,
                                  const struct aps_matrix *matrix)
{
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);
    struct chunked of = {0};

    of.size = ops->chunk(&plan->compressor, matrix->count, &of.keep);
    of.chunks = aps_chunks_count(matrix->count, of.size);
    of.length = ops->floats(&plan->compressor, matrix) - of.chunks;
    of.work_bytes = (aps_bracket_room(of.chunks, of.keep) + 63) / 64 * 64;
    return of;
}

/* Returns the chosen chunks as a layer. */
static struct aps_matrix chunked_matrix(const struct chunked *of)
{
    return (struct aps_matrix){
        .rows = 1, .columns = of->length, .count = of->length};
}

static size_t chunked_message(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    const struct chunked of = chunked_cut(plan, matrix);
    const struct aps_matrix packed = chunked_matrix(&of);

    return chunked_is_rounded(plan)
               ? aps_compressed_rounded.message(plan, &packed, ranks)
               : 0;
}

/* Floats in the order of chunked_present. */
static size_t chunked_scratch(const struct aps_plan *plan,
                              const struct aps_matrix *matrix,
                              const struct aps_compressed_ranks *ranks)
{
    const struct chunked of = chunked_cut(plan, matrix);
    const struct aps_matrix packed = chunked_matrix(&of);
    size_t floats = of.work_bytes / sizeof(float) + chunked_line(of.chunks) +
                    chunked_line(of.keep) + chunked_line(of.length);

    if (chunked_is_rounded(plan))
        floats +=
            chunked_line(of.length) +
            chunked_line(aps_compressed_rounded.kept(plan, &packed, ranks)) +
            aps_compressed_rounded.scratch(plan, &packed, ranks);
    return floats;
}

static float *chunked_take(float **next, size_t floats)
{
    float *taken = *next;

    *next += chunked_line(floats);
    return taken;
}

static void chunked_present(const struct run *run, struct chunked *of,
                            struct aps_compressed *layer)
{
    const struct aps_plan *plan = run->site->plan;
    const struct aps_compressed_ranks ranks = {.all = run->site->vcomm->size};
    const size_t n = layer->matrix.count;
    bool finite;
    float *next = layer->scratch;

    *of = chunked_cut(plan, &layer->matrix);
    of->layer = layer;
    of->x = layer->in;
    of->work = next;
    next += of->work_bytes / sizeof *next;
    of->norms = chunked_take(&next, of->chunks);
    of->chosen = (uint32_t *)(void *)chunked_take(&next, of->keep);
    of->packed = chunked_take(&next, of->length);
    if (layer->delta) {
        finite =
            aps_magnitudes_add(layer->in, layer->error, n, layer->delta).finite;
        of->x = layer->delta;
    } else {
        finite = aps_magnitude_of(layer->in, n).finite;
    }
    if (run->rounded) {
        const struct aps_matrix packed = chunked_matrix(of);
        const size_t kept = aps_compressed_rounded.kept(plan, &packed, &ranks);

        of->lost = chunked_take(&next, of->length);
        of->lost_sums = chunked_take(&next, kept);
        of->scratch = next;
        memset(of->lost_sums, 0, kept * sizeof *of->lost_sums);
    }
    if (finite)
        aps_chunks_norms(of->x, n, of->size, of->norms);
    else
        memset(of->norms, 0, of->chunks * sizeof *of->norms);
    /* All ranks must see the NaN. */
    if (!finite)
        of->norms[0] = NAN;
}

/* --- norms ---------------------------------------------------------------- */

/* COLLECTIVE over the reductions' communicator. Sums the norms. Returns an MPI
 * error code. */
static int chunked_sum_norms(struct run *run)
{
    const struct aps_plan full = aps_compressed_fp32_plan(run->site->plan);
    struct aps_vector vectors[APS_VECTORS_MAX];
    int rc;

    for (int i = 0; i < run->count; i++) {
        const struct chunked *of = &run->layers[i];

        vectors[i] = (struct aps_vector){
            .in = of->norms,
            .out = of->norms,
            .n = of->chunks,
            .memory = &aps_memory_host,
            .number = aps_compressed_number(of->layer, PART_NORMS),
        };
    }
    rc = aps_reductions_run(run->site->reductions, &full, run->count, vectors,
                            run->cost);
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++)
        for (size_t c = 0; c < run->layers[i].chunks; c++)
            run->layers[i].layer->fp32_fallback |=
                isnan(run->layers[i].norms[c]);
    return rc;
}

static void chunked_pack(struct chunked *of)
{
    const size_t n = of->layer->matrix.count;
    const struct aps_bracket_work work = {of->work, of->work_bytes};

    memset(of->packed, 0, of->length * sizeof *of->packed);
    if (of->layer->fp32_fallback)
        return;
    /* If all norms are 0, no chunk is chosen. */
    if (aps_chunks_choose(of->norms, of->chunks, of->keep, &work, of->chosen) ==
        0)
        for (size_t c = 0; c < of->keep; c++)
            of->chosen[c] = (uint32_t)c;
    (void)aps_chunks_gather(of->x, n, of->size, of->chosen, of->keep,
                            of->packed);
}

/* --- chunks --------------------------------------------------------------- */

/* COLLECTIVE over the reductions' communicator. Sums the chunks in the plan's
 * format. Returns an MPI error code. */
static int chunked_sum(struct run *run)
{
    struct aps_vector vectors[APS_VECTORS_MAX];

    for (int i = 0; i < run->count; i++) {
        const struct chunked *of = &run->layers[i];

        vectors[i] = (struct aps_vector){
            .in = of->packed,
            .out = of->packed,
            .n = of->length,
            .memory = &aps_memory_host,
            .number = aps_compressed_number(of->layer, PART_CHUNKS),
        };
    }
    return aps_reductions_run(run->site->reductions, run->site->plan,
                              run->count, vectors, run->cost);
}

/* Adds the residual of the sums to the memory of the slice's owner. */
static void chunked_own_lost(const struct run *run, const struct chunked *of)
{
    const struct aps_vcomm *vcomm = run->site->vcomm;
    struct aps_codec codec;
    struct aps_slice slice;

    aps_codec_init(&run->site->plan->format, &codec);
    slice = aps_slice_of(of->length, aps_codec_granule(&codec), vcomm->size,
                         vcomm->rank);
    for (size_t i = 0; i < slice.length; i++)
        of->lost[slice.begin + i] += of->lost_sums[i];
}

/* COLLECTIVE over the site's communicator. Sums the chunks in the plan's format
 * with feedback. Returns an MPI error code. */
static int chunked_sum_rounded(struct run *run)
{
    struct aps_compressed layers[APS_VECTORS_MAX];
    int rc;

    for (int i = 0; i < run->count; i++) {
        const struct chunked *of = &run->layers[i];

        layers[i] = (struct aps_compressed){
            .in = of->packed,
            .out = of->packed,
            .matrix = chunked_matrix(of),
            .delta = of->lost,
            .kept = of->lost_sums,
            .calls = of->layer->calls,
            .place = of->layer->place,
            .number = aps_compressed_number(of->layer, PART_CHUNKS),
            .scratch = of->scratch,
        };
    }
    rc = aps_compressed_rounded.run(run->site, run->count, layers, run->cost);
    for (int i = 0; i < run->count && rc == MPI_SUCCESS; i++)
        chunked_own_lost(run, &run->layers[i]);
    return rc;
}

static void chunked_settle(const struct chunked *of)
{
    struct aps_compressed *layer = of->layer;
    const size_t n = layer->matrix.count;

    if (layer->delta) {
        aps_chunks_clear(layer->delta, n, of->size, of->chosen, of->keep);
        for (size_t c = 0; of->lost && c < of->keep; c++) {
            const size_t begin = of->chosen[c] * of->size;
            const size_t left = n - begin;

            memcpy(layer->delta + begin, of->lost + c * of->size,
                   (left < of->size ? left : of->size) * sizeof *of->lost);
        }
    }
    aps_chunks_scatter(of->packed, n, of->size, of->chosen, of->keep,
                       layer->out);
}

/* --- a call --------------------------------------------------------------- */

static int chunked_run(const struct aps_compressed_env *site, int count,
                       struct aps_compressed layers[], struct aps_cost *cost)
{
    struct run run = {
        .site = site,
        .count = count,
        .rounded = chunked_is_rounded(site->plan),
        .cost = cost,
    };
    int rc;

    for (int i = 0; i < count; i++)
        chunked_present(&run, &run.layers[i], &layers[i]);
    rc = chunked_sum_norms(&run);
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < count; i++)
        chunked_pack(&run.layers[i]);
    rc = run.rounded ? chunked_sum_rounded(&run) : chunked_sum(&run);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        const struct chunked *of = &run.layers[i];

        layers[i].fp32_fallback |=
            !aps_magnitude_of(of->packed, of->length).finite;
        if (!layers[i].fp32_fallback)
            chunked_settle(of);
    }
    return aps_compressed_reduce_fp32(site, rc, count, layers, cost);
}

const struct aps_compressed_ops aps_compressed_chunked = {
    .scratch = chunked_scratch,
    .message = chunked_message,
    .run = chunked_run,
};
