/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire of a plan, and the exponents of its stages. Nothing here depends on
 * messages: libaps plays a job with the same wires (offline/simulation.c).
 */
#ifndef APS_PMPI_BLOCK_PLAN_WIRE_H
#define APS_PMPI_BLOCK_PLAN_WIRE_H

#include "block/block.h"

/* Sets up the wire for vectors of all-reduces by the plan, in host memory, on
 * the communicator with the number `communicator` (message/vcomm.h). */
void aps_wire_of_plan(const struct aps_plan *plan, uint64_t communicator,
                      struct aps_wire *wire);

/*
 * Local. Returns the exponent of a stage in which each rank's greatest
 * magnitude, times the number of ranks, is at most 2^greatest. Random rounding
 * to a format without mantissa may double a contribution. If partial sums are
 * rounded, too, the exponent then leaves a binade of room.
 */
int aps_wire_stage_exponent(const struct aps_wire *wire, int greatest);

#endif
