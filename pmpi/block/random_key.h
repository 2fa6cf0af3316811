/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random keys of a wire, which struct aps_block completes. No two roundings of
 * a job share random bits, except those of a stage whose rounding is
 * correlated.
 */
#ifndef APS_PMPI_BLOCK_RANDOM_KEY_H
#define APS_PMPI_BLOCK_RANDOM_KEY_H

#include "block/block.h"

/* Sets the random key of the wire by the plan, for reductions from number
 * `number` on the communicator with the number `communicator` (message/vcomm.h),
 * of that kind of call. All ranks pass the same arguments. */
void aps_wire_draw(const struct aps_plan *plan, uint64_t communicator,
                   enum aps_call_kind call, uint64_t number,
                   struct aps_wire *wire);

/* Return the wire of the stage inside a group, whose first rank is `first` of
 * all ranks, and the wire of the stage across groups. Their keys differ from
 * all others. */
struct aps_wire aps_wire_inside(const struct aps_wire *wire, int first);
struct aps_wire aps_wire_across(const struct aps_wire *wire);

#endif
