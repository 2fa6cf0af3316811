/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/plan_wire.h"

#include "block/random_key.h"

static void plan_wire_saturate(struct aps_codec *codec)
{
    struct aps_format format = codec->format;

    format.saturate = format.marks = true;
    aps_codec_init(&format, codec);
}

/* Sets how the plan treats values that overflow under a predicted scale. */
static void plan_wire_set_overflow(const struct aps_plan *plan,
                                   struct aps_wire *wire)
{
    const enum aps_overflow on_overflow = aps_scale_on_overflow(&plan->scale);

    wire->over_is_inf = on_overflow == APS_OVERFLOW_INF;
    if (on_overflow != APS_OVERFLOW_SATURATE)
        return;
    plan_wire_saturate(&wire->codec);
    if (plan->accumulate != APS_ACCUMULATE_FP32)
        plan_wire_saturate(&wire->sums);
}

void aps_wire_of_plan(const struct aps_plan *plan, uint64_t communicator,
                      struct aps_wire *wire)
{
    *wire = (struct aps_wire){
        .memory = &aps_memory_host,
        .scale = plan->scale,
        .accumulate = plan->accumulate,
        .records = aps_scale_state_bytes(&plan->scale) > 0,
        .chunk = plan->chunk,
    };
    aps_codec_init(&plan->format, &wire->codec);
    aps_wire_draw(plan, communicator, APS_CALL_ALLREDUCE, 0, wire);
    if (plan->accumulate != APS_ACCUMULATE_FP32)
        aps_codec_init(&plan->sums, &wire->sums);
    if (wire->records)
        plan_wire_set_overflow(plan, wire);
}

int aps_wire_stage_exponent(const struct aps_wire *wire, int greatest)
{
    const int exponent = aps_scale_stage_exponent(
        &wire->scale, aps_wire_narrowest(wire), greatest);

    return wire->accumulate != APS_ACCUMULATE_FP32 &&
                   aps_wire_may_step_over(wire)
               ? exponent - 1
               : exponent;
}
