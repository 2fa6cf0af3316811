/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "layer/layer_key.h"

#include "number/philox.h"

/* True if a call at `key` uses a scale state that a call at `before` changes. The
 * state of a rule changes only between two steps, when another rule may continue
 * it. */
static bool layer_key_depends_on_scale(const struct aps_scale *scale,
                                       const struct aps_layer_key *before,
                                       const struct aps_layer_key *key)
{
    if (aps_scale_state_bytes(scale) == 0)
        return false;
    if (aps_scale_scope(scale) == APS_SCOPE_MODEL)
        return before->generation != key->generation ||
               before->epoch != key->epoch || before->step != key->step;
    return aps_layer_key_same(before, key);
}

/* True if a call at `key` uses compressor state that a call at `before` changes. A
 * desync, or MPI_Pcontrol(4), drops that state of all layers, at the next call. */
static bool layer_key_depends_on_compressor(const struct aps_plan *plan,
                                            const struct aps_layer_key *before,
                                            const struct aps_layer_key *key)
{
    return aps_plan_is_compressed(plan) &&
           (before->generation != key->generation ||
            before->drops != key->drops || aps_layer_key_same(before, key));
}

bool aps_layer_key_depends(const struct aps_plan *plan,
                           const struct aps_layer_key *before,
                           const struct aps_layer_key *key)
{
    return layer_key_depends_on_compressor(plan, before, key) ||
           layer_key_depends_on_scale(&plan->scale, before, key);
}

uint64_t aps_layer_key_number(const struct aps_layer_key *key)
{
    const uint64_t fields[] = {(uint64_t)key->layer, key->count,
                               (uint64_t)key->epoch, (uint64_t)key->number,
                               (uint64_t)key->generation};
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        number = aps_stream_mix(number ^ fields[i]);
    return number;
}
