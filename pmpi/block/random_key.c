/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/random_key.h"

#include "number/philox.h"

/* Stages of one group and of the communication between groups: contributions
 * and sums of each. */
#define STAGES 4

void aps_wire_draw(const struct aps_plan *plan, uint64_t communicator,
                   enum aps_call_kind call, uint64_t number,
                   struct aps_wire *wire)
{
    wire->rounding = plan->rounding;
    wire->seed = aps_stream_mix(communicator) ^ plan->seed;
    wire->number = number;
    wire->stage = (uint32_t)call << 28;
}

struct aps_wire aps_wire_inside(const struct aps_wire *wire, int first)
{
    struct aps_wire inside = *wire;

    inside.stage += STAGES * (uint32_t)first;
    return inside;
}

struct aps_wire aps_wire_across(const struct aps_wire *wire)
{
    struct aps_wire across = *wire;

    across.stage += STAGES / 2;
    return across;
}
