/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/place.h"

#include "number/philox.h"

/* True if a call at `place` uses a scale state that a call at `before` changes. The
 * state of a rule changes only between two steps, when another rule may continue
 * it. */
static bool place_follows_scale(const struct aps_scale *scale,
                                const struct aps_place *before,
                                const struct aps_place *place)
{
    if (aps_scale_state_bytes(scale) == 0)
        return false;
    if (aps_scale_scope(scale) == APS_SCOPE_MODEL)
        return before->generation != place->generation ||
               before->epoch != place->epoch || before->step != place->step;
    return aps_place_same_layer(before, place);
}

/* True if a call at `place` uses compressor state that a call at `before` changes. A
 * desync, or MPI_Pcontrol(4), drops that state of all layers, at the next call. */
static bool place_follows_compressor(const struct aps_plan *plan,
                                     const struct aps_place *before,
                                     const struct aps_place *place)
{
    return aps_plan_is_compressed(plan) &&
           (before->generation != place->generation ||
            before->drops != place->drops ||
            aps_place_same_layer(before, place));
}

bool aps_place_follows(const struct aps_plan *plan,
                       const struct aps_place *before,
                       const struct aps_place *place)
{
    return place_follows_compressor(plan, before, place) ||
           place_follows_scale(&plan->scale, before, place);
}

uint64_t aps_place_number(const struct aps_place *place)
{
    const uint64_t fields[] = {(uint64_t)place->layer, place->count,
                               (uint64_t)place->epoch, (uint64_t)place->step,
                               (uint64_t)place->generation};
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        number = aps_stream_mix(number ^ fields[i]);
    return number;
}
