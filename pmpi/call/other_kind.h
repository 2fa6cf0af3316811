/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kinds of the other collectives have in common: operations of their
 * tables (kind.h says what each does), and what these need.
 */
#ifndef APS_PMPI_CALL_OTHER_KIND_H
#define APS_PMPI_CALL_OTHER_KIND_H

#include "call/call.h"
#include "call/kind.h"
#include "call/segment.h"
#include "comm/context.h"
#include "block/block.h"

bool aps_other_place(struct aps_context *context, const struct aps_call *call,
                     struct aps_step_position *position,
                     enum aps_reason *reason);

void aps_other_segment(const struct aps_context *context,
                       const struct aps_call *call,
                       const struct aps_step_position *position, long i,
                       size_t offset, struct aps_segment *segment);

bool aps_other_is_possible(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_plan *plan);

/* a * b elements of FP32; false: so many bytes cannot be. */
bool aps_other_elements(MPI_Count a, MPI_Count b, size_t *product);

/* A sum of FP32 values on a communicator? */
bool aps_other_is_sum(const struct aps_job *job,
                      const struct aps_call_arguments *arguments);

/* How the blocks of a layer are made; once for each call that is rewritten. */
struct aps_wire aps_other_wire(struct aps_context *context,
                               const struct aps_call *call,
                               const struct aps_segment *segment);

/* Where ranks may have types of their own for the same elements, and one block of
 * values each, or one of them has all: `agree` of kind.h. With the answer comes the
 * scale exponent of the blocks, which have one rank each to contribute to them
 * (N = 1). */
void aps_other_agree_blocks(struct aps_context *context,
                            struct aps_segment *segment, bool *good);

/* `sample` of such a kind: a rank's own block, as all ranks have decoded it. */
int aps_other_sample_block(struct aps_context *context,
                           const struct aps_call *call,
                           const struct aps_segment *segment, int *ready);

#endif
