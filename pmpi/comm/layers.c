/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/layers.h"

#include "comm/scales.h"

int aps_context_reduce(struct aps_context *context, const struct aps_plan *plan,
                       int count, const struct aps_place places[],
                       struct aps_vector vectors[], struct aps_cost *cost)
{
    for (int i = 0; i < count; i++)
        vectors[i].number = aps_place_number(&places[i]);
    return aps_scale_state_bytes(&plan->scale) == 0
               ? aps_comm_resources_reduce(context->resources, plan, count,
                                           vectors, cost)
               : aps_scales_run(context, plan, count, places, vectors, cost);
}
