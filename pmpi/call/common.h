/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectives other than all-reduce share: operations of their rows
 * (collective.h says what each does), and their helpers.
 */
#ifndef APS_PMPI_CALL_COMMON_H
#define APS_PMPI_CALL_COMMON_H

#include "block/block.h"
#include "call/call.h"
#include "call/collective.h"
#include "comm/context.h"

bool aps_other_number(struct aps_call *call);

void aps_other_describe(const struct aps_call *call, long i, size_t offset,
                        struct aps_layer *layer);

bool aps_other_prepare(struct aps_call *call, const struct aps_plan *plan);

/* Computes a * b elements of FP32. False: their bytes are too many. */
bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product);

/* True if the call sums FP32 values on a communicator. */
bool aps_other_is_sum(const struct aps_job *job,
                      const struct aps_call_arguments *arguments);

/* How the blocks of a layer are made; once for each call that is rewritten. */
struct aps_wire aps_other_wire(struct aps_call *call,
                               const struct aps_layer *layer);

/* Where ranks may have types of their own for the same elements, and one block of
 * values each, or one of them has all: `agree` of collective.h. The ranks also agree on
 * the scale exponent of the blocks, to each of which one rank contributes (N = 1). */
void aps_other_agree_blocks(struct aps_call *call, struct aps_layer *layer,
                            bool *good);

/* `reference` of such a collective: a rank's own block, as all ranks decode it. */
int aps_other_reference_block(struct aps_call *call,
                              const struct aps_layer *layer, int *ready);

#endif
