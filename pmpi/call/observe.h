/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of the round-off of a layer: computes the FP32 reference of the
 * inputs, compares the result with it, and writes a row of the log.
 */
#ifndef APS_PMPI_CALL_OBSERVE_H
#define APS_PMPI_CALL_OBSERVE_H

#include <stdint.h>

#include "call/call.h"

/* COLLECTIVE. Computes the FP32 reference before the call overwrites the
 * inputs. *ready: 1 if it was computed. A lost sample is not an error of the
 * call. */
void aps_sample_before(struct aps_call *call, const struct aps_layer *layer,
                       int *ready);

/* COLLECTIVE if the ranks merge their measurements (collective.h); otherwise
 * local. Rank 0 writes the row. `rc`: result of the reduction; a rank whose
 * layer failed takes part, too. `taken`: time of the reduction, in
 * nanoseconds. */
void aps_sample_after(struct aps_call *call, const struct aps_layer *layer,
                      const struct aps_cost *cost, int64_t taken, int rc,
                      int ready);

#endif
