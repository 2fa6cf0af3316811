/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that the collectives other than all-reduce share: operations of their
 * rows (described in collective.h) and helpers.
 */
#ifndef APS_PMPI_COLLECTIVE_COMMON_H
#define APS_PMPI_COLLECTIVE_COMMON_H

#include "block/block.h"
#include "call/call.h"
#include "call/collective.h"
#include "comm/context.h"

bool aps_other_number(struct aps_call *call);

/* Keeps a call that passes for its count alone. Not one of a derived type, since the
 * program may give the handle to another type; not one that a rule may take in
 * another step. */
void aps_other_note_passed(const struct aps_call *call, enum aps_reason reason);

void aps_other_describe(const struct aps_call *call, long i, size_t offset,
                        struct aps_layer *layer);

bool aps_other_prepare(struct aps_call *call, const struct aps_plan *plan);

/* *product: a * b elements. Returns false if a or b is negative, or if their bytes as
 * doubles exceed PTRDIFF_MAX. */
bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product);

/* True if the call sums values that the policy has rules for, on a communicator. */
bool aps_other_is_sum(const struct aps_job *job,
                      const struct aps_call_arguments *arguments);

/* Returns the parameters of the layer's blocks. Call this once for each
 * rewritten call, since it draws a number for their random bits. */
struct aps_wire aps_other_wire(struct aps_call *call,
                               const struct aps_layer *layer);

/* `agree` of collective.h for collectives in which ranks may describe the same
 * elements by different types, and each rank or one of them has a block of
 * values. The ranks also agree on the scale exponent of the blocks; one rank
 * contributes to each block (N = 1). */
void aps_other_agree_blocks(struct aps_call *call, struct aps_layer *layer,
                            bool *good);

/* `reference` of such a collective: this rank's own block, as all ranks decode
 * it. */
int aps_other_reference_block(struct aps_call *call,
                              const struct aps_layer *layer, int *ready);

#endif
