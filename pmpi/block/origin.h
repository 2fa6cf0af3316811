/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where random bits come from: which roundings of a job share them. None do,
 * but the ranks of a stage whose rounding is correlated.
 */
#ifndef APS_PMPI_BLOCK_ORIGIN_H
#define APS_PMPI_BLOCK_ORIGIN_H

#include "message/vcomm.h"
#include "block/block.h"

/*
 * What random bits of the wire depend on, as the plan says: of reductions from
 * number `number` on, on `vcomm`, of that kind of call. All ranks give the same.
 */
void aps_wire_draw(const struct aps_plan *plan, const struct aps_vcomm *vcomm,
                   enum aps_call_kind call, uint64_t number,
                   struct aps_wire *wire);

/* The wire of the stage inside a group, whose first rank is `first` of all
 * ranks, and that of the stage across groups: roundings of neither share bits
 * with others. */
struct aps_wire aps_wire_inside(const struct aps_wire *wire, int first);
struct aps_wire aps_wire_across(const struct aps_wire *wire);

#endif
