/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/whole.h"

#include "number/philox.h"

uint64_t aps_compressed_number(const struct aps_compressed *layer,
                               unsigned part)
{
    return aps_stream_mix(layer->number ^ part);
}

int aps_compressed_reduce_whole(const struct aps_compressed_site *site,
                                int count, const struct aps_compressed layers[],
                                struct aps_cost *cost)
{
    struct aps_plan plan = *site->plan;
    struct aps_vector vectors[APS_VECTORS_MOST];
    int whole = 0;

    for (int i = 0; i < count; i++)
        if (layers[i].whole)
            vectors[whole++] = (struct aps_vector){
                .in = layers[i].in,
                .out = layers[i].out,
                .n = layers[i].matrix.count,
                .memory = &aps_memory_host,
                .number = layers[i].number,
            };
    if (whole == 0)
        return MPI_SUCCESS;
    (void)aps_format_parse("e8m23", &plan.format, NULL);
    plan.scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    plan.accumulate = APS_ACCUMULATE_FP32;
    plan.chunk = 0;
    plan.rounding = APS_ROUND_NEAREST;
    return aps_reductions_run(site->reductions, &plan, whole, vectors, cost);
}
