/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/fp32_fallback.h"

#include "compress/select.h"
#include "number/parse.h"
#include "number/philox.h"

uint64_t aps_compressed_number(const struct aps_compressed *layer,
                               unsigned part)
{
    return aps_stream_mix(layer->number ^ part);
}

struct aps_plan aps_compressed_fp32_plan(const struct aps_plan *plan)
{
    struct aps_plan full = *plan;

    (void)aps_format_parse("e8m23", &full.format, NULL);
    full.scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    full.accumulate = APS_ACCUMULATE_FP32;
    full.chunk = 0;
    full.rounding = APS_ROUND_NEAREST;
    return full;
}

int aps_compressed_reduce_fp32(const struct aps_compressed_env *site, int rc,
                               int count, const struct aps_compressed layers[],
                               struct aps_cost *cost)
{
    const struct aps_plan plan = aps_compressed_fp32_plan(site->plan);
    struct aps_vector vectors[APS_VECTORS_MAX];
    int whole = 0;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (layers[i].fp32_fallback)
            vectors[whole++] = (struct aps_vector){
                .in = layers[i].in,
                .out = layers[i].out,
                .n = layers[i].matrix.count,
                .memory = &aps_memory_host,
                .number = layers[i].number,
            };
    return whole > 0 ? aps_reductions_run(site->reductions, &plan, whole,
                                          vectors, cost)
                     : rc;
}

size_t aps_compressed_work(size_t k, size_t count)
{
    /* A search is fastest for one element more than k. */
    const size_t bytes = aps_bracket_room(count, k < count ? k + 1 : count);

    return (bytes + 15) / 16 * 16;
}

size_t aps_compressed_k(const struct aps_compressor *compressor, size_t n)
{
    return n > 0 ? aps_compressor_ops_of(compressor)->most(compressor, n) : 0;
}

size_t aps_compressed_work_slices(const struct aps_compressor *compressor,
                                  size_t n)
{
    const size_t most = aps_compressed_work(aps_compressed_k(compressor, n), n);
    const size_t less =
        n > 1 ? aps_compressed_work(aps_compressed_k(compressor, n - 1), n - 1)
              : 0;

    return most > less ? most : less;
}

long aps_compressed_select(const struct aps_compressor *compressor,
                           const struct aps_compressed *layer, size_t k,
                           void *work, struct aps_bracket *bracket,
                           uint32_t *indices)
{
    const struct aps_compressor_ops *ops = aps_compressor_ops_of(compressor);
    const size_t n = layer->matrix.count;
    const struct aps_bracket_work room = {work, aps_compressed_work(k, n)};
    struct aps_cast_options draw = APS_CAST_OPTIONS_INIT;

    draw.seed = aps_compressor_seed(compressor);
    draw.layer = (uint32_t)layer->place;
    draw.step = (uint32_t)layer->calls;
    aps_bracket_begin(layer->in, layer->error, n, k < n ? k + 1 : n,
                      layer->delta, &room, aps_cpu_chosen(), bracket);
    return bracket->magnitudes.finite
               ? (long)ops->select(compressor, bracket, k, &draw, indices)
               : -1;
}
